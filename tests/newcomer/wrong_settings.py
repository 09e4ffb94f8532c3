#!/usr/bin/env python3
"""Every wrong setting is answered within ten seconds by a sentence that names
the cause and what to do: on standard error, in /readyz, or in the answer.

docs/testing.md lists each setting with its test; most are rows here."""

import array
import fcntl
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from world import ask, eventually, free_ports, weir_program

WITHIN = 10  # seconds: what the issue promises
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith('WEIR_')}
SIMULATED = ['--allow-private-addresses']

GOOD_PASSWORD = 'this prints a good one: head -c 24 /dev/urandom | base64'
CONFIG_FILE = 'give the path of a TOML file, such as one that weir config print wrote'

# arguments after `weir run`, and what the sentence says: cause and remedy.
# {dir} is a scratch folder.
REFUSED = {
    'upstream without its kind': (
        ['--upstream', 'https://bsky.network'], ['did you mean relay:https://bsky.network?']),
    'upstream without its kind, as a WebSocket': (
        ['--upstream', 'wss://bsky.network'], ['did you mean relay:https://bsky.network?']),
    'upstream that is a word': (
        ['--upstream', 'relay'], ['must be a list of relay:URL or pds:URL, such as relay:https://bsky.network']),
    'host that is misspelt': (
        ['--upstream', 'relay:https://bsky..network'], ['"bsky..network" is not a host name, such as bsky.network\n']),
    'host in letters that are not ASCII': (
        ['--plc-url', 'https://b\u00fccher.example'], ['it holds a letter that is not ASCII', 'xn--']),
    'directory with a path': (
        ['--plc-url', 'https://plc.directory/export'],
        ['plc_url: https://plc.directory/export must end with the host', 'leave out "/export"']),
    'resolver with a path': (
        ['--handle-resolver-url', 'https://a.example.com/xrpc'], ['leave out "/xrpc"']),
    'upstream as a WebSocket': (
        ['--upstream', 'relay:wss://bsky.network'], ['"wss://bsky.network" must begin with https://']),
    'upstream without TLS': (
        ['--upstream', 'relay:http://bsky.network'],
        ['"http://bsky.network" must begin with https://', 'allow_private_addresses']),
    'upstream without scheme': (
        ['--upstream', 'relay:bsky.network'], ['"bsky.network" must begin with https://']),
    'upstream with a path': (
        ['--upstream', 'relay:https://bsky.network/xrpc/com.atproto.sync.subscribeRepos'],
        ['must end with the host or port: https://bsky.network']),
    'upstream with a user': (
        ['--upstream', 'relay:https://a:b@bsky.network'], ['"https://...@bsky.network"', 'it holds a user name; leave out what stands before the @']),
    'upstream at another port': (
        ['--upstream', 'relay:https://bsky.network:81'],
        ['only port 443 is allowed', 'allow_private_addresses']),
    'directory without scheme': (
        ['--plc-url', 'plc.directory'], ['plc_url: "plc.directory" must begin with https://']),
    'resolver without scheme': (
        ['--handle-resolver-url', 'x'], ['handle_resolver_url: "x" must begin with https://']),
    'port alone': (['--bind', '2480'], ['bind: "2480" is not ADDRESS:PORT, such as 127.0.0.1:2480']),
    'port beyond 65535': (['--bind', '127.0.0.1:65536'], ['is not ADDRESS:PORT, such as']),
    'one port for both': (
        ['--bind', '127.0.0.1:2480', '--operations-bind', '127.0.0.1:2480'],
        ['operations_bind: 127.0.0.1:2480 is what bind listens on; give one of them another port']),
    'all addresses without a password': (
        ['--bind', '0.0.0.0:0'], ['there is no password; set admin_password_file, or listen on']),
    'unknown flag': (['--mod', 'manual'], ['did you mean "--mode"?']),
    'data_dir of blanks': (['--data-dir', ' '], ['is no name of a directory: it is blank']),
    'a host that no request can have': (
        ['--allowed-hosts', 'münchen.example'], ['is not a host name', 'xn--']),
    'a file without its flag': (['n.toml'], ['a file of options is named by --config n.toml']),
    'an option twice': (
        ['--mode', 'manual', '--mode', 'full-network'], ['--mode is given more than once, and has one value']),
    'unknown word': (['--mode', 'all'], ['must be one of manual, signal, full-network']),
    'a number out of range': (['--readers', '65'], ['must be a whole number from 1 to 64']),
    'a size without sense': (['--memory-limit', 'much'], ['must be a size from 128MiB to 1TiB']),
    'too little memory': (
        ['--memory-limit', '128MiB', '--sync-parallelism', '64'],
        ['64 fetches need a memory_limit of', 'raise it, or fetch fewer']),
    'signal without a collection': (
        ['--mode', 'signal', '--upstream', 'relay:https://bsky.network'],
        ['mode signal needs at least one, such as']),
    'a collection that nobody reads': (
        ['--signal-collection', 'app.bsky.feed.post'],
        ['only mode signal reads it', 'set mode = "signal", or leave it out']),
    'full-network without an upstream': (
        ['--mode', 'full-network'], ['mode full-network needs one, such as relay:https://']),
    'NSID that is none': (
        ['--collections', 'app..post'],
        ['"app..post" is not the name of a collection, such as app.bsky.feed.post']),
    'NSID with a star in it': (
        ['--collections', 'app.bsky.feed*'], ['may have one star, after its last dot']),
    'large letters in a domain': (
        ['--collections', 'App.bsky.feed.post'], ['has large letters in its domain', 'did you mean app.bsky.feed.post?']),
    'large letters in a pattern': (
        ['--collections', 'app.Bsky.*'], ['did you mean app.bsky.*?']),
    'large letters in the domain of a signal': (
        ['--mode', 'signal', '--signal-collection', 'App.bsky.feed.Post', '--upstream', 'relay:https://a.example.com'],
        ['signal_collection: "App.bsky.feed.Post" has large letters in its domain', 'did you mean app.bsky.feed.Post?']),
    'pattern for a signal': (
        ['--mode', 'signal', '--signal-collection', 'app.bsky.*', '--upstream', 'relay:https://a.example.com'],
        ['"app.bsky.*" is not the name of a collection, such as', 'no patterns here']),
    'password file that is not there': (
        ['--admin-password-file', '{dir}/none'],
        ['admin_password_file: {dir}/none: cannot be read: No such file', GOOD_PASSWORD]),
    'password file that is a folder': (
        ['--admin-password-file', '{dir}'], ['cannot be read: it is no file', GOOD_PASSWORD]),
    'password file that is too long': (
        ['--admin-password-file', '{dir}/long'], ['long: more than', GOOD_PASSWORD]),
    'password of two lines': (
        ['--admin-password-file', '{dir}/lines'], ['a password is one line', GOOD_PASSWORD]),
    'empty password': (
        ['--admin-password-file', '{dir}/empty'], ['a password has 16 to 1024 bytes, and this one 0', GOOD_PASSWORD]),
    'short password': (
        ['--admin-password-file', '{dir}/short'], ['and this one 5', GOOD_PASSWORD]),
    'password that others may read': (
        ['--admin-password-file', '{dir}/open'], ['other users may read or change it', 'chmod 600']),
    'configuration that is not there': (
        ['--config', '{dir}/none.toml'], ['none.toml: cannot be read: No such file', CONFIG_FILE]),
    'configuration that is a folder': (
        ['--config', '{dir}'], ['cannot be read: it is no file', CONFIG_FILE]),
    'upstream twice': (
        ['--upstream', 'relay:https://a.example.com', '--upstream', 'relay:https://a.example.com'],
        ['upstream: https://a.example.com is there twice; leave one of them out']),
    'pauses the wrong way round': (
        ['--retry-backoff-min', '2h', '--retry-backoff-max', '1h'],
        ['retry_backoff_min: 7200s is more than retry_backoff_max; lower it, or raise that']),
    'no data_dir': (
        ['--data-dir', ''], ['data_dir: is empty; name a directory, such as']),
    'certificates that are none': (
        ['--ca-file', '{dir}/long', '--data-dir', '{dir}/made'], ['ca_file: {dir}/long: ', 'it must be a PEM file with certificates']),
    'certificates that are not there': (
        ['--ca-file', '{dir}/none', '--data-dir', '{dir}/made'], ['ca_file: {dir}/none: it is no file; give a PEM file']),
    'data_dir for a shell': (
        ['--data-dir', '~/weir'], ['data_dir: "~/weir" is not read by a shell; write the path out']),
    'a pattern of hosts': (
        ['--allowed-hosts', '*.example.com'], ['allowed_hosts: "*.example.com" is not a host name', 'there are no patterns']),
    'a kind in large letters': (
        ['--upstream', 'RELAY:https://bsky.network'], ['these words in small letters']),
    'data_dir that is a file': (
        ['--data-dir', '{dir}/short'], ['Not a directory', 'data_dir must be a directory']),
    'data_dir with other files': (
        ['--data-dir', '{dir}'], ['{dir} holds other files', 'choose an empty or a new directory']),
}

# what is done to a good store, and what is said of it
DAMAGED = {
    'CURRENT is gone': (lambda d: os.remove(f'{d}/CURRENT'), ['CURRENT is gone', 'restore a backup']),
    'CURRENT is nonsense': (lambda d: write(f'{d}/CURRENT', 'xx\n'), ['CURRENT points to', 'restore a backup']),
    'FORMAT is gone': (lambda d: os.remove(f'{d}/FORMAT'), ["not Weir's", 'choose another directory']),
    'FORMAT is nonsense': (lambda d: write(f'{d}/FORMAT', 'xx\n'), ['FORMAT is damaged', 'restore a backup']),
    'the log is gone': (
        lambda d: [os.remove(x) for x in glob.glob(f'{d}/*.log')],
        ['.log is gone', 'put the file back', 'restore a backup']),
    'of another version': (
        lambda d: write(f'{d}/FORMAT', 'weir store\nformat: stable 9\n'),
        ['has the format "stable 9"', 'use the version that made it']),
}

# method, path, headers, body, status and what the answer says
ANSWERS = [
    ('GET', '/repos?limt=3', {}, None, 400, 'there is no parameter "limt" here; did you mean "limit"?'),
    ('GET', '/repos?status=error', {}, None, 400, 'no parameter "status" here; it takes limit, cursor'),
    ('GET', '/health?verbose', {}, None, 400, 'no parameter "verbose" here; it takes none'),
    ('GET', '/repos?limit=0', {}, None, 400, 'limit must be 1 to 1000'),
    ('GET', '/repos/alice.test', {}, None, 400, 'not a DID, such as did:plc:'),
    ('GET', '/repos/did:plc:ABC', {}, None, 400, 'not a DID this node can follow: did:plc:ABC'),
    ('GET', '/repos/add', {}, None, 405, 'this path takes POST'),
    ('GET', '/nothing', {}, None, 404, 'there is nothing at /nothing; every path, and its port, is in docs/api.md'),
    ('GET', '/status', {}, None, 404, 'every path, and its port, is in docs/api.md'),
    ('GET', '/channel', {}, None, 426, 'connect to it with ws://'),
    ('GET', '/repos', {'Host': 'weir.example.com'}, None, 403, 'one of allowed_hosts, where it can be added'),
    ('POST', '/repos/add', {'Content-Type': 'text/plain'}, '{"dids":[]}', 415, 'Content-Type: application/json'),
    ('POST', '/repos/add', {}, '{}', 400, '"dids" is missing; it must be a list of texts'),
    ('POST', '/repos/add', {}, '{"dids":["alice.test"]}', 400, '"alice.test"; a DID is such as did:plc:'),
    ('POST', '/repos', {'Content-Type': 'text/plain'}, '{}', 405, 'this path takes GET'),
    ('POST', '/channel', {}, '{}', 405, 'this path takes GET'),
    ('PUT', '/channel', {}, '{}', 405, 'this path takes GET'),
    ('GET', '/repos', {}, '{}', 413, 'this path takes no body'),
    ('POST', '/v1/dead-letters/drop', {}, 20_000 * ' ', 413, 'bytes that this path takes'),
    ('GET', '/repos', {'X-Long': 20_000 * 'x'}, None, 431, 'bytes: send fewer or shorter header fields'),
    ('POST', '/repos/add', {'Content-Encoding': 'gzip'}, '{"dids":[]}', 415, 'bodies are not compressed here'),
    ('POST', '/repos/add', {}, '{"did":["did:plc:a"]}', 400, 'did you mean'),
    ('POST', '/repos/add', {}, '{"dids":[],"collections":["app..x"]}', 400, 'such as app.bsky.feed.post'),
    ('POST', '/repos/add', {}, '{"dids":[],"collections":["App.bsky.feed.Post"]}', 400, 'did you mean app.bsky.feed.Post?'),
]


def write(path, text, mode=0o600):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


class Node:
    """`weir run`; ended with the block."""

    def __init__(self, folder, more=(), user=None, variables=None, before=()):
        self.process = subprocess.Popen(
            [*before, weir_program(), 'run', '--bind', '127.0.0.1:0', '--data-dir', folder, *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**PLAIN, **(variables or {})}, text=True, user=user)

    def __enter__(self):
        self.began = time.monotonic()
        self.at = json.loads(self.process.stdout.readline())
        self.log = []
        threading.Thread(target=self.read_log, daemon=True).start()
        return self

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def await_cause(self, cause, words, level):
        """Within ten seconds of the start, with a remedy that says something."""
        def found():
            body = ready(self.at)
            return next((x for x in body['causes'] if x['cause'] == cause
                         and words in x['error'] and x['level'] == level), None)
        x = eventually(f'{cause}: {words}', found, WITHIN - (time.monotonic() - self.began))
        assert len(x['remedy']) > 20, x
        return x


    def await_line(self, event, words):
        """The log warns of it within ten seconds of the start."""
        def found():
            lines = [json.loads(x) for x in self.log if f'"{event}"' in x]
            return next((x for x in lines if words in x.get('hint', '')), None)
        x = eventually(f'{event}: {words}', found, WITHIN - (time.monotonic() - self.began))
        assert x['level'] == 'warning', x


def ready(at):
    return ask(at['operations'] + '/readyz')[1]


def refused(name, arguments, says, user=None, before=(), status=2):
    """It ends within ten seconds, with that status and a sentence."""
    done = subprocess.run([*before, weir_program(), 'run', *arguments], env=PLAIN, timeout=WITHIN, user=user,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status and done.stdout == '', (name, done)
    for x in says:
        assert x in done.stderr, f'{name}: {x!r} is not in {done.stderr!r}'
    print(f'  ok {name}')


def check_refused(folder):
    write(f'{folder}/empty', '')
    write(f'{folder}/short', 'short')
    write(f'{folder}/long', 2000 * 'x')
    write(f'{folder}/lines', 'sixteen bytes at\nleast\n')
    write(f'{folder}/open', 'correct horse battery\n', 0o644)
    for name, (arguments, says) in REFUSED.items():
        given = [x.replace('{dir}', folder) for x in arguments]
        flags = {'--data-dir': f'{folder}/data', '--bind': '127.0.0.1:0'}
        rest = [y for k, v in flags.items() if k not in given for y in (k, v)]
        refused(name, rest + given, [x.replace('{dir}', folder) for x in says])
    if os.getuid() == 0:  # Whoever is not root is kept out by the file's mode.
        other = {'user': 65534}
    else:
        other = {}
        os.chmod(f'{folder}/long', 0)
    refused('password file that this user may not read',
            ['--admin-password-file', f'{folder}/long', '--data-dir', f'{folder}/data'],
            ['long: cannot be read: Permission denied; give the user who runs this permission to read it'], **other)
    assert not os.path.exists(f'{folder}/data'), 'nothing was made'
    variable = subprocess.run([weir_program(), 'run'], env={**PLAIN, 'WEIR_MOD': 'x'}, cwd=folder,
                              timeout=WITHIN, capture_output=True, text=True, check=False)
    assert 'did you mean WEIR_MODE?' in variable.stderr, variable
    write(f'{folder}/b.toml', 'mode = "x"\nupstrem = []\nbind = 3\n')
    for form in (['check', f'{folder}/b.toml'], ['check', '--config', f'{folder}/b.toml'],
                 ['print', f'{folder}/b.toml'], ['print', '--config', f'{folder}/b.toml']):
        done = subprocess.run([weir_program(), 'config', *form], env=PLAIN, timeout=WITHIN,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1, done
        for x in ('b.toml:1:1: mode', 'did you mean "upstream"?', 'b.toml:3:1: bind = 3: must be'):
            assert x in done.stderr, (form, done.stderr)
    for text in (f'{folder}/long', f'{folder}/none'):
        write(f'{folder}/ca.toml', f'ca_file = "{text}"\n')
        done = subprocess.run([weir_program(), 'config', 'check', f'{folder}/ca.toml'], env=PLAIN,
                              timeout=WITHIN, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and f'ca_file: {text}: ' in done.stderr, done
    print('  ok unknown variable, unknown key, both forms of weir config')
    check_variables(folder)


def check_variables(folder):
    """Variables that nobody reads: the log names them, and nothing of a cluster."""
    given = {'WEIR_BANANA': '1', 'WEIR_APPLE': '1', 'WEIR_SERVICE_HOST': '10.0.0.1',
             'WEIR_PORT': 'tcp://10.0.0.1:2480', 'TAP_RELAY_URL': 'https://bsky.network'}
    with Node(f'{folder}/variables', variables=given) as node:
        node.await_line('unknown_variable', 'weir config print lists all')
        node.await_line('tap_variable', 'set WEIR_UPSTREAM=relay:URL')
        lines = [json.loads(x) for x in node.log if '_variable"' in x]
        assert [x['event'] for x in lines] == ['unknown_variable', 'tap_variable'], lines
        assert lines[0]['variables'] == 'WEIR_APPLE, WEIR_BANANA', lines
    subprocess.run(['rm', '-r', f'{folder}/variables'], check=True)
    print('  ok variables that nobody reads')


def check_places(folder):
    """Ports and directories that somebody else has."""
    data = f'{folder}/taken'
    with Node(data) as node:
        address = node.at['data'].removeprefix('http://')
        other = ['--data-dir', f'{folder}/other']
        remedy = 'choose another address or port, or end what listens there'
        refused('port in use', ['--bind', address, *other],
                [f'bind: cannot listen on {address}: Address already in use', remedy])
        refused('operations port in use', ['--bind', '127.0.0.1:0', '--operations-bind', address, *other],
                [f'operations_bind: cannot listen on {address}', remedy])
        refused('two nodes, one directory', ['--bind', '127.0.0.1:0', '--data-dir', data],
                ['OWNER: in use by process', 'one node uses a directory at a time', 'another data_dir'])
    for name, (damage, says) in DAMAGED.items():
        subprocess.run(['cp', '-a', data, f'{data}.bad'], check=True)
        damage(f'{data}.bad')
        refused(name, ['--bind', '127.0.0.1:0', '--data-dir', f'{data}.bad'], says)
        subprocess.run(['rm', '-r', f'{data}.bad'], check=True)
    refused('few descriptors', ['--bind', '127.0.0.1:0', '--data-dir', data],
            ['may open 40 files and sockets', 'at least 256', 'raise ulimit -n'], before=['prlimit', '--nofile=40'])
    for files, is_told in ((4095, True), (4096, False)):  # descriptors_enough
        with Node(data, before=['prlimit', f'--nofile={files}']) as node:
            eventually('it has started', lambda: [x for x in node.log if '"started"' in x], WITHIN)
            assert is_told == any('"few_descriptors"' in x for x in node.log), node.log
    print('  ok enough descriptors, and one less')
    refused('too little memory for threads', ['--bind', '127.0.0.1:0', '--data-dir', f'{folder}/other'],
            ['gives it no', 'raise ulimit'], before=['prlimit', f'--as={100_000_000}'], status=-signal.SIGABRT)
    if os.getuid() == 0:  # Whoever is not root may not become somebody else,
        os.chmod(folder, 0o755)
        refused('data_dir of another user', ['--bind', '127.0.0.1:0', '--data-dir', data],
                ['Permission denied', 'data_dir must be a directory of the user'], user=65534)
        os.chown(data, 65534, 65534)
        refused('data_dir of another user, for root', ['--bind', '127.0.0.1:0', '--data-dir', data],
                ['belongs to another user (id 65534), who is the one to run this: sudo -u NAME'])
        os.chown(data, 0, 0)
    else:  # and is kept out of a folder by its mode.
        os.chmod(data, 0)
        refused('data_dir without permission', ['--bind', '127.0.0.1:0', '--data-dir', data],
                ['Permission denied', 'data_dir must be a directory of the user'])
        os.chmod(data, 0o700)


def check_answers(folder):
    with Node(f'{folder}/answers') as node:
        for method, path, headers, body, status, says in ANSWERS:
            request = urllib.request.Request(node.at['data'] + path, body and body.encode(), method=method,
                                             headers={'Content-Type': 'application/json', **headers})
            try:
                with urllib.request.urlopen(request, timeout=WITHIN) as x:
                    raise AssertionError(f'{method} {path}: {x.status}')
            except urllib.error.HTTPError as x:
                answer = json.load(x)
                assert x.code == status and says in answer['message'], (path, x.code, answer)
        tried = node.at['data'] + '/nowhere'
    ended = subprocess.run([weir_program(), 'repos', 'list', '--node', tried.removesuffix('/nowhere')],
                           env=PLAIN, timeout=WITHIN, capture_output=True, text=True, check=False)
    assert 'is it running, and is --node its data address?' in ended.stderr, ended
    for address in ('127.0.0.1:2480', 'ws://127.0.0.1:2480', 'http://127.0.0.1:2480/repos'):
        ended = subprocess.run([weir_program(), 'repos', 'list', '--node', address], env=PLAIN, timeout=WITHIN,
                               capture_output=True, text=True, check=False)
        assert f'--node: "{address}" is not the data address of a node, such as' in ended.stderr, ended
    print(f'  ok {len(ANSWERS)} answers, and weir repos without a node')


def check_stalled_log(folder):
    """Nobody reads the log: the node answers, and ends when it is told to."""
    node = subprocess.Popen([weir_program(), 'run', '--data-dir', f'{folder}/log', '--bind', '127.0.0.1:0',
                             '--log-format', 'json'], env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    at = json.loads(node.stdout.readline())

    def is_full():
        for _ in range(20):
            node.send_signal(signal.SIGHUP)  # A line each, but for those that come together.
            time.sleep(0.002)
        unread = array.array('i', [0])
        fcntl.ioctl(node.stderr, termios.FIONREAD, unread)
        return unread[0] > 60_000

    eventually('nobody reads the log, and it is full', is_full, patience=120)
    for _ in range(10):
        is_full()
    assert ask(at['data'] + '/health')[0] == 200
    node.terminate()
    assert node.wait(WITHIN) == 0
    print('  ok a log that nobody reads')


def check_closed_output(folder):
    """What is printed goes nowhere, and into no file of the store."""
    with subprocess.Popen(['bash', '-c', 'exec "$@" <&- >&- 2>&-', '-', weir_program(), 'run', '--data-dir',
                           f'{folder}/closed', '--bind', '127.0.0.1:0'], env=PLAIN) as node:
        eventually('it is there', lambda: os.path.exists(f'{folder}/closed/CURRENT'))
        for x in (0, 1, 2):
            assert os.readlink(f'/proc/{node.pid}/fd/{x}') == '/dev/null'
        node.terminate()
        assert node.wait(WITHIN) == 0
    print('  ok closed output')


def check_disk(folder):
    with Node(f'{folder}/full', ['--disk-reserve', '1TiB']) as node:
        said = eventually('the disk is too full', lambda: ready(node.at)['waiting'], WITHIN)
        assert 'free some space there, or lower disk_reserve' in said[0], said
        status, answer = ask(node.at['data'] + '/repos/add', {'dids': ['did:plc:' + 24 * 'a']})
        assert status == 503 and answer['message'] == said[0], answer
    print('  ok full disk')


class Late(BaseHTTPRequestHandler):
    """The directory, as whoever has a wrong clock sees it: what differs is the
    same, and this machine's clock need not be touched."""

    def do_GET(self):
        try:
            with urllib.request.urlopen(self.server.directory + self.path) as x:
                status, body = x.status, x.read()
        except urllib.error.HTTPError as x:
            status, body = x.code, x.read()
        self.send_response_only(status)
        self.send_header('Date', format_datetime(
            datetime.now(timezone.utc) + self.server.ahead, usegmt=True))
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(directory, ahead):
    server = ThreadingHTTPServer(('127.0.0.1', 0), Late)
    server.directory, server.ahead = directory, ahead
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f'http://127.0.0.1:{server.server_address[1]}'


def check_one_repo(data, at, closed):
    """As whoever tries out a configuration has it: one repo, added by hand."""
    did = ask(at['relay'] + '/xrpc/com.atproto.sync.listRepos?limit=1')[1]['repos'][0]['did']
    relay, plc = at['relay'], at['plc']
    deaf = socket.create_server(('127.0.0.1', 0))  # Nobody accepts, nobody answers.
    silent = f'http://127.0.0.1:{deaf.getsockname()[1]}'
    rows = [
        ('directory that is silent', silent, plc, 'directory', 'it was asked, and does not answer'),
        ('resolver that is silent', plc, silent, 'resolver', 'it was asked, and does not answer'),
        ('directory that nobody serves', closed, plc, 'directory', 'refused'),
        ('something else as the directory', relay, plc, 'directory', 'in words that no directory uses'),
        ('resolver that nobody serves', plc, closed, 'resolver', 'refused'),
        ('something else as the resolver', plc, relay, 'resolver', 'HTTP 501'),
    ]
    for name, directory, resolver, cause, words in rows:
        with Node(data, [*SIMULATED, '--upstream', f'relay:{relay}', '--plc-url', directory,
                         '--handle-resolver-url', resolver]) as node:
            status, answer = ask(node.at['data'] + '/repos/add', {'dids': [did]})
            assert status == 200, answer
            x = node.await_cause(cause, words, 'degraded')
            assert {'directory': 'plc_url', 'resolver': 'handle_resolver_url'}[cause] in x['remedy'], x
        subprocess.run(['rm', '-r', data], check=True)
        print(f'  ok one repo: {name}')
    deaf.close()


def check_warnings(data, at):
    """What works and is probably not meant: the log warns of it."""
    relay, plc, pds = at['relay'], at['plc'], at['pds'][0]
    everybody = ['--mode', 'full-network', '--upstream', f'relay:{pds}']
    rows = [
        ('a PDS that is called a relay', everybody, 'relay_is_pds', f'pds:{pds} instead of relay:{pds}'),
        ('a collection that nobody has', ['--mode', 'signal', '--upstream', f'relay:{relay}',
                                          '--signal-collection', 'com.example.nobody'],
         'signal_finds_nobody', 'is it the name of a collection that exists?'),
        ('collections that nobody has', ['--mode', 'full-network', '--upstream', f'relay:{relay}',
                                         '--collections', 'com.example.nobody'],
         'collections_keep_nothing', 'of collections that exist?'),
        ('more memory than there is', ['--memory-limit', '1TiB'], 'memory_limit_too_large', 'set memory_limit to at most half'),
    ]
    for name, arguments, event, words in rows:
        with Node(data, [*SIMULATED, *arguments, '--plc-url', plc]) as node:
            node.await_line(event, words)
        subprocess.run(['rm', '-r', data], check=True)
        print(f'  ok {name}')


def check_network(folder):
    """What only the network can tell: /readyz says it."""
    # Listings are judged from claims_judged_min (50) accounts on, collections from
    # kept_nothing_repos_min (100) repos on.
    net = subprocess.Popen([weir_program(), 'simnet', '--accounts', '120', '--records', '480'],
                           stdout=subprocess.PIPE, env=PLAIN, text=True)
    try:
        at = json.loads(net.stdout.readline())
        closed = f'http://127.0.0.1:{free_ports(1)[0]}'
        relay, plc = at['relay'], at['plc']
        rows = [
            ('upstream that is no relay', f'relay:{plc}', plc, 'upstream', 'HTTP 404', 'failing'),
            ('upstream that nobody serves', f'relay:{closed}', plc, 'upstream', 'refused', 'failing'),
            ('upstream whose name does not exist', 'relay:https://relay.invalid', plc,
             'upstream', 'DNS', 'failing'),
            ('TLS where there is none', f'relay:{relay.replace("http:", "https:")}', plc,
             'upstream', 'TLS', 'failing'),
            ('a relay that is called a PDS', f'pds:{relay}', plc, 'upstream',
             "its accounts' documents do not name", 'failing'),
            ('directory that nobody serves', f'relay:{relay}', closed, 'directory', 'refused', 'failing'),
            ('something else as the directory', f'relay:{relay}', relay, 'directory',
             'the directory answers HTTP 404', 'failing'),
        ]
        for name, upstream, directory, cause, words, level in rows:
            with Node(f'{folder}/net', [*SIMULATED, '--mode', 'full-network', '--upstream', upstream,
                                        '--plc-url', directory]) as node:
                x = node.await_cause(cause, words, level)
                if upstream == f'pds:{relay}':
                    assert f'relay:{relay}' in x['remedy'], x
            subprocess.run(['rm', '-r', f'{folder}/net'], check=True)
            print(f'  ok {name}')
        check_one_repo(f'{folder}/net', at, closed)
        check_warnings(f'{folder}/net', at)
        for hours, words in ((1, '60 minutes ahead of'), (-1, '60 minutes behind'),
                             (24 * 365, 'minutes ahead of'), (-24 * 365, 'minutes behind')):
            server, url = serve(plc, timedelta(hours=hours))
            with Node(f'{folder}/net', [*SIMULATED, '--mode', 'full-network', '--upstream', f'relay:{relay}',
                                        '--plc-url', url]) as node:
                x = node.await_cause('clock', words, 'degraded')
                assert "set this machine's clock" in x['remedy'], x
            server.shutdown()
            subprocess.run(['rm', '-r', f'{folder}/net'], check=True)
            print(f'  ok clock: {words}')
    finally:
        net.terminate()
        net.wait(30)


def main():
    with tempfile.TemporaryDirectory(prefix='weir-newcomer-') as folder:
        chosen = sys.argv[1:] or ['refused', 'places', 'answers', 'stalled_log', 'closed_output', 'disk', 'network']
        for name in chosen:
            own = os.path.join(folder, name)
            os.mkdir(own, 0o755)
            os.chmod(folder, 0o755)
            globals()[f'check_{name}'](own)


main()
