#!/usr/bin/env python3
"""docs/operations.md, "Back it up": a backup of the running node that is good, and
that brings back what was lost."""

import os

from service import await_synced, set_up, track, with_password
from world import ask, main


def back_up(world):
    set_up(world)
    dids = [x['did'] for x in world.accounts[:4]]
    track(world, dids[:3])
    world.run('allow-backups')
    world.await_node(with_password(world))
    for number in (1, 2, 3):
        shown = world.run('back-up').splitlines()
        assert shown[0] == f'{world.root}/backup/weir/backup-00000{number}', shown
    kept = sorted(os.listdir(f'{world.root}/backup/weir'))
    assert kept == ['OWNER', 'backup-000002', 'backup-000003'], kept
    shown = world.run('check-backup')
    assert shown.startswith('good: ') and shown.rstrip().endswith('good'), shown
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
