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
    before = app.truth(dids)
    world.make_commits(20)
    news = dict(app.truth(dids).items() - before.items())
    assert 0 < len(news) < len(before)
    app.start()
    eventually('what is new comes, and no more', lambda: app.table() == news)
    app.stop()
    app.lose()
    world.run('addresses', 'lost-table')
    app.start()
    eventually('its table equals the network again', lambda: app.equals(dids))
    app.stop()


main(lose_a_table)
