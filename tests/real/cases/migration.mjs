// An account moves from one host to the other. The new host then sends a #sync
// that does not hold: a fresh revision around the imported commit, signed by
// the account's old key. The engine must drop it and change nothing.
import assert from 'node:assert/strict';

import { caughtUp, downloads, isLive, nextAbout } from '../lib/expect.mjs';
import { migrate } from '../lib/migration.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';

export async function migrationScenarios(run, world) {
  const { copy, hal, network, weir } = world;
  const [oldHost, newHost] = network.hosts;
  let from;
  let fetched;
  let rev;

  const unchanged = async () => {
    const info = await weir.info(hal.did);
    assert.equal(info.state, 'active');
    assert.equal(info.rev, rev);
    assert.equal(downloads(world, hal), fetched, 'downloads');
    const bad = copy
      .about(hal.did, from)
      .filter((event) => event.type === 'record' || !event.isActive);
    assert.deepEqual(bad, []);
  };

  await run.test('the old host has no say after a migration', async () => {
    from = copy.events.length;
    fetched = downloads(world, hal);
    rev = (await hal.latest()).rev;
    await migrate(hal, newHost, async (old) => {
      await caughtUp(world, newHost);
      await eventually('the engine knows the new host', async () => {
        const document = await weir.get(`/resolve/${hal.did}`);
        return document.service[0].serviceEndpoint === newHost.url;
      });
      await old.note('ghost', 'written on the old host');
      await caughtUp(world, oldHost);
      await unchanged();
    });
    await caughtUp(world, oldHost);
    await unchanged();
  });

  await run.test('the invalid #sync changes nothing', async () => {
    assert((await hal.latest()).rev > rev, 'the host names a fresh revision');
    await caughtUp(world, newHost);
    await unchanged();
  });

  await run.test('the next commit follows from what was there', async () => {
    const start = copy.events.length;
    const written = await hal.note('arrived', 'on the new host');
    const [event] = await nextAbout(world, hal, start);
    isLive(event, hal, 'create', written);
    assert.equal(downloads(world, hal), fetched, 'downloads');
    await converged(world, hal);
    await inSync(world, hal);
  });
}
