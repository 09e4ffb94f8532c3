#!/usr/bin/env python3
"""How much disk a record, a repo and a live commit take (docs/operations.md).

    make bench-disk
    bench/disk.py --growth 30    # also 30 minutes at 40 events a second, beside
                                 # the growth that the node itself reports

A node copies simulated networks of several sizes and follows their commits. Each
store is measured after the node was stopped, started again and idle, by what
`store` in /status reports for each family of tables, except `unsorted`, which is
some MB at any size. Least squares over the first sizes give the figures; the last,
larger size shows how well they predict it.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEIR = os.environ.get('WEIR_BIN', f'{ROOT}/build/release/apps/weir/weir')
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith('WEIR_')}

# Accounts and records of a network, and events that follow.
SIZES = [(400, 60_000, 20_000), (800, 120_000, 40_000), (1600, 24_000, 10_000)]
FORETOLD = (1600, 240_000, 80_000)
PORTION = 1000


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    head = {'Content-Type': 'application/json'}
    with urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=600) as x:
        return json.load(x)


class Program:
    """A command of weir that runs; its first line says where."""

    def __init__(self, *arguments):
        self.made = subprocess.Popen([WEIR, *arguments], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, env=PLAIN, text=True)
        self.at = json.loads(self.made.stdout.readline())

    def stop(self):
        self.made.send_signal(signal.SIGTERM)
        self.made.wait(120)


class Copy:
    """A node with an empty store beside a network of its own."""

    def __init__(self, folder, accounts, records, rate=0):
        self.data = os.path.join(folder, 'data')
        self.net = Program('simnet', '--accounts', str(accounts), '--records', str(records),
                           '--rate', str(rate), '--seed', '7')
        self.start()

    def start(self):
        at = self.net.at
        self.node = Program('run', '--bind', '127.0.0.1:0', '--data-dir', self.data, '--mode',
                            'full-network', '--upstream', f'relay:{at["relay"]}', '--plc-url',
                            at['plc'], '--handle-resolver-url', at['handle_resolver'],
                            '--allow-private-addresses', '--sync-parallelism', '8')

    def status(self):
        return ask(self.node.at['operations'] + '/status')

    def await_whole(self):
        """Until every record of the network is held, and no other."""
        while True:
            before = self.status()['log_end']
            time.sleep(2)
            x = self.status()
            if (x['log_end'] == before and x['repos']['synced'] == sum(x['repos'].values()) > 0
                    and x['records'] == self.truth()):
                return

    def truth(self):
        """Records of the network."""
        count, cursor = 0, 0
        while cursor is not None:
            page = ask(f'{self.net.at["control"]}/truth?cursor={cursor}&limit=50')
            count += sum(len(x['records']) for x in page['accounts'] if x['status'] == 'active')
            cursor = page.get('cursor')
        return count

    def files(self):
        return sum(os.path.getsize(f'{self.data}/{x}') for x in os.listdir(self.data)
                   if os.path.isfile(f'{self.data}/{x}'))

    def at_rest(self):
        """What it says once nothing is merged any more."""
        self.node.stop()
        self.start()
        self.await_whole()
        seen = None
        while seen != (seen := self.files()):
            time.sleep(5)
        return self.status()

    def commits(self):
        return ask(self.net.at['control'] + '/stats')['traffic']['commits']

    def make(self, events):
        """Some at a time, so that each is followed and none is only fetched.
        Returns how many of them are commits."""
        commits, log = self.commits(), self.status()['log_end']
        for _ in range(0, events, PORTION):
            ask(self.net.at['control'] + '/commits', {'count': PORTION})
            before = None
            while before != (before := self.status()['log_end']):
                time.sleep(0.3)
        self.await_whole()
        commits = self.commits() - commits
        assert self.status()['log_end'] - log >= commits, 'commits are missing in the log'
        return commits

    def end(self):
        self.node.stop()
        self.net.stop()


def sorted_bytes(status):
    return sum(n for family, n in status['store']['bytes'].items() if family != 'unsorted')


def measure(accounts, records, events):
    folder = tempfile.mkdtemp(prefix='weir-disk-', dir=os.environ.get('WEIR_DISK_DIR'))
    copy = Copy(folder, accounts, records)
    copy.await_whole()
    first = copy.at_rest()
    commits = copy.make(events)
    second = copy.at_rest()
    copy.end()
    shutil.rmtree(folder)
    fetched, both = sorted_bytes(first), sorted_bytes(second)
    out = {'repos': accounts, 'records': first['records'], 'commits': commits,
           'fetched': fetched, 'followed': both - fetched,
           'store': first['store']['bytes'], 'store_after': second['store']['bytes']}
    print(json.dumps(out), flush=True)
    return out


def figures(rows):
    """Bytes a record and a repo, by least squares; bytes a commit, on average."""
    rr = sum(x['records'] ** 2 for x in rows)
    pp = sum(x['repos'] ** 2 for x in rows)
    rp = sum(x['records'] * x['repos'] for x in rows)
    rb = sum(x['records'] * x['fetched'] for x in rows)
    pb = sum(x['repos'] * x['fetched'] for x in rows)
    det = rr * pp - rp * rp
    return ((rb * pp - pb * rp) / det, (pb * rr - rb * rp) / det,
            sum(x['followed'] for x in rows) / sum(x['commits'] for x in rows))


def grow(minutes, rate, per_commit):
    """What the node says of its growth, beside what the figures say."""
    folder = tempfile.mkdtemp(prefix='weir-disk-', dir=os.environ.get('WEIR_DISK_DIR'))
    copy = Copy(folder, 400, 60_000)
    copy.await_whole()
    copy.at_rest()
    before = copy.commits()
    ask(copy.net.at['control'] + '/traffic', {'rate': rate})
    time.sleep(minutes * 60)
    made = copy.commits() - before
    said = copy.status()['store']['growth_per_day']
    copy.end()
    shutil.rmtree(folder)
    print(f'growth: {said / 1e9:.2f} GB a day says the node, '
          f'{made / minutes * 1440 * per_commit / 1e9:.2f} GB say the figures '
          f'({made} commits in {minutes} minutes)')


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    options.add_argument('--growth', type=int, metavar='MINUTES', default=0)
    options.add_argument('--rate', type=float, default=40)
    given = options.parse_args()
    rows = [measure(*x) for x in SIZES]
    record, repo, commit = figures(rows)
    print(f'a record {record:.0f}, a repo {repo:.0f}, a commit {commit:.0f} bytes')
    last = measure(*FORETOLD)
    for what, said in (('fetched', record * last['records'] + repo * last['repos']),
                       ('followed', commit * last['commits'])):
        print(f'{what}: {last[what]} bytes, predicted {said:.0f} ({said / last[what] - 1:+.1%})')
    if given.growth:
        grow(given.growth, given.rate, commit)


main()
