// The directory is away while keys, handles and hosts change. When it is back
// everything converges, and nobody has to say anything more: neither the
// accounts, nor a listing of their hosts.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { Copy } from '../lib/copy.mjs';
import { migrate } from '../lib/migration.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';
import { Weir } from '../lib/weir.mjs';

const listings = 'weir_listing_finished_total';

/** What was listed once is not listed again within the test. */
const unlisted = [
  ...['--listing-interval', '24h'],
  ...['--listing-grace', '1h'],
  ...['--listing-requests-per-hour', '1'],
];

export async function outage(run, { folder, network }) {
  run.suite('outage: the directory is away at the wrong time');
  const { hosts, plc } = network;
  const world = { network };
  const data = join(folder, 'outage');
  world.weir = new Weir(network, { folder: data, more: unlisted });
  run.explain = () => world.weir.tail();
  await world.weir.start();
  world.copy = new Copy(world.weir.url);
  const listed = () => world.weir.metric(listings);
  await run.test('each host is listed once, at the start', () =>
    eventually('the listings', async () => (await listed()) >= hosts.length),
  );
  const before = await listed();

  for (const kind of ['unavailable', 'closed', 'silent']) {
    await run.test(`a directory that is ${kind}`, async () => {
      const people = {};
      for (const name of ['key', 'name', 'move']) {
        people[name] = await network.open(`${name}-${kind}`, 0);
        await people[name].note('before', 'the directory answers');
      }
      const all = Object.values(people);
      const dids = all.map(({ did }) => did);
      await world.weir.post('/repos/add', { dids });
      for (const account of all) {
        await converged(world, account);
        await inSync(world, account);
      }
      plc.hit = 0;
      plc.outage = kind;
      await people.key.host.rotateKey(people.key.did);
      await people.key.note('rotated', 'with the new key');
      await people.name.rename(`new-${kind}`);
      await people.name.note('renamed', 'under another name');
      await migrate(people.move, hosts[1], () => {});
      await people.move.note('moved', 'on the new host');
      await eventually('the engine asked in vain', () => plc.hit > 0);
      plc.outage = undefined;
      for (const account of all) {
        await converged(world, account);
        await inSync(world, account);
      }
      assert.deepEqual(world.copy.breaches, []);
      assert.equal(await listed(), before, 'a listing may have mended it');
    });
    plc.outage = undefined;
  }
  await world.copy.stop();
  await run.test('SIGTERM ends it in time', () => world.weir.stop());
  run.explain = () => '';
}
