#!/usr/bin/env python3
"""README, "Use it": start a node, add a repo, see that its copy is complete."""

import json

from world import eventually, main


def add(world):
    world.run_in_background('start')
    world.await_node()
    queued, shown = world.run('add').strip().split('\n', 1)[0], ''
    assert json.loads(queued.split('}')[0] + '}') == {'queued': 1}, queued
    last = world.literal('add').strip().split('\n')[-1]
    assert last.startswith('weir repos show'), last

    def is_complete():
        nonlocal shown
        shown = world.run_text(last)
        return json.loads(shown).get('complete')
    eventually('weir repos show says that the copy is complete', is_complete)
    assert world.is_synced(world.did), world.repo(world.did)
    assert world.repo(world.did)[1]['record_count'] > 0
    world.make_commits(3, world.did)
    eventually('its commits are followed', lambda: world.is_synced(world.did))


main(add)
