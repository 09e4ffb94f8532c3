// Accounts change their handle, status and key, and end.
import assert from 'node:assert/strict';

import {
  caughtUp,
  downloads,
  identityEvent,
  isLive,
  nextAbout,
} from '../lib/expect.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';

export async function accountScenarios(run, world) {
  const { copy, network } = world;

  await run.test('a new handle is announced', async () => {
    const from = copy.events.length;
    await world.cat.rename('kat');
    const wanted = { handle: 'kat.test', status: 'active' };
    await identityEvent(world, world.cat, from, wanted);
    await inSync(world, world.cat);
  });

  await run.test('a handle that leads nowhere is not believed', async () => {
    const from = copy.events.length;
    network.resolver.hide('ghost.test');
    await world.cat.rename('ghost');
    await identityEvent(world, world.cat, from, { handle: 'handle.invalid' });
    await world.cat.rename('kate');
    await identityEvent(world, world.cat, from, { handle: 'kate.test' });
    await world.cat.note('still', 'here');
    await converged(world, world.cat);
    await inSync(world, world.cat);
  });

  await run.test('a deactivated account comes back as it was', async () => {
    const { dan } = world;
    const from = copy.events.length;
    const fetched = downloads(world, dan);
    await dan.deactivate();
    await identityEvent(world, dan, from, { status: 'deactivated' });
    await eventually('it is not called active', async () => {
      const info = await world.weir.info(dan.did);
      return info?.state !== 'active';
    });
    await dan.activate();
    await identityEvent(world, dan, from, { status: 'active' });
    await inSync(world, dan); // Else the look finds what is written next.
    await comesAlive(world, dan);
    // Commits may have been missed while it was away: one look, no event.
    assert.equal(downloads(world, dan), fetched + 1, 'fetched once');
  });

  await run.test('a taken down account comes back as it was', async () => {
    const { eve } = world;
    const from = copy.events.length;
    await eve.takeDown();
    await identityEvent(world, eve, from, { status: 'takendown' });
    await eve.restore();
    await identityEvent(world, eve, from, { status: 'active' });
    await inSync(world, eve);
    await comesAlive(world, eve);
  });

  await run.test('accounts that stay away are known to be away', async () => {
    const { ned, oto } = world;
    const from = copy.events.length;
    await ned.deactivate();
    await oto.takeDown();
    await identityEvent(world, ned, from, { status: 'deactivated' });
    await identityEvent(world, oto, from, { status: 'takendown' });
  });

  await run.test('a deleted account is gone', async () => {
    const from = copy.events.length;
    await world.fay.delete();
    await identityEvent(world, world.fay, from, { status: 'deleted' });
    assert.equal(copy.repo(world.fay.did).records.size, 0);
    await goneFrom(world, world.fay);
  });

  await run.test('a tombstoned DID is a deleted account', async () => {
    const from = copy.events.length;
    await world.kim.tombstone();
    await identityEvent(world, world.kim, from, { status: 'deleted' });
    await goneFrom(world, world.kim);
  });

  await run.test('a new key is taken up, without a new fetch', async () => {
    const { gus } = world;
    const fetched = downloads(world, gus);
    const before = (await gus.latest()).rev;
    await gus.host.rotateKey(gus.did);
    const after = (await gus.latest()).rev;
    assert(after > before, 'the host announces a revision without a commit');
    await inSync(world, gus);
    await comesAlive(world, gus);
    assert.equal(downloads(world, gus), fetched, 'nothing was fetched');
  });
}

/** The account's next write is one live event, and the copy is whole. */
async function comesAlive(world, account) {
  const from = world.copy.events.length;
  const written = await account.note('alive', `at ${from}`);
  const [event] = await nextAbout(world, account, from);
  isLive(event, account, 'create', written);
  await converged(world, account);
  await inSync(world, account);
}

async function goneFrom(world, account) {
  await eventually('the engine no longer calls it active', async () => {
    const info = await world.weir.info(account.did);
    return info?.state !== 'active';
  });
  const from = world.copy.events.length;
  await caughtUp(world, account.host);
  assert.deepEqual(world.copy.about(account.did, from), []);
}
