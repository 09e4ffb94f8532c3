#!/usr/bin/env python3
"""docs/operations.md, "Set it up": a service with a password that nobody else
can read, and no answer without it."""

import json
import os
import stat

from service import set_up, with_password
from world import ask, main


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def secure(world):
    shown = set_up(world)
    assert f'{world.root}/etc/weir/weir.toml: good, ' in shown, shown
    assert mode(f'{world.root}/etc/weir/password') == 0o640
    assert mode(f'{world.root}/var/lib/weir') == 0o700
    for block in ('ask', 'ask-by-command'):
        assert json.loads(world.run(block)) == {'repos': []}, block
    for url in (f'{world.data}/repos', f'{world.operations}/status'):
        assert ask(url)[1]['error'] == 'AuthenticationRequired', url
        assert ask(url, headers=with_password(world))[0] == 200, url
        status, answer = ask(url, headers={'Authorization': 'Basic YWRtaW46d3Jvbmc='})
        assert status == 401 and 'admin_password_file' in answer['message'], answer
    assert ask(f'{world.operations}/livez')[0] == 200


main(secure)
