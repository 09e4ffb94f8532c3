// The last word on everything that happened.
import assert from 'node:assert/strict';

import { converged, inSync } from '../lib/truth.mjs';
import { eventually } from '../lib/wait.mjs';

export async function finalScenarios(run, world) {
  const { copy, network, weir } = world;

  await run.test('every active account equals its host', async () => {
    for (const account of network.accounts.filter(({ active }) => active)) {
      await converged(world, account);
      await inSync(world, account);
      const repo = copy.repo(account.did);
      assert.deepEqual([repo.handle, repo.active], [account.handle, true]);
    }
  });

  await run.test('every other account has the right status', () => {
    for (const account of network.accounts.filter(({ active }) => !active)) {
      const { active, status } = copy.repo(account.did);
      assert.deepEqual(
        { handle: account.handle, active, status },
        { handle: account.handle, active: false, status: account.status },
      );
    }
  });

  await run.test('the list of repositories says the same', async () => {
    const { repos } = await weir.get('/repos');
    const statuses = new Map(repos.map(({ did, status }) => [did, status]));
    for (const account of network.accounts.filter(({ active }) => active)) {
      assert.equal(statuses.get(account.did), 'synced', account.handle);
      const repo = await weir.get(`/repos/${account.did}`);
      assert.equal(repo.status, 'synced');
      assert.equal(repo.record_count, copy.repo(account.did).records.size);
    }
  });

  await run.test('the count says that every active one is complete', async () => {
    const active = network.accounts.filter((account) => account.active);
    await eventually('all are counted as complete', async () => {
      const count = await weir.get('/v1/completeness');
      return count.active === active.length && count.complete === active.length;
    });
    const { hosts } = await weir.get('/v1/completeness');
    assert.deepEqual(
      hosts.map(({ host }) => host).sort(),
      [...new Set(active.map(({ host }) => host.url))].sort(),
    );
  });

  await run.test('no rule was broken on the way', () => {
    assert.deepEqual(copy.breaches, []);
    assert.equal(copy.ended, undefined);
  });
}
