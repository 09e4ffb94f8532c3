// What several scenarios expect of the engine.
import assert from 'node:assert/strict';

import { lexToJson } from '@atproto/lex';

/** Waits for the next `count` events about the account since `from`. */
export async function nextAbout({ copy }, account, from, count = 1) {
  const what = `${count} events about ${account.handle}`;
  const { did } = account;
  await copy.until(what, () => copy.about(did, from).length >= count);
  return copy.about(did, from);
}

/** The event of one live write must say exactly what was written. */
export function isLive(event, account, action, written) {
  const [collection, rkey] = written.path.split('/');
  const { id, record, ...rest } = event;
  assert(Number.isSafeInteger(id) && id >= 0, `id ${id}`);
  assert.deepEqual(rest, {
    type: 'record',
    did: account.did,
    rev: written.rev,
    collection,
    rkey,
    action,
    cid: written.cid,
    live: true,
  });
  assert.deepEqual(record && lexToJson(record), written.record);
}

/** Waits for an identity event with these fields; returns it. */
export function identityEvent({ copy }, account, from, wanted) {
  const fits = (event) =>
    event.type === 'identity' &&
    Object.keys(wanted).every((key) => event[key] === wanted[key]);
  const what = `${account.handle} ${JSON.stringify(wanted)}`;
  return copy.until(what, () => copy.about(account.did, from).find(fits));
}

let beacons = 0;

/**
 * Has a bystander on the host write, and waits until that has come through:
 * then the engine has also read everything the host said before.
 */
export async function caughtUp(world, host) {
  const bystander = world.bystanders.get(host);
  beacons += 1;
  const { rev } = await bystander.note(`beacon${beacons}`, 'here');
  await world.copy.until(`the beacon of ${host.url}`, () =>
    world.copy.about(bystander.did).some((event) => event.rev === rev),
  );
}

/** How often the engine fetched the account's repository, from any host. */
export function downloads({ network }, { did }) {
  return network.hosts.reduce((sum, host) => sum + host.downloads(did), 0);
}
