#!/usr/bin/env python3
"""docs/api.md, POST /repos/add: only some collections of a repo are kept."""

import json

from world import eventually, main

KEPT = 'app.bsky.feed.post/'


def filter_repo(world):
    world.did = max(world.accounts, key=lambda x: sum(y.startswith(KEPT) for y in x['records']))['did']
    posts = sum(x.startswith(KEPT) for x in world.truth(world.did)['records'])
    assert 0 < posts < len(world.truth(world.did)['records'])
    world.start_node()
    assert json.loads(world.run('addresses', 'filter')) == {'queued': 1}

    def is_filtered():
        _, repo = world.repo(world.did)
        return repo.get('status') == 'synced' and repo['record_count'] == posts and repo
    repo = eventually(f'{posts} posts are kept', is_filtered)
    assert repo['collections'] == ['app.bsky.feed.post'], repo


main(filter_repo)
