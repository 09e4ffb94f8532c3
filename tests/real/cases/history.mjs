// Accounts that existed before the engine knew of them.
import assert from 'node:assert/strict';

import { caughtUp } from '../lib/expect.mjs';
import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';

/** name -> number of the host it starts on. */
const people = {
  ann: 0, // single writes
  bob: 1, // batches
  cat: 0, // handle changes
  dan: 1, // deactivation and back
  eve: 0, // takedown and back
  fay: 1, // deletion
  gus: 0, // key rotation
  hal: 0, // migration
  ivy: 1, // every record removed
  jon: 0, // unusual records
  kim: 1, // tombstone
  lea: 0, // no longer wanted
  mia: 1, // no records at first
  ned: 0, // deactivated for good
  oto: 1, // taken down for good
  zoe: 0, // bystanders: prove that a host's stream was read
  zac: 1,
};

export async function historyScenarios(run, world) {
  const { network } = world;
  world.bystanders = new Map();

  await run.test('history arrives for every repository added', async () => {
    for (const [name, host] of Object.entries(people)) {
      world[name] = await network.open(name, host);
      if (name !== 'mia') await beginHistory(world[name], name);
    }
    world.bystanders.set(network.hosts[0], world.zoe);
    world.bystanders.set(network.hosts[1], world.zac);
    const dids = network.accounts.map(({ did }) => did);
    const answer = await world.weir.post('/repos/add', { dids });
    assert.deepEqual(answer, { queued: dids.length });
    for (const account of network.accounts) {
      await converged(world, account);
      await inSync(world, account);
    }
  });

  await run.test('history is not called live', () => {
    const { events } = world.copy;
    const records = events.filter(({ type }) => type === 'record');
    assert.equal(records.length, (network.accounts.length - 1) * 4);
    assert.deepEqual(records.filter(({ live }) => live), []);
  });

  await run.test('each account is introduced by its identity', async () => {
    for (const { did, handle } of network.accounts) {
      await world.copy.until(`the identity of ${handle}`, () => {
        const repo = world.copy.repo(did);
        return repo.handle === handle && repo.status === 'active';
      });
    }
  });

  await run.test('the client can ask about a repository', async () => {
    const { copy, ann, weir } = world;
    const info = await copy.tap.getRepoInfo(ann.did);
    assert.equal(info.state, 'active');
    const document = await copy.tap.resolveDid(ann.did);
    const { id, alsoKnownAs } = await network.plc.document(ann.did);
    assert.deepEqual(
      [document.id, document.alsoKnownAs],
      [id, alsoKnownAs],
    );
    const nobody = `did:plc:${'a'.repeat(24)}`;
    assert.equal(await copy.tap.resolveDid(nobody), null);
    assert.equal(await weir.info(nobody), null);
    const { repo_count } = await weir.get('/stats/repo-count');
    assert.equal(repo_count, network.accounts.length);
  });

  await run.test('adding a repository again changes nothing', async () => {
    const { copy, ann, network: net } = world;
    const from = copy.events.length;
    await copy.tap.addRepos([ann.did]);
    for (const host of net.hosts) await caughtUp(world, host);
    assert.deepEqual(copy.about(ann.did, from), []);
  });

  await run.test('everything is acknowledged', () =>
    eventually(
      'nothing left to acknowledge',
      async () => (await world.weir.unacknowledged()) === 0,
    ),
  );
}

/** Four records in two collections, two commits. */
async function beginHistory(account, name) {
  await account.post(`${name} was here before`);
  await account.batch(
    ['a', 'b', 'c'].map((rkey) => ({ action: 'create', rkey, text: name })),
  );
}
