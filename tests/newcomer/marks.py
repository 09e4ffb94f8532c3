#!/usr/bin/env python3
"""Every step has its blocks in the documents and its program here, and every
marked block is run by a step; and faults in that are found."""

import os

from documents import MARKED_PAGES, blocks, faults, read_blocks, read_pages, unmarked

here = os.path.dirname(os.path.abspath(__file__))
programs = [name[:-3] for name in os.listdir(here) if name.endswith('.py')]

bad = faults(read_blocks(), programs=programs)
assert not bad, bad
for page, text in read_pages(MARKED_PAGES).items():
    assert not unmarked(text), f'{page} has commands without a mark'

# That it can fail.
good = '<!-- newcomer: one -->\n```sh\ntrue\n```\n'
assert blocks({'page': good}) == {'one': 'true\n'}
for planted in (good + good, '<!-- newcomer: one -->\n\n```sh\ntrue\n```\n',
                '<!-- newcomer: one -->\ntext\n'):
    try:
        blocks({'page': planted})
    except ValueError:
        continue
    raise AssertionError(f'not noticed: {planted!r}')
assert unmarked(good) == [] and unmarked('<!-- no step runs it: x -->\n```sh\ntrue\n```\n') == []
assert unmarked('Text:\n\n```sh\ntrue\n```\n') and unmarked('<!-- other -->\n```sh\n')
steps = {'step': ['one']}
assert faults({'one': ''}, steps, ['step']) == []
assert faults({}, steps, ['step']), 'a block that vanished'
assert faults({'one': '', 'two': ''}, steps, ['step']), 'a block that nobody runs'
assert faults({'one': ''}, steps, []), 'a step without a program'
print(f'{len(read_blocks())} blocks, each of a step')
