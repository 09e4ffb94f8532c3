#!/usr/bin/env python3
"""docs/api.md, POST /repos/remove: nothing of it is kept or sent any more."""

import json

from world import ask, eventually, main


def remove(world):
    world.start_node()
    others = [x['did'] for x in world.accounts[1:4]]
    assert ask(f'{world.data}/repos/add', {'dids': [world.did, *others]})[1] == {'queued': 4}
    for did in [world.did, *others]:
        eventually(f'{did} is synced', lambda did=did: world.is_synced(did))
    assert json.loads(world.run('addresses', 'remove')) == {'removed': 1}
    status, answer = world.repo(world.did)
    assert (status, answer['error']) == (404, 'RepoNotFound'), answer
    left = sum(len(world.truth(x)['records']) for x in others)
    eventually('its records are erased',
               lambda: ask(f'{world.data}/stats/record-count')[1]['record_count'] == left)
    before = ask(f'{world.operations}/status')[1]['log_end']
    world.make_commits(5, world.did)
    world.make_commits(1, others[0])
    eventually('the others go on', lambda: world.is_synced(others[0]))
    assert world.repo(world.did)[0] == 404
    assert ask(f'{world.operations}/status')[1]['log_end'] - before <= 3, 'only one commit counts'


main(remove)
