// Strangers judge a network: the published libraries read what its hosts
// serve, and every commit and repository must hold before them.
import assert from 'node:assert/strict';

import { IdResolver } from '@atproto/identity';
import { decode, decodeAll } from '@atproto/lex-cbor';
import {
  MemoryBlockstore,
  MST,
  readCarWithRoot,
  verifyRepoCar,
} from '@atproto/repo';
import { Firehose } from '@atproto/sync';
import WebSocket from 'ws';

import { deadlineMs, eventually, within } from './wait.mjs';
import { xrpc } from './xrpc.mjs';

const streamPath = '/xrpc/com.atproto.sync.subscribeRepos?cursor=0';

/** Resolves DIDs at a directory on loopback; keeps no answers. */
export function resolverOf(plcUrl) {
  return new IdResolver({ plcUrl, fetch: globalThis.fetch });
}

/** Every repository a host lists: [{did, head, rev, active, status?}]. */
export async function listRepos(base) {
  const repos = [];
  let cursor;
  do {
    const params = { limit: 100, cursor };
    const page = await xrpc(base, 'com.atproto.sync.listRepos', { params });
    if (page.repos.length === 0) break;
    repos.push(...page.repos);
    cursor = page.cursor;
  } while (cursor);
  return repos;
}

/**
 * Verifies the whole repository as served: signature, every block, and the
 * shape of its tree (rebuilt here from the bare list of records). Returns how
 * many records it has.
 */
export async function judgeRepo(base, did, resolver) {
  const key = await resolver.did.resolveAtprotoKey(did);
  const params = { did };
  const latest = () =>
    xrpc(base, 'com.atproto.sync.getLatestCommit', { params });
  // The account may be writing: fetch until it stood still meanwhile.
  const { car, cid } = await eventually(`${did} at rest`, async () => {
    const before = await latest();
    const bytes = await xrpc(base, 'com.atproto.sync.getRepo', { params });
    const after = await latest();
    return before.cid === after.cid && { car: bytes, cid: after.cid };
  });
  const repo = await verifyRepoCar(car, did, key);
  assert.equal(repo.commit.cid.toString(), cid, `${did}: the commit served`);
  const { root, blocks } = await readCarWithRoot(car);
  const { data } = decode(blocks.get(root));
  let tree = await MST.create(new MemoryBlockstore());
  for (const { collection, rkey, cid: value } of repo.creates) {
    tree = await tree.add(`${collection}/${rkey}`, value);
  }
  const rebuilt = await tree.getPointer();
  assert(rebuilt.equals(data), `${did}: the tree's shape`);
  return repo.creates.length;
}

/** The first `count` frames from the oldest on, as {kind, body}. */
export async function readFrames(base, count) {
  const socket = new WebSocket(`${base.replace('http', 'ws')}${streamPath}`);
  const frames = [];
  const { promise, resolve, reject } = Promise.withResolvers();
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the stream ended')));
  socket.on('message', (bytes, binary) => {
    try {
      assert(binary, 'a text frame');
      const [header, body, ...more] = decodeAll(bytes);
      assert.deepEqual({ op: header.op, more }, { op: 1, more: [] });
      // #info stands outside the sequence.
      if (body.seq) frames.push({ kind: header.t, body });
    } catch (error) {
      reject(error);
    }
    if (frames.length === count) resolve();
  });
  try {
    await within(`${count} frames`, deadlineMs(), promise);
  } finally {
    socket.removeAllListeners('close');
    socket.terminate();
  }
  return frames;
}

/**
 * Reads the same frames with the published consumer, which checks signatures
 * and proofs; it leaves out an operation whose proof fails without a word, so
 * what it hands over is compared with the frames, operation by operation.
 */
export async function judgeFirehose(base, frames, resolver) {
  const wanted = frames.flatMap(operations);
  const last = frames.at(-1).body.seq;
  const seen = [];
  const done = Promise.withResolvers();
  const firehose = new Firehose({
    service: base.replace('http', 'ws'),
    idResolver: resolver,
    unauthenticatedHandles: true,
    getCursor: () => 0,
    handleEvent: (event) => {
      if (event.seq <= last) seen.push(described(event));
      if (event.seq > last || seen.length === wanted.length) done.resolve();
    },
    onError: (error) => done.reject(error),
  });
  firehose.start();
  try {
    await within(`${wanted.length} operations`, deadlineMs(), done.promise);
  } finally {
    await firehose.destroy();
  }
  assert.deepEqual(seen, wanted);
  return seen.length;
}

function described({ seq, event, collection, rkey, cid, did }) {
  const path = collection ? `${collection}/${rkey}` : '';
  const value = path && cid ? `${cid}` : '';
  return `${seq} ${event} ${did} ${path} ${value}`;
}

function operations({ kind, body }) {
  if (kind !== '#commit') {
    return [`${body.seq} ${kind.slice(1)} ${body.did}  `];
  }
  return body.ops.map(
    ({ action, path, cid }) =>
      `${body.seq} ${action} ${body.repo} ${path} ${cid ?? ''}`,
  );
}

/**
 * Takes every commit back with the published tree: undoing its operations on
 * the blocks it brought must give the tree before it, and that must be the
 * tree the account's previous frame left. Returns how many were taken back.
 */
export async function judgeChain(frames) {
  const heads = new Map();
  let inverted = 0;
  for (const { kind, body } of frames) {
    if (kind !== '#commit' && kind !== '#sync') continue;
    const did = body.repo ?? body.did;
    const { root, blocks } = await readCarWithRoot(body.blocks);
    const { data, rev } = decode(blocks.get(root));
    if (kind === '#commit') {
      const where = `${did} at ${rev}`;
      assert(root.equals(body.commit), `${where}: root and commit differ`);
      assert.equal(rev, body.rev, `${where}: two revisions`);
      const before = heads.get(did);
      if (before && body.prevData) {
        assert(before.data.equals(body.prevData), `${where}: prevData`);
        assert.equal(body.since, before.rev, `${where}: since`);
      }
      if (body.prevData) {
        const tree = MST.load(new MemoryBlockstore(blocks), data);
        const undone = await undo(tree, body.ops);
        assert(undone.equals(body.prevData), `${where}: inversion`);
        inverted += 1;
      }
    }
    heads.set(did, { data, rev: body.rev });
  }
  return inverted;
}

/** Takes operations back on a tree; returns the root. */
export async function undo(tree, ops) {
  const byPath = (a, b) => (a.path < b.path ? -1 : 1);
  for (const { path, prev } of ops.filter(isDelete).sort(byPath)) {
    tree = await tree.add(path, prev);
  }
  for (const op of ops.filter((one) => !isDelete(one)).sort(byPath)) {
    assert((await tree.get(op.path))?.equals(op.cid), `${op.path} not there`);
    tree = op.prev
      ? await tree.update(op.path, op.prev)
      : await tree.delete(op.path);
  }
  return (await tree.trimTop()).getPointer();
}

function isDelete({ action }) {
  return action === 'delete';
}
