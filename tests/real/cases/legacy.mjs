// DID documents in the old form, which did:web documents may still have. A
// second engine with empty hands finds every account of the network by itself.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { Copy } from '../lib/copy.mjs';
import { isLive, nextAbout } from '../lib/expect.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { Weir } from '../lib/weir.mjs';

export async function legacy(run, { folder, network }) {
  run.suite('legacy: old DID documents, full network');
  network.plc.legacy = true;
  if (network.accounts.length === 0) await people(network);
  const world = { network };

  const started = await run.test('weir starts on a port it chose', async () => {
    const data = join(folder, 'legacy');
    world.weir = new Weir(network, { folder: data, mode: 'full-network' });
    run.explain = () => world.weir.tail();
    await world.weir.start();
    assert.notEqual(new URL(world.weir.url).port, '0');
  });
  if (!started) return;
  world.copy = new Copy(world.weir.url);
  const { copy } = world;

  await run.test('every active account is found and whole', async () => {
    for (const account of network.accounts.filter(({ active }) => active)) {
      await converged(world, account);
      await inSync(world, account);
    }
  });

  await run.test('nothing of the other accounts is handed out', () => {
    for (const account of network.accounts.filter(({ active }) => !active)) {
      assert.equal(copy.repo(account.did).records.size, 0, account.handle);
    }
  });

  await run.test('a new account is found, its writes are live', async () => {
    const pia = await network.open('pia', 1);
    await inSync(world, pia);
    const create = copy.events.length;
    const written = await pia.note('first', 'one');
    await copy.until('the create', () =>
      copy.about(pia.did, create).some(({ cid }) => cid === written.cid),
    );
    const update = copy.events.length;
    const changed = await pia.put(written.path, { text: 'two' });
    isLive((await nextAbout(world, pia, update))[0], pia, 'update', changed);
    const end = copy.events.length;
    const removed = await pia.remove(written.path);
    isLive((await nextAbout(world, pia, end))[0], pia, 'delete', removed);
    await converged(world, pia);
    await inSync(world, pia);
  });

  await run.test('a new key in the old form is taken up', async () => {
    const [account] = network.accounts.filter(({ active }) => active);
    await account.host.rotateKey(account.did);
    await account.note('rekeyed', 'in the old form');
    await converged(world, account);
    await inSync(world, account);
  });

  await run.test('no rule was broken on the way', () => {
    assert.deepEqual(copy.breaches, []);
    assert.equal(copy.ended, undefined);
  });

  await copy.stop();
  await run.test('SIGTERM ends it in time', () => world.weir.stop());
  run.explain = () => '';
  network.plc.legacy = false;
}

/** Something to find when this suite runs alone. */
async function people(network) {
  for (const [name, host] of [['ula', 0], ['vic', 1]]) {
    const account = await network.open(name, host);
    for (const rkey of ['a', 'b']) await account.note(rkey, name);
  }
  const [, vic] = network.accounts;
  await vic.deactivate();
}
