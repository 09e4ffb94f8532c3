"""What a newcomer has in front of them: a machine, the documents, and a network.

The commands are those of the documents, but for these substitutions:

* 127.0.0.1:2480 and :2481 are free ports, so that tests run side by side;
* the relay and the directory are those of a simulated network: the node is told so
  by its environment (WEIR_UPSTREAM, WEIR_PLC_URL ...), and where a flag outweighs
  that, in `--upstream relay:https://bsky.network`, the URL is replaced;
* did:plc:... is an account of that network, which a page cannot know;
* /etc, /var/lib, /usr/local and /backup lie in a scratch folder;
* `weir repos` and `weir backup` ask the node at its ports, of which the pages leave out the usual one;
* sudo, systemctl, journalctl, useradd, install, apt and make are the programs in stubs/:
  the first runs its command, the next two keep one unit, and make installs the
  build that is there instead of building another;
* nginx, there as well, reads what lies in the scratch folder, and curl finds
  weir.example.com on this machine;
* npm takes the pinned packages of tests/real instead of downloading.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from documents import ROOT, STEPS, read_blocks

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120  # seconds; only catches what hangs
DID = re.compile(r'did:plc:(\.\.\.|a{24}|ewvi7nxzyoun6zhxrhs64oiz)')


def weir_program():
    default = os.path.join(ROOT, 'build/release/apps/weir/weir')
    return os.path.abspath(os.environ.get('WEIR_BIN', default))


def ports_of_this_process():
    """Below those that the kernel gives to connections, so that no connection takes one
    before the node listens there; and others than those of tests beside this one."""
    first = 10000
    with open('/proc/sys/net/ipv4/ip_local_port_range', encoding='ascii') as file:
        count = max(int(file.read().split()[0]) - first, 1000)
    for step in range(count):
        yield first + (os.getpid() * 8 + step) % count


PORTS = ports_of_this_process()


def free_ports(count):
    """Each call gives others."""
    out = []
    while len(out) < count:
        port = next(PORTS)
        try:
            socket.create_server(('127.0.0.1', port)).close()
        except OSError:
            continue
        out.append(port)
    return out


def eventually(what, check, patience=PATIENCE):
    """The first true value of `check`; nothing tells when it becomes true."""
    until = time.monotonic() + patience
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f'not within {patience} s: {what}; it is {value}')
        time.sleep(0.1)


def ask(url, body=None, headers=None):
    """Status and JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    head = {'Content-Type': 'application/json', **(headers or {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=30) as x:
            return x.status, json.load(x)
    except urllib.error.HTTPError as x:
        return x.code, json.load(x)


def end_group(made, by):
    """Tells a command and all that it started; false: nobody is there any more."""
    try:
        os.killpg(made.pid, by)
        return True
    except ProcessLookupError:
        return False


class World:
    """Made by `with World(step)`; everything that it started ends with it."""

    def __init__(self, step, accounts=12, records=400):
        self.blocks = {name: read_blocks()[name] for name in STEPS[step]}
        self.folder = tempfile.mkdtemp(prefix=f'weir-newcomer-{step}-')
        self.root = os.path.join(self.folder, 'root')
        self.started = []
        self.data_port, self.operations_port = free_ports(2)
        self.data = f'http://127.0.0.1:{self.data_port}'
        self.operations = f'http://127.0.0.1:{self.operations_port}'
        self.did = 'did:plc:notyetknown'
        self.network = [weir_program(), 'simnet', '--accounts', str(accounts), '--records',
                        str(records), '--hosts', '2', '--seed', '7']

    def __enter__(self):
        os.makedirs(os.path.join(self.root, 'usr/local/bin'))
        os.makedirs(os.path.join(self.root, 'etc/systemd/system'))
        os.makedirs(os.path.join(self.root, 'var/lib'))
        net = subprocess.Popen(self.network, stdout=subprocess.PIPE, text=True,
                               env=self.plain_environment(), start_new_session=True)
        self.started.append(net)
        self.net = json.loads(net.stdout.readline())
        self.accounts = [x for x in self.truth() if x['status'] == 'active']
        self.did = self.accounts[0]['did']
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.log(), file=sys.stderr)
        for x in reversed(self.started):
            end_group(x, signal.SIGTERM)
        for x in self.started:
            try:
                x.wait(30)
            except subprocess.TimeoutExpired:
                pass
            eventually('what a command started has ended', lambda x=x: not end_group(x, 0))
        pid = os.path.join(self.root, 'unit.pid')
        if os.path.exists(pid):
            self.run_text('systemctl stop weir')
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- commands --------------------------------------------------------------

    def plain_environment(self):
        return {k: v for k, v in os.environ.items() if not k.startswith('WEIR_')}

    def environment(self):
        out = self.plain_environment()
        out.update(
            PATH=f'{HERE}/stubs:{out["PATH"]}',
            WEIR_UPSTREAM=f'relay:{self.net["relay"]}',
            WEIR_PLC_URL=self.net['plc'],
            WEIR_HANDLE_RESOLVER_URL=self.net['handle_resolver'],
            WEIR_ALLOW_PRIVATE_ADDRESSES='true',
            WEIR_BIND=f'127.0.0.1:{self.data_port}',
            WEIR_OPERATIONS_BIND=f'127.0.0.1:{self.operations_port}',
            NEWCOMER_ROOT=self.root,
            NEWCOMER_WEIR=weir_program(),
            NEWCOMER_NODE=self.data,
            NEWCOMER_OPERATIONS=self.operations,
            NEWCOMER_BUILD=os.environ.get('NEWCOMER_BUILD') or os.path.dirname(os.path.dirname(os.path.dirname(weir_program()))),
        )
        return out

    def literal(self, name):
        """The block `name` of a document, with the declared substitutions."""
        text = self.blocks[name]
        text = text.replace('127.0.0.1:2480', f'127.0.0.1:{self.data_port}')
        text = text.replace('127.0.0.1:2481', f'127.0.0.1:{self.operations_port}')
        text = text.replace('--upstream relay:https://bsky.network',
                            f'--upstream relay:{self.net["relay"]}')
        text = DID.sub(self.did, text)
        return re.sub(r'(?<![\w./-])/(?=(etc|var/lib|usr/local|backup)\b)',
                      f'{self.root}/', text)

    def run_text(self, text):
        """Runs it in one shell that ends at the first failure."""
        done = subprocess.run(['sh', '-euc', text], env=self.environment(), cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE)
        assert done.returncode == 0, f'{text}\n{done.stdout}\n{done.stderr}\n{self.log()}'
        return done.stdout

    def run(self, *names):
        """Runs blocks of the documents, one after the other, in one shell."""
        return self.run_text('\n'.join(self.literal(name) for name in names))

    def run_in_background(self, *names, log='node.log'):
        with open(os.path.join(self.folder, log), 'a', encoding='utf-8') as out:
            made = subprocess.Popen(['sh', '-euc', '\n'.join(map(self.literal, names))],
                                    env=self.environment(), cwd=self.folder,
                                    stdout=out, stderr=out, start_new_session=True)
        self.started.append(made)
        return made

    # -- what the node and the network say ------------------------------------

    def start_node(self):
        """As the README does; where a step begins with a node that runs."""
        self.run_in_background('start') if 'start' in self.blocks else self.start_plain_node()
        self.await_node()

    def start_plain_node(self):
        with open(os.path.join(self.folder, 'node.log'), 'a', encoding='utf-8') as out:
            self.started.append(subprocess.Popen(
                [weir_program(), 'run', '--data-dir', os.path.join(self.folder, 'data')],
                env=self.environment(), stdout=out, stderr=out, start_new_session=True))

    def await_node(self, headers=None):
        def answers():
            try:
                return ask(f'{self.data}/health', headers=headers)[0] == 200
            except OSError:
                return False
        eventually('the node answers', answers)

    def log(self):
        out = ''
        for name in ('node.log', 'root/unit.log'):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding='utf-8') as file:
                    out += ''.join(file.readlines()[-12:])
        return out

    def truth(self, did=None):
        """All accounts, as they should be; or one."""
        control = self.net['control']
        if did is not None:
            return ask(f'{control}/truth?did={did}')[1]
        out, cursor = [], 0
        while cursor is not None:
            page = ask(f'{control}/truth?cursor={cursor}&limit=50')[1]
            out += page['accounts']
            cursor = page.get('cursor')
            cursor = int(cursor) if cursor not in (None, '') else None
        return out

    def make_commits(self, count, did=None):
        body = {'count': count, **({'did': did} if did else {})}
        status, answer = ask(f'{self.net["control"]}/commits', body)
        assert status == 200, answer

    def fault(self, **what):
        status, answer = ask(f'{self.net["control"]}/fault', what)
        assert status == 200, answer

    def repo(self, did, headers=None):
        return ask(f'{self.data}/repos/{did}', headers=headers)

    def is_synced(self, did, headers=None):
        """At the rev of the truth, with as many records."""
        status, repo = self.repo(did, headers)
        truth = self.truth(did)
        return (status == 200 and repo['status'] == 'synced' and repo['rev'] == truth['rev']
                and repo['record_count'] == len(truth['records']))


def main(step):
    """Runs the function `step` with a world of its own name."""
    name = os.path.basename(sys.argv[0])[:-3]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with World(name) as world:
        step(world)
    print(f'{name}: ok')
