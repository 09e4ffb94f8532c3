// The network itself, without the engine: every scenario runs on it, and the
// published libraries find nothing wrong with what it serves.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import {
  judgeChain,
  judgeFirehose,
  judgeRepo,
  listRepos,
  readFrames,
  resolverOf,
} from '../lib/judge.mjs';
import { migrate } from '../lib/migration.mjs';
import { Network } from '../lib/network.mjs';
import { xrpc } from '../lib/xrpc.mjs';

const statusOf = 'com.atproto.sync.getRepoStatus';

export async function network(run, { folder }) {
  run.suite('network: the published servers alone');
  const net = await Network.start(join(folder, 'alone'));
  const resolver = resolverOf(net.plc.url);
  let amy;
  let ben;

  await run.test('records come and go, one by one and in batches', async () => {
    [amy, ben] = await Promise.all([net.open('amy', 0), net.open('ben', 1)]);
    const { path, cid } = await amy.post('hello');
    assert.equal((await amy.records()).get(path).cid, cid);
    await amy.remove(path);
    const rkeys = Array.from({ length: 150 }, (_, n) => `n${n}`);
    const action = 'create';
    await ben.batch(rkeys.map((rkey) => ({ action, rkey, text: rkey })));
    const part = (name, from, to) =>
      rkeys.slice(from, to).map((rkey) => ({ action: name, rkey, text: 'x' }));
    await ben.batch([...part('delete', 0, 40), ...part('update', 40, 70)]);
    assert.equal((await amy.records()).size, 0);
    assert.equal((await ben.records()).size, 110);
  });

  for (const legacy of [false, true]) {
    const form = legacy ? 'old' : 'new';
    await run.test(`the libraries accept it, ${form} documents`, async () => {
      net.plc.legacy = legacy;
      for (const host of net.hosts) {
        const frames = await readFrames(host.url, 6);
        await judgeFirehose(host.url, frames, resolver);
        assert.equal(await judgeChain(frames), 2);
        for (const { did } of await listRepos(host.url)) {
          await judgeRepo(host.url, did, resolver);
        }
      }
      net.plc.legacy = false;
    });
  }

  await run.test('statuses, handles and keys change', async () => {
    await ben.rename('benny');
    assert.equal(await net.resolver.ask('benny.test'), ben.did);
    assert.equal(await net.resolver.ask('ben.test'), undefined);
    await ben.deactivate();
    assert.equal(await statusAt(ben), 'deactivated');
    await ben.activate();
    await ben.takeDown();
    assert.equal(await statusAt(ben), 'takendown');
    await ben.restore();
    const key = await ben.host.rotateKey(ben.did);
    assert.equal(await resolver.did.resolveAtprotoKey(ben.did, true), key);
    await judgeRepo(ben.host.url, ben.did, resolver);
    await ben.delete();
    await assert.rejects(statusAt(ben), { error: 'RepoNotFound' });
  });

  await run.test('an account moves to the other host', async () => {
    const records = await amy.records();
    let ghost;
    await migrate(amy, net.hosts[1], async (old) => {
      ghost = await old.note('ghost', 'behind');
    });
    assert(ghost.cid);
    assert.deepEqual(await amy.records(), records);
    const document = await net.plc.document(amy.did);
    assert.equal(document.service[0].serviceEndpoint, net.hosts[1].url);
    await amy.note('arrived', 'here');
    await judgeRepo(amy.host.url, amy.did, resolver);
  });

  await run.test('a host comes back, a DID does not', async () => {
    await net.hosts[1].stop();
    await net.hosts[1].start();
    await amy.note('again', 'here');
    await amy.tombstone();
    assert.equal(await net.plc.document(amy.did), null);
  });

  await net.stop();
}

async function statusAt(account) {
  const params = { did: account.did };
  return (await xrpc(account.host.url, statusOf, { params })).status;
}
