// One engine follows two real hosts through all scenarios, while the official
// client builds a copy; at the end the copy must equal the hosts.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { Copy } from '../lib/copy.mjs';
import { freePort } from '../lib/wait.mjs';
import { Weir } from '../lib/weir.mjs';
import { accountScenarios } from './accounts.mjs';
import { faultScenarios } from './faults.mjs';
import { finalScenarios } from './final.mjs';
import { historyScenarios } from './history.mjs';
import { migrationScenarios } from './migration.mjs';
import { recordScenarios } from './records.mjs';

export async function engine(run, world) {
  run.suite('engine: weir between two real hosts and the official client');
  const { network } = world;
  const started = await run.test('weir starts and says so', async () => {
    // A port that stays, so that clients find the engine again.
    const port = await freePort();
    // A tombstone counts when the directory named it twice, so far apart.
    const more = ['--gone-grace', '5s'];
    const folder = join(world.folder, 'd');
    world.weir = new Weir(network, { folder, port, more });
    run.explain = () => world.weir.tail();
    const ready = await world.weir.start();
    assert.equal(ready.data, `http://127.0.0.1:${port}`);
    assert.match(ready.operations, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(typeof ready.version, 'string');
    assert.equal((await world.weir.get('/health')).status, 'ok');
  });
  if (!started) return;
  world.copy = new Copy(world.weir.url);
  await historyScenarios(run, world);
  await recordScenarios(run, world);
  await accountScenarios(run, world);
  await migrationScenarios(run, world);
  await faultScenarios(run, world);
  await finalScenarios(run, world);
  await world.copy.stop();
  await run.test('SIGTERM ends it in time', () => world.weir.stop());
  run.explain = () => '';
}
