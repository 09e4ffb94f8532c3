"""The commands of the documents, as they stand there.

A block that a newcomer copies has an invisible mark before it:

    <!-- newcomer: NAME -->
    ```sh

Nothing is copied into the tests: a block that loses its mark, or changes, is
missed or run as it is then. Commands that no step can run say so, and why:

    <!-- no step runs it: REASON -->
    ```sh

The other examples of docs/api.md are run against a node by ApiPageExamplesTest.
"""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ['README.md', 'docs/api.md', 'docs/operations.md']
MARKED_PAGES = ['README.md', 'docs/operations.md']

# Which step runs which blocks. `marks.py` holds it to the documents.
STEPS = {
    'application': ['start', 'add', 'application', 'application-run'],
    'filter': ['addresses', 'filter'],
    'add': ['start', 'add'],
    'remove': ['addresses', 'remove'],
    'see_an_error': ['addresses', 'errors', 'resync'],
    'lose_a_table': ['addresses', 'application', 'application-run', 'lost-table'],
    'secure': ['set-up', 'ask', 'ask-by-command'],
    'proxy': ['set-up', 'proxy', 'ask-proxy'],
    'back_up': ['set-up', 'allow-backups', 'back-up', 'check-backup', 'restore'],
    'upgrade': ['set-up', 'upgrade'],
}

MARK = re.compile(r'<!-- newcomer: (\S+) -->')
SHELL = re.compile(r'^(.*)\n```sh$', re.M)
BLOCK = re.compile(r'<!-- newcomer: (\S+) -->\n```(?:sh|js)\n(.*?)^```$', re.M | re.S)


def blocks(texts):
    """All marked blocks by name, of the texts of pages by their names. Raises
    ValueError for a mark without a block and one that is there twice."""
    found = {}
    for page, text in texts.items():
        marks = MARK.findall(text)
        here = dict(BLOCK.findall(text))
        for name in marks:
            if name not in here:
                raise ValueError(f'{page}: no block follows the mark {name}')
            if marks.count(name) > 1 or name in found:
                raise ValueError(f'{page}: the mark {name} is there twice')
        found.update(here)
    return found


def read_pages(pages):
    texts = {}
    for page in pages:
        with open(os.path.join(ROOT, page), encoding='utf-8') as file:
            texts[page] = file.read()
    return texts


def read_blocks():
    return blocks(read_pages(PAGES))


def unmarked(text):
    """Blocks of commands that say neither which step runs them nor why none does,
    by the line before them."""
    return [line for line in SHELL.findall(text)
            if not MARK.fullmatch(line) and not re.fullmatch(r'<!-- no step runs it: .+ -->', line)]


def faults(found, steps=None, programs=()):
    """What does not fit: a step without its block, a block that no step runs,
    a step without its program."""
    steps = STEPS if steps is None else steps
    wanted = {name for names in steps.values() for name in names}
    out = [f'no document has a block {name}' for name in sorted(wanted - set(found))]
    out += [f'no step runs the block {name}' for name in sorted(set(found) - wanted)]
    out += [f'there is no program for {step}' for step in steps if step not in programs]
    return out
