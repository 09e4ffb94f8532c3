"""A WebSocket client that is just enough for /channel (RFC 6455)."""

import base64
import json
import os
import struct


class Channel:
    """Texts of a connection that is open; the socket is the caller's."""

    def __init__(self, sock, host, headers=None):
        self.sock, self.file = sock, sock.makefile('rb')
        head = {'Host': host, 'Upgrade': 'websocket', 'Connection': 'Upgrade',
                'Sec-WebSocket-Version': '13',
                'Sec-WebSocket-Key': base64.b64encode(os.urandom(16)).decode(), **(headers or {})}
        lines = ''.join(f'{k}: {v}\r\n' for k, v in head.items())
        sock.sendall(f'GET /channel HTTP/1.1\r\n{lines}\r\n'.encode())
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def _send(self, kind, body):
        mask = os.urandom(4)
        size = bytes([0x80 | len(body)]) if len(body) < 126 else b'\xfe' + struct.pack('>H', len(body))
        self.sock.sendall(bytes([0x80 | kind]) + size + mask
                          + bytes(x ^ mask[i % 4] for i, x in enumerate(body)))

    def receive(self):
        """The next event, or None at the end; pings are answered meanwhile."""
        while len(head := self.file.read(2)) == 2:
            kind, size = head
            if size == 126:
                size = struct.unpack('>H', self.file.read(2))[0]
            elif size == 127:
                size = struct.unpack('>Q', self.file.read(8))[0]
            body = self.file.read(size)
            if kind == 0x81:
                return json.loads(body)
            assert kind == 0x89, f'frame {kind:#x}: {body!r}'
            self._send(10, body)
        return None

    def ack(self, event):
        self._send(1, json.dumps({'type': 'ack', 'id': event['id']}).encode())
