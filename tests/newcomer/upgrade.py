#!/usr/bin/env python3
"""docs/operations.md, "Upgrade it": what is there stays; a store of another
format is refused with a sentence, and not touched."""


from service import await_synced, set_up, track, with_password
from world import ask, eventually, main


def upgrade(world):
    set_up(world)
    dids = [x['did'] for x in world.accounts[:3]]
    track(world, dids)
    world.make_commits(2, dids[1])
    version = world.run('upgrade').strip()
    head = with_password(world)
    world.await_node(head)
    assert ask(f'{world.data}/', headers=head)[1]['version'] in version, version
    await_synced(world, dids)

    world.run_text('systemctl stop weir')
    format_file = f'{world.root}/var/lib/weir/FORMAT'
    with open(format_file, encoding='utf-8') as file:
        ours = file.read()
    other = ours.replace('format: ', 'format: another than ', 1)
    assert other != ours
    with open(format_file, 'w', encoding='utf-8') as file:
        file.write(other)
    world.run_text('systemctl start weir')
    said = eventually('it says why it does not start', lambda: [
        x for x in open(f'{world.root}/unit.log', encoding='utf-8') if 'has the format' in x])
    assert 'use the version that made it' in said[0] and 'nothing was changed' in said[0], said
    with open(format_file, encoding='utf-8') as file:
        assert file.read() == other
    with open(format_file, 'w', encoding='utf-8') as file:
        file.write(ours)
    world.run_text('systemctl stop weir; systemctl start weir')
    world.await_node(head)
    await_synced(world, dids)


main(upgrade)
