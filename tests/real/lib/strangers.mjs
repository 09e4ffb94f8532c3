// What the published libraries say about bytes: a verdict is {ok: true, ...}
// with what they found, or {ok: false, reason}.
import { decode, decodeAll, encode } from '@atproto/lex-cbor';
import { lexToJson } from '@atproto/lex';
import {
  cborToLexRecord,
  def,
  MemoryBlockstore,
  MST,
  readCarWithRoot,
  verifyProofs,
  verifyRepoCar,
} from '@atproto/repo';

import { undo } from './judge.mjs';

async function verdict(find) {
  try {
    return { ok: true, ...(await find()) };
  } catch (error) {
    return { ok: false, reason: error.message };
  }
}

/** Whether decoding and encoding gives the same bytes again. */
export function isCanonical(bytes) {
  try {
    return Buffer.compare(encode(decode(bytes)), bytes) === 0;
  } catch {
    return false;
  }
}

function record({ payload }) {
  return verdict(() => {
    const value = cborToLexRecord(payload);
    const canonical = isCanonical(payload);
    return { canonical, value, json: () => lexToJson(value) };
  });
}

/**
 * A whole repository: signature, hashes, completeness; and the tree built anew
 * from the list of records, since verifyRepoCar does not look at its shape.
 */
function repo({ payload, given }) {
  return verdict(async () => {
    const { did, key } = given;
    const { creates, commit } = await verifyRepoCar(payload, did, key);
    const { root, blocks } = await readCarWithRoot(payload);
    const object = decode(blocks.get(root));
    const records = creates
      .map(({ collection, rkey, cid }) => [`${collection}/${rkey}`, `${cid}`])
      .sort(byPath);
    let tree = await MST.create(new MemoryBlockstore());
    for (const { collection, rkey, cid } of creates) {
      tree = await tree.add(`${collection}/${rkey}`, cid);
    }
    return {
      commit: `${commit.cid}`,
      data: `${object.data}`,
      rebuilt: `${await tree.getPointer()}`,
      records,
      object,
      canonical: isCanonical(blocks.get(root)),
    };
  });
}

export function byPath([a], [b]) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A #commit: CAR, signature, what it claims of each path, inversion. */
function commit({ payload, given }) {
  return verdict(async () => {
    const [{ t }, body] = decodeAll(payload);
    if (t !== '#commit') throw new Error(`a ${t}`);
    const { did, key } = given;
    const { root, blocks } = await readCarWithRoot(body.blocks);
    if (!root.equals(body.commit)) throw new Error('root is another commit');
    const store = new MemoryBlockstore(blocks);
    const object = await store.readObj(root, def.commit);
    if (object.rev !== body.rev) throw new Error('rev is another');
    const claims = body.ops.map(({ path, cid }) => {
      const [collection, rkey] = path.split('/');
      return { collection, rkey, cid };
    });
    const { unverified } = await verifyProofs(body.blocks, claims, did, key);
    if (unverified.length > 0) throw new Error('an op is not proved');
    for (const { cid } of body.ops) {
      if (cid && !blocks.has(cid)) throw new Error('a record is absent');
    }
    const before = body.prevData ?? (await MST.create(store)).pointer;
    const undone = await undo(MST.load(store, object.data), body.ops);
    if (!undone.equals(before)) throw new Error('inversion gives another tree');
    return {
      commit: `${root}`,
      data: `${object.data}`,
      covered: await isCovered(MST.load(store, object.data), body.ops),
      ops: body.ops.map(({ path, cid, prev }) => [
        path,
        `${cid ?? ''}`,
        `${prev ?? ''}`,
      ]),
    };
  });
}

/** Whether the blocks hold what their writer puts into a commit. */
async function isCovered(tree, ops) {
  try {
    for (const { path } of ops) await tree.getCoveringProof(path);
    return true;
  } catch {
    return false;
  }
}

export const judges = { record, repo, commit };
