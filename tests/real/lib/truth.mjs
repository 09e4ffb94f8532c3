// The last word: what a copy holds against what the account's host lists.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

import { eventually } from './wait.mjs';

/**
 * What is different, one line each. A record may lack its value only at the
 * paths in `bare` (values the client would refuse).
 */
export function differences(repo, records, bare = new Set()) {
  const lines = [];
  for (const [path, { cid, value }] of records) {
    const copied = repo.records.get(path);
    if (!copied) lines.push(`${path} is missing`);
    else if (copied.cid !== cid) lines.push(`${path} is ${copied.cid}`);
    else if (copied.value === undefined && bare.has(path)) continue;
    else if (!isDeepStrictEqual(copied.value, value)) {
      lines.push(`${path} holds ${JSON.stringify(copied.value)}`);
    }
  }
  for (const path of repo.records.keys()) {
    if (!records.has(path)) lines.push(`${path} should not be there`);
  }
  return lines;
}

/** Waits until the copy of an account that nobody writes to equals its host. */
export async function converged({ copy }, account, bare) {
  const records = await account.records();
  const repo = copy.repo(account.did);
  const same = () => differences(repo, records, bare).length === 0;
  await copy.until(`${account.handle} equals its host`, same).catch((error) => {
    const lines = differences(repo, records, bare);
    throw new Error(
      `${account.handle} has ${lines.length} differences, the first: ` +
        lines.slice(0, 5).join('; '),
      { cause: error },
    );
  });
  return records;
}

// An event that its host has sent may be on its way for this long.
const onItsWayMs = 10_000;

/**
 * Waits until the engine calls the copy complete, as its host has it. Nobody
 * writes meanwhile, so to call it complete in another state is a false claim,
 * also when it becomes right later.
 */
export async function inSync({ weir }, account) {
  const [{ rev }, records] = await Promise.all([
    account.latest(),
    account.records(),
  ]);
  const wanted = {
    did: account.did,
    handle: account.handle,
    state: 'active',
    rev,
    records: records.size,
    complete: true,
  };
  let last;
  let claimed; // Since when it is called complete and is not.
  let lie;
  await eventually(`${account.handle} is in sync`, async () => {
    const info = await weir.info(account.did);
    last = info && pick(info, wanted);
    claimed = isFalse(last, wanted) ? (claimed ?? Date.now()) : undefined;
    if (claimed && Date.now() - claimed >= onItsWayMs) lie ??= last;
    return isDeepStrictEqual(last, wanted);
  }).catch(async (error) => {
    const path = `/v1/repos/${account.did}/completeness`;
    console.log(JSON.stringify(await weir.get(path)));
    assert.deepEqual(last, wanted, error.message);
    throw error;
  });
  assert.equal(lie, undefined, `${account.handle} was called complete`);
}

function isFalse(info, wanted) {
  return (
    info?.complete === true &&
    (info.rev !== wanted.rev || info.records !== wanted.records)
  );
}

function pick(from, like) {
  return Object.fromEntries(Object.keys(like).map((key) => [key, from[key]]));
}
