#!/usr/bin/env python3
"""docs/api.md, "An application": its table equals the network, whoever is killed
in the middle. Needs NEWCOMER_MODULES (tests/real/run.sh newcomer)."""

from table import Application
from world import ask, eventually, main


def application(world):
    world.start_node()
    world.run('add')
    others = [x['did'] for x in world.accounts[1:6]]
    ask(f'{world.data}/repos/add', {'dids': others})
    dids = [world.did, *others]
    app = Application(world)
    app.start()
    eventually('some records are there', lambda: len(app.table()) > 20)
    app.kill()
    world.make_commits(60)
    app.start()
    eventually('its table equals the network', lambda: app.equals(dids))
    world.make_commits(60)
    eventually('it follows', lambda: app.equals(dids))
    app.stop()


main(application)
