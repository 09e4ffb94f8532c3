"""A node that was set up as docs/operations.md says."""

import base64

from world import ask, eventually


def with_password(world):
    with open(f'{world.root}/etc/weir/password', encoding='utf-8') as file:
        secret = file.read().strip()
    return {'Authorization': 'Basic ' + base64.b64encode(f'admin:{secret}'.encode()).decode()}


def set_up(world):
    shown = world.run('set-up')
    world.await_node(with_password(world))
    return shown


def track(world, dids):
    head = with_password(world)
    assert ask(f'{world.data}/repos/add', {'dids': dids}, head)[1] == {'queued': len(dids)}
    await_synced(world, dids)


def await_synced(world, dids):
    head = with_password(world)
    for did in dids:
        eventually(f'{did} is synced', lambda did=did: world.is_synced(did, head))
