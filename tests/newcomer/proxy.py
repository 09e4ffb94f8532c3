#!/usr/bin/env python3
"""docs/operations.md, "Ports, TLS, a proxy": nginx in front of a node, by its name
and with TLS: requests, probes and /channel go through, and only with the password.
Needs nginx (tests/real/run.sh newcomer)."""

import json
import os
import socket
import ssl
import subprocess
import threading

from service import set_up, track, with_password
from websocket import Channel
from world import ask, eventually, free_ports, main

NAME = 'weir.example.com'


def make_certificate(world):
    """As certbot lays it, but signed by itself."""
    folder = f'{world.root}/etc/letsencrypt/live/{NAME}'
    os.makedirs(folder)
    for kind in ('available', 'enabled'):
        os.makedirs(f'{world.root}/etc/nginx/sites-{kind}')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1',
                    '-subj', f'/CN={NAME}', '-addext', f'subjectAltName=DNS:{NAME}',
                    '-keyout', f'{folder}/privkey.pem', '-out', f'{folder}/fullchain.pem'],
                   check=True, capture_output=True)
    return ssl.create_default_context(cafile=f'{folder}/fullchain.pem')


def connect(port, context):
    sock = socket.create_connection(('127.0.0.1', port), 30)
    return context.wrap_socket(sock, server_hostname=NAME)


def ask_proxy(port, context, path, headers=None, body=None):
    """Status and body of the answer to a request that names NAME, but for `headers`."""
    lines = {'Host': NAME, 'Connection': 'close', **(headers or {})}
    if body is not None:
        lines |= {'Content-Type': 'application/json', 'Content-Length': len(body)}
    with connect(port, context) as sock:
        sock.sendall(f'{"GET" if body is None else "POST"} {path} HTTP/1.1\r\n'.encode()
                     + ''.join(f'{k}: {v}\r\n' for k, v in lines.items()).encode() + b'\r\n'
                     + (body or b''))
        text = b''.join(iter(lambda: sock.recv(65536), b'')).decode()
    head, body = text.split('\r\n\r\n', 1)
    return int(head.split()[1]), body


def check_requests(world, port, context):
    head = with_password(world)
    for path in ('/livez', '/readyz', '/metrics', '/repos'):
        assert ask_proxy(port, context, path)[0] == 401, f'{path} without the password'
    assert ask(f'{world.operations}/livez')[0] == 200, 'a program of this machine'
    assert ask_proxy(port, context, '/livez', head)[0] == 200
    eventually('it is ready, through the proxy',
               lambda: ask_proxy(port, context, '/readyz', head)[0] == 200)
    assert 'weir_repos_synced 2' in ask_proxy(port, context, '/metrics', head)[1]
    assert ask_proxy(port, context, '/repos', {**head, 'Origin': f'https://{NAME}'})[0] == 200
    for bad in ({'Host': 'other.example.com'}, {'Origin': 'https://other.example.com'}):
        assert ask_proxy(port, context, '/repos', {**head, **bad})[0] == 403, bad
    long = json.dumps({'dids': ['did:plc:' + 24 * 'a']}).encode() + b' ' * (8 * 1024 * 1024 - 100)
    answer = ask_proxy(port, context, '/repos/remove', head, long)
    assert answer == (200, '{"removed":0}'), answer


def ack_all(channel):
    """Until it is closed."""
    while (event := channel.receive()) is not None:
        channel.ack(event)


def check_channel(world, port, context, dids):
    refused = Channel(connect(port, context), NAME)
    assert refused.status == 401, refused.status
    channel = Channel(connect(port, context), NAME, with_password(world))
    assert channel.status == 101, channel.status
    seen = set()
    while seen < set(dids):
        event = channel.receive()
        seen.add(event[event['type']]['did'])
        channel.ack(event)
    reader = threading.Thread(target=ack_all, args=[channel])
    reader.start()
    # On the same connection, when something happens.
    world.make_commits(3, dids[0])
    head = with_password(world)
    eventually('its commits are followed', lambda: world.is_synced(dids[0], head))
    eventually('every event is acked', lambda: ask(
        f'{world.data}/stats/outbox-buffer', headers=head)[1]['outbox_buffer'] == 0)
    channel.sock.shutdown(socket.SHUT_RDWR)
    reader.join()


def proxy(world):
    port = free_ports(1)[0]
    os.environ['NEWCOMER_TLS_PORT'] = str(port)
    context = make_certificate(world)
    set_up(world)
    world.run('proxy')
    try:
        world.await_node(with_password(world))
        assert json.loads(world.run('ask-proxy')) == {'repos': []}
        dids = [x['did'] for x in world.accounts[:2]]
        track(world, dids)
        check_requests(world, port, context)
        check_channel(world, port, context, dids)
    finally:
        world.run_text('nginx -s stop')


main(proxy)
