#!/usr/bin/env python3
"""docs/operations.md, "Back it up": a copy that is good, and that brings back
what was lost."""

import os
import time

from service import await_synced, set_up, track, with_password
from world import ask, main


def back_up(world):
    set_up(world)
    dids = [x['did'] for x in world.accounts[:4]]
    track(world, dids[:3])
    for copies in (1, 2):
        shown = world.run('back-up')
        assert shown.rstrip().endswith('good'), shown
        assert len(os.listdir(f'{world.root}/backup')) == copies
        world.await_node(with_password(world))
        time.sleep(1.1)  # The name has the second.
    world.await_node(with_password(world))
    track(world, dids[3:])
    world.make_commits(4, dids[0])
    await_synced(world, dids)
    head = with_password(world)
    before = ask(f'{world.operations}/status', headers=head)[1]['log_epoch']
    world.run('restore')
    world.await_node(head)
    assert ask(f'{world.operations}/status', headers=head)[1]['log_epoch'] != before
    assert world.repo(dids[3], head)[0] == 404, 'the copy is older'
    await_synced(world, dids[:3])  # With what happened since then.
    assert ask(f'{world.data}/repos', headers=head)[1]['repos'][0]['status'] == 'synced'
    assert os.path.isdir(f'{world.root}/var/lib/weir.old')


main(back_up)
