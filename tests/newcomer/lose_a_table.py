#!/usr/bin/env python3
"""docs/api.md, "When its table is lost": it is whole again. Needs
NEWCOMER_MODULES (tests/real/run.sh newcomer)."""

from table import Application
from world import ask, eventually, main


def lose_a_table(world):
    world.start_node()
    dids = [x['did'] for x in world.accounts]
    ask(f'{world.data}/repos/add', {'dids': dids})
    app = Application(world)
    app.start()
    eventually('its table equals the network', lambda: app.equals(dids))
    app.stop()
    app.lose()
    world.make_commits(20)
    app.start()
    eventually('only what is new comes', lambda: ask(
        f'{world.data}/stats/outbox-buffer')[1]['outbox_buffer'] == 0)
    assert 0 < len(app.table()) and not app.equals(dids), 'the loss was not noticed'
    app.stop()
    app.lose()
    world.run('addresses', 'lost-table')
    app.start()
    eventually('its table equals the network again', lambda: app.equals(dids))
    app.stop()


main(lose_a_table)
