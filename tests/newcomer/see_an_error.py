#!/usr/bin/env python3
"""docs/api.md, GET /repos/errors and POST /repos/resync: which repo fails, why,
and that it is mended by hand."""

import json

from world import ask, eventually, main

UNKNOWN = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'


def see_an_error(world):
    world.fault(kind='failing_repo', did=world.did, count=0)
    world.start_node()
    ask(f'{world.data}/repos/add', {'dids': [world.did, UNKNOWN]})

    def errors():
        shown = json.loads(world.run('addresses', 'errors'))['repos']
        found = {x['did']: x for x in shown}
        return found if len(found) == 2 else None
    found = eventually('both repos are shown with an error', errors)
    assert 'HTTP 500' in found[world.did]['error'], found
    assert 'not registered' in found[UNKNOWN]['error'], found
    for x in found.values():
        assert x['status'] == 'error' and x['retry_count'] > 0 and x['next_retry'] > 0, x
    world.fault(kind='mend')
    assert json.loads(world.run('addresses', 'resync')) == {'queued': 1}
    eventually('it is synced', lambda: world.is_synced(world.did))
    assert set(json.loads(world.run('addresses', 'errors'))['repos'][0].items()) >= {
        ('did', UNKNOWN)}


main(see_an_error)
