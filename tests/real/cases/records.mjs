// Records come, change and go.
import assert from 'node:assert/strict';

import { caughtUp, isLive, nextAbout } from '../lib/expect.mjs';
import { converged, inSync } from '../lib/truth.mjs';

const oddType = 'com.example.odd';

export async function recordScenarios(run, world) {
  const { copy, network } = world;

  await run.test('a create is one live event', async () => {
    const from = copy.events.length;
    world.written = await world.ann.post('live');
    const events = await nextAbout(world, world.ann, from);
    assert.equal(events.length, 1);
    isLive(events[0], world.ann, 'create', world.written);
  });

  await run.test('an update is one live event', async () => {
    const from = copy.events.length;
    const text = { text: 'changed', createdAt: new Date().toISOString() };
    const written = await world.ann.put(world.written.path, text);
    const events = await nextAbout(world, world.ann, from);
    assert.equal(events.length, 1);
    isLive(events[0], world.ann, 'update', written);
  });

  await run.test('a delete is one live event', async () => {
    const from = copy.events.length;
    const written = await world.ann.remove(world.written.path);
    const events = await nextAbout(world, world.ann, from);
    assert.equal(events.length, 1);
    isLive(events[0], world.ann, 'delete', written);
    await converged(world, world.ann);
    await inSync(world, world.ann);
  });

  await run.test('150 creates in one commit', async () => {
    const from = copy.events.length;
    const { rev } = await world.bob.batch(changes('create', 0, 150));
    const events = await nextAbout(world, world.bob, from, 150);
    assert.deepEqual(tally(events), { [`create ${rev} live`]: 150 });
    await converged(world, world.bob);
  });

  await run.test('deletes, updates and creates in one commit', async () => {
    const from = copy.events.length;
    const { rev } = await world.bob.batch([
      ...changes('delete', 0, 40),
      ...changes('update', 40, 70),
      ...changes('create', 150, 160),
    ]);
    const events = await nextAbout(world, world.bob, from, 80);
    assert.deepEqual(tally(events), {
      [`delete ${rev} live`]: 40,
      [`update ${rev} live`]: 30,
      [`create ${rev} live`]: 10,
    });
    await converged(world, world.bob);
    await inSync(world, world.bob);
  });

  await run.test('the last record of an account goes', async () => {
    const paths = [...(await world.ivy.records()).keys()];
    for (const path of paths) await world.ivy.remove(path);
    await converged(world, world.ivy);
    assert.equal(copy.repo(world.ivy.did).records.size, 0);
    await inSync(world, world.ivy);
    await world.ivy.note('first', 'again');
    await converged(world, world.ivy);
  });

  await run.test('the first record of an empty account comes', async () => {
    const from = copy.events.length;
    const written = await world.mia.note('first', 'ever');
    const [event] = await nextAbout(world, world.mia, from);
    isLive(event, world.mia, 'create', written);
    await inSync(world, world.mia);
  });

  await run.test('unusual values arrive as they are', async () => {
    const values = await unusual(world.jon);
    for (const [name, value] of Object.entries(values)) {
      await world.jon.create(oddType, value, name);
    }
    // The client must get these; it refuses none of them.
    await converged(world, world.jon);
    await inSync(world, world.jon);
  });

  await run.test('a put of the same value says nothing', async () => {
    const from = copy.events.length;
    await world.jon.put(`${oddType}/same`, { text: 'same' });
    await world.jon.put(`${oddType}/same`, { text: 'same' });
    const last = await world.jon.note('after', 'it');
    await copy.until('the next record', () =>
      copy.about(world.jon.did, from).some(({ cid }) => cid === last.cid),
    );
    assert.equal(copy.about(world.jon.did, from).length, 2);
  });

  await run.test('a removed repository is no longer followed', async () => {
    const { lea } = world;
    await copy.tap.removeRepos([lea.did]);
    const from = copy.events.length;
    await lea.note('unseen', 'by the client');
    await caughtUp(world, lea.host);
    const records = copy
      .about(lea.did, from)
      .filter(({ type }) => type === 'record');
    assert.deepEqual(records, []);
    assert.equal(await world.weir.info(lea.did), null);
    network.accounts.splice(network.accounts.indexOf(lea), 1);
  });
}

function changes(action, from, to) {
  return Array.from({ length: to - from }, (_, n) => ({
    action,
    rkey: `note${from + n}`,
    text: `${action} ${from + n}`,
  }));
}

function tally(events) {
  const counts = {};
  for (const { action, rev, live } of events) {
    const key = `${action} ${rev} ${live ? 'live' : 'history'}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** Values that a careless encoder gets wrong, by record key. */
async function unusual(account) {
  const { blob } = await account.call('com.atproto.repo.uploadBlob', {
    bytes: new TextEncoder().encode('a blob'),
    type: 'text/plain',
  });
  return {
    blob: { blob },
    bytes: { bytes: { $bytes: 'AAECA/8' }, none: { $bytes: '' } },
    link: { link: { $link: blob.ref.$link } },
    numbers: { all: [0, -1, 23, 24, -25, 65536, 2 ** 53 - 1, 1 - 2 ** 53] },
    text: { text: '"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028 é 漢 \u{1f600} </x>' },
    nothing: { null: null, true: true, false: false, list: [], map: {} },
    keys: { 'a"b': 1, 'é': 2, 'a b': 3, long: { ['k'.repeat(300)]: 4 } },
    nested: { deep: nest(16) },
    big: { text: 'x'.repeat(100_000) },
    'a.b-c_d:e~f': { text: 'every kind of character a record key can have' },
  };
}

function nest(depth) {
  return depth === 0 ? 'bottom' : { in: [nest(depth - 1)] };
}
