// Connections break, hosts restart, the engine is stopped and killed.
import assert from 'node:assert/strict';

import { caughtUp } from '../lib/expect.mjs';
import { Traffic } from '../lib/traffic.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';

export async function faultScenarios(run, world) {
  const { copy, network, weir } = world;
  const busy = [world.ann, world.bob, world.gus, world.hal];

  const settled = async () => {
    for (const account of busy) {
      await converged(world, account);
      await inSync(world, account);
    }
    await eventually('nothing left to acknowledge', async () => {
      return (await weir.unacknowledged()) === 0;
    });
  };

  await run.test('a cut stream loses nothing', async () => {
    const traffic = new Traffic(busy);
    for (const host of network.hosts) {
      await someEvents(copy, 10);
      assert(host.drop() > 0, 'the engine had a stream open');
    }
    await someEvents(copy, 10);
    await traffic.stop();
    await settled();
  });

  await run.test('a restarted host loses nothing', async () => {
    for (const host of network.hosts) {
      await host.stop();
      await host.start();
      await caughtUp(world, host);
    }
    await settled();
  });

  await run.test('kill -9 in the middle of traffic loses nothing', async () => {
    await settled();
    const before = new Set(copy.acked);
    const traffic = new Traffic(busy);
    for (let round = 0; round < 3; round += 1) {
      await someEvents(copy, 40);
      await weir.kill();
      await traffic.writes(10);
      await weir.start();
    }
    // The client found its way back by itself.
    await someEvents(copy, 40);
    await traffic.stop();
    await settled();
    assert.deepEqual(copy.again.filter(({ id }) => before.has(id)), []);
    assert.deepEqual(copy.breaches, []);
  });

  await run.test('after SIGTERM nothing acknowledged comes again', async () => {
    await settled();
    const again = copy.again.length;
    const from = copy.events.length;
    await weir.stop();
    await weir.start();
    for (const host of network.hosts) await caughtUp(world, host);
    await settled();
    assert.deepEqual(copy.again.slice(again), []);
    const beacons = [...world.bystanders.values()].map(({ did }) => did);
    const others = copy.events
      .slice(from)
      .filter(({ did }) => !beacons.includes(did));
    assert.deepEqual(others, []);
  });

  await run.test('what is written meanwhile arrives after it', async () => {
    await weir.stop();
    await world.ann.note('meanwhile', 'nobody listened');
    await world.bob.batch([{ action: 'create', rkey: 'mean', text: 'while' }]);
    await weir.start();
    await settled();
  });
}

/** Waits until `count` more records have come. */
function someEvents(copy, count) {
  const wanted = copy.events.length + count;
  return copy.until(`${count} more`, () => copy.events.length >= wanted);
}
