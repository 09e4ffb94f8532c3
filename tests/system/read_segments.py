#!/usr/bin/env python3
"""Reads an export by docs/segment-format.md alone, and nothing of Weir.

  read_segments.py DIR

Checks every frame, every hash and every CID, and prints how many transactions,
operations, streams and repos there are. Ends with 1, and a sentence, when
something is wrong.
"""
import hashlib
import os
import struct
import sys

FRAME_MAX = 16_777_216
CRC_TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CRC_TABLE.append(n)


class Broken(Exception):
    """What is wrong."""


def require(holds, sentence):
    if not holds:
        raise Broken(sentence)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


# -- DAG-CBOR ------------------------------------------------------------------

class Link(bytes):
    """A binary CID."""


def head(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << 8 * size:
            return bytes([major << 5 | code]) + n.to_bytes(size, "big")
    raise Broken("a number beyond 64 bits")


def encode(x):
    if x is None:
        return b"\xf6"
    if isinstance(x, bool):
        return b"\xf5" if x else b"\xf4"
    if isinstance(x, int):
        return head(0, x) if x >= 0 else head(1, -1 - x)
    if isinstance(x, Link):
        return b"\xd8\x2a" + head(2, len(x) + 1) + b"\0" + x
    if isinstance(x, bytes):
        return head(2, len(x)) + x
    if isinstance(x, str):
        return head(3, len(x.encode())) + x.encode()
    if isinstance(x, list):
        return head(4, len(x)) + b"".join(map(encode, x))
    keys = sorted(x, key=lambda k: (len(k), k))
    return head(5, len(x)) + b"".join(encode(k) + encode(x[k]) for k in keys)


class Decoder:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        require(self.at + size <= len(self.data), "an item ends early")
        self.at += size
        return self.data[self.at - size:self.at]

    def item(self):
        first = self.take(1)[0]
        major, n = first >> 5, first & 31
        if major == 7:
            require(n in (20, 21, 22), "a simple value that is not allowed")
            return {20: False, 21: True, 22: None}[n]
        require(n < 28, "a length without end")
        if n >= 24:
            n = int.from_bytes(self.take(1 << n - 24), "big")
        if major == 0:
            return n
        if major == 1:
            return -1 - n
        if major == 2:
            return self.take(n)
        if major == 3:
            return self.take(n).decode()
        if major == 4:
            return [self.item() for _ in range(n)]
        if major == 5:
            return {self.item(): self.item() for _ in range(n)}
        require(n == 42, "a tag other than 42")
        inner = self.item()
        require(inner[:1] == b"\0", "a link without its zero")
        return Link(inner[1:])


def decode(data):
    reader = Decoder(data)
    out = reader.item()
    require(reader.at == len(data), "bytes behind an item")
    require(encode(out) == data, "DAG-CBOR that is not canonical")
    return out


# -- frames --------------------------------------------------------------------

def frames(segment, identity, next_id, last):
    """Pairs of the first id and the payload, one after the other."""
    with open(segment, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        sound = len(data) - at >= 24
        if sound:
            mark, first, size, crc = struct.unpack_from(">QQII", data, at)
            payload = data[at + 24:at + 24 + size]
            sound = (mark == identity and first == next_id
                     and size <= FRAME_MAX and len(payload) == size
                     and crc32c(data[at:at + 20] + payload) == crc)
        if not sound:
            require(last, f"{segment} is damaged at byte {at}")
            print(f"{segment} has a torn end at byte {at}", file=sys.stderr)
            return
        next_id += yield first, payload
        at += 24 + size


# -- transactions --------------------------------------------------------------

def sha256(data):
    return hashlib.sha256(data).digest()


def check_content(op, scope):
    body, cid = op["body"], op["cid"]
    if op["op"] == "delete":
        require(body is None and cid is None, "a deletion with content")
    elif op["invalid"]:
        require(body is None, "an invalid record with content")
    else:
        codec = 0x55 if scope in ("$identity", "$account") else 0x71
        require(cid == bytes([1, codec, 0x12, 32]) + sha256(body),
                "content with another CID")


def follow(tx, op, stream, state):
    """The digest and the stream hash after one operation."""
    scope, (index, before, _) = stream["scope"], state
    if scope in ("$identity", "$account"):
        origin = index.to_bytes(8, "big")
    else:
        origin = tx["job"] or b""
    digest = sha256(encode([tx["did"], tx["rev"], scope, op["rkey"], op["op"],
                            op["cid"], origin]))
    millis = abs(tx["timeUs"]) // 1000 * (1 if tx["timeUs"] >= 0 else -1)
    return index + 1, sha256(encode({
        "v": 1, "opId": digest, "prev": before, "skip": op["skip"],
        "index": index, "timestampUtcMs": millis,
        "action": {"op": op["op"], "cid": op["cid"], "rkey": op["rkey"]},
        "stream": [tx["did"], scope, stream["branch"]]})), digest


def check(tx, ends):
    require(tx["v"] == 1, "another version")
    require(tx["live"] == (tx["from"] != "resync"), "live and of a fetch")
    require((tx["job"] is None) == tx["live"], "a job that fits nothing")
    names = []
    for stream in tx["streams"]:
        names.append((tx["did"], stream["scope"], stream["branch"]))
        end = ends.get(names[-1], (0, bytes(32), None))
        require((stream["index"], stream["prev"], stream["prevOp"]) == end,
                f"{names[-1]} does not go on where it ended")
        ends[names[-1]] = end
    for op in tx["ops"]:
        name = names[op["stream"]]
        check_content(op, name[1])
        ends[name] = follow(tx, op, tx["streams"][op["stream"]], ends[name])
    for stream, name in zip(tx["streams"], names):
        require(ends[name][1] == stream["hash"], f"{name} has another hash")


def read(directory):
    with open(f"{directory}/SEGMENTS", encoding="ascii") as f:
        title, identity = f.read().splitlines()
    require(title == "weir segments 1", "another version")
    identity = int(identity.removeprefix("identity: "), 16)
    ends, next_id, transactions = {}, 1, 0
    names = sorted(x for x in os.listdir(directory) if x.endswith(".seg"))
    for name in names:
        require(name == f"operations-{next_id:020}.seg",
                f"operations before {name} are missing")
        part = frames(f"{directory}/{name}", identity, next_id,
                      name == names[-1])
        count = None
        while True:
            try:
                first, payload = part.send(count)
            except StopIteration:
                break
            tx = decode(payload)
            check(tx, ends)
            count = len(tx["ops"])
            next_id = first + count
            transactions += 1
    with open(f"{directory}/COMPLETE", encoding="ascii") as f:
        require(f.read() == f"operations: {next_id - 1}\n",
                "a part of the export is missing")
    print(f"transactions: {transactions}")
    print(f"operations: {next_id - 1}")
    print(f"streams: {len(ends)}")
    print(f"repos: {len({name[0] for name in ends})}")
    for name in sorted(ends):
        print(*name, ends[name][0], ends[name][1].hex())


if __name__ == "__main__":
    try:
        read(sys.argv[1])
    except (Broken, OSError, ValueError, KeyError) as x:
        sys.exit(f"read_segments.py: {x}")
