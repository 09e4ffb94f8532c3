// Where the published libraries and we part, each with the proof that a case
// is of its kind: docs/differential.md says who follows the specification.
import { isDeepStrictEqual } from 'node:util';

import { isValidNsid, isValidRecordKey } from '@atproto/syntax';

import { byPath, isCanonical } from './strangers.mjs';

const byteOrderMark = Buffer.from('\ufeff');
const protoKey = Buffer.from('i__proto__');

/** They take it, we do not, for this reason. */
function refused(reason, proof) {
  return (one) =>
    !one.ours.ok &&
    one.theirs.ok &&
    reason.test(one.ours.reason) &&
    proof(one);
}

/** We take it, they do not, for this reason. */
function taken(reason, proof) {
  return (one) =>
    one.ours.ok &&
    !one.theirs.ok &&
    reason.test(one.theirs.reason) &&
    proof(one);
}

const known = {
  record: {
    'unsorted keys': refused(/keys out of order/, changed),
    float: refused(/float/, changed),
    undefined: refused(/simple value/, changed),
    'text is not UTF-8': refused(/not UTF-8/, changed),
    'link to no CID': refused(/without a CID/, changed),
    'nested too deep': refused(/too deep/, always),
    'too many elements': refused(/too many elements/, always),
    'map key too long': refused(/map key too long/, always),
    'record too large': refused(/record too large/, always),
    'key __proto__': (one) =>
      has(one, protoKey) &&
      ((one.ours.ok && one.theirs.ok && changed(one)) ||
        taken(/json object/, always)(one) ||
        refused(/key repeated/, changed)(one)),
    'byte order mark': (one) =>
      one.ours.ok && one.theirs.ok && changed(one) && has(one, byteOrderMark),
  },
  repo: {
    'shape of the tree': refused(
      /MST|keys do not grow|the prefix is/,
      ({ theirs }) => theirs.rebuilt !== theirs.data,
    ),
    'rev is no TID': refused(
      /wrong rev/,
      ({ theirs }) => !/^[2-7a-j][2-7a-z]{12}$/.test(theirs.object.rev),
    ),
    'rev in the future': refused(
      /in the future/,
      ({ theirs, given }) => microsOf(theirs.object.rev) > given.now + 3e8,
    ),
    // They make it version 3 before they check the signature.
    'version 2 under the signature of 3': refused(
      /wrong version/,
      ({ theirs }) => theirs.object.version === 2,
    ),
    'commit with a raw link': refused(
      /link of another form/,
      ({ theirs: { object } }) =>
        [object.data, object.prev].some((cid) => cid && cid.code !== 0x71),
    ),
    'commit keys unsorted': refused(
      /keys out of order/,
      ({ theirs }) => !theirs.canonical,
    ),
    'CAR header keys unsorted': refused(
      /keys out of order/,
      ({ payload, theirs }) =>
        theirs.canonical && !isCanonical(payload.subarray(1, 1 + payload[0])),
    ),
    'CAR length too long': refused(/malformed length/, ({ payload }) =>
      hasLongLength(payload),
    ),
    'two roots': taken(/Expected one root/, always),
    'unused block under another CID': taken(/Incorrect length/, always),
    'record under another CID': taken(/missing leaf blocks/, ({ ours }) =>
      ours.records.some(([, cid]) => !/^baf(yrei|krei)/.test(cid)),
    ),
    'unknown key in the commit': taken(/Invalid signature/, ({ what }) =>
      /unknown key/.test(what),
    ),
    'invalid path': taken(
      /Not a valid MST key/,
      ({ ours }) => ours.skipped > 0,
    ),
    'no NSID or record key': ({ ours, theirs }) => {
      if (!ours.ok || !theirs.ok || ours.skipped === 0) return false;
      const [odd, sound] = partition(theirs.records, ([path]) => isOdd(path));
      return odd.length === ours.skipped && same(sound, ours.records);
    },
  },
  commit: {
    'neighbouring node absent': refused(
      /MST node is not here/,
      ({ theirs }) => !theirs.covered,
    ),
  },
};

function always() {
  return true;
}

/** Their own encoder does not give the bytes back: no DAG-CBOR. */
function changed({ theirs }) {
  return !theirs.canonical;
}

function has({ payload }, text) {
  return Buffer.from(payload).includes(text);
}

function isOdd(path) {
  const [collection, rkey] = path.split('/');
  return !isValidNsid(collection) || !isValidRecordKey(rkey);
}

function partition(list, test) {
  return [list.filter(test), list.filter((one) => !test(one))];
}

function same(one, other) {
  return isDeepStrictEqual(one, [...other].sort(byPath));
}

function microsOf(tid) {
  const letters = '234567abcdefghijklmnopqrstuvwxyz';
  const value = [...tid].reduce(
    (sum, letter) => (sum << 5n) | BigInt(letters.indexOf(letter)),
    0n,
  );
  return Number(value >> 10n);
}

/** Whether some section's length has more bytes than it needs. */
function hasLongLength(car) {
  for (let at = 0; at < car.length; ) {
    let size = 0;
    let factor = 1;
    const start = at;
    for (; car[at] >= 128; factor *= 128) size += (car[at++] - 128) * factor;
    if (car[at] === 0 && at > start) return true;
    size += car[at++] * factor;
    at += size;
  }
  return false;
}

/** Whether both say the same, and found the same. */
function agrees({ kind, ours, theirs }) {
  if (ours.ok !== theirs.ok) return false;
  if (!ours.ok) return true;
  if (kind === 'record') {
    if (!theirs.canonical) return false;
    if (ours.hazard !== 'none') return true;
    return isDeepStrictEqual(JSON.parse(ours.json), theirs.json());
  }
  if (ours.commit !== theirs.commit || ours.data !== theirs.data) return false;
  if (kind === 'commit') return isDeepStrictEqual(ours.ops, theirs.ops);
  return theirs.rebuilt === theirs.data && same(theirs.records, ours.records);
}

/** '' when both agree, the names of known differences, or null. */
export function compare(one) {
  if (agrees(one)) return '';
  const names = Object.entries(known[one.kind])
    .filter(([, holds]) => holds(one))
    .map(([name]) => name);
  return names.length > 0 ? names.join(', ') : null;
}

export function differences() {
  return Object.values(known).flatMap((names) => Object.keys(names));
}
