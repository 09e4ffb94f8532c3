// Strangers judge the simulated network: the published libraries must accept
// every repository and every frame it serves.
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
import { Program } from '../lib/weir.mjs';

const frameCount = 200;
const reposPerHost = 5;
const flags = [
  ...['--seed', '1'],
  ...['--accounts', '50'],
  ...['--hosts', '2'],
  ...['--rate', '50'],
];

export async function simnet(run, { folder }) {
  run.suite('simnet: the simulated network before published libraries');
  const program = new Program(['simnet', ...flags], join(folder, 'simnet.log'));
  run.explain = () => program.tail();
  const started = await run.test('weir simnet starts and says so', async () => {
    const ready = await program.start();
    assert.equal(ready.accounts, 50);
    assert.equal(ready.pds.length, 2);
  });
  if (!started) return;
  const { pds, plc, relay } = program.ready;
  const resolver = resolverOf(plc);

  await run.test('@atproto/repo verifies its repositories', async () => {
    let accounts = 0;
    let records = 0;
    for (const base of pds) {
      const repos = (await listRepos(base)).filter(({ active }) => active);
      accounts += repos.length;
      for (const { did } of repos.slice(0, reposPerHost)) {
        records += await judgeRepo(base, did, resolver);
      }
    }
    assert.equal(accounts, 50);
    assert(records > 0, 'no records at all');
  });

  const streams = { 'a host': pds[0], 'the relay': relay };
  for (const [name, base] of Object.entries(streams)) {
    let frames;
    await run.test(`${name} streams ${frameCount} frames`, async () => {
      frames = await readFrames(base, frameCount);
      const seqs = frames.map(({ body }) => body.seq);
      assert(seqs.every((seq, n) => n === 0 || seq > seqs[n - 1]), 'seq grows');
    });
    if (!frames) continue;
    await run.test(`@atproto/sync verifies the frames of ${name}`, async () => {
      assert((await judgeFirehose(base, frames, resolver)) > 0);
    });
    await run.test(`@atproto/repo inverts the commits of ${name}`, async () => {
      assert((await judgeChain(frames)) > 0, 'nothing to invert');
    });
  }

  await run.test('SIGTERM ends it in time', () => program.stop());
  run.explain = () => '';
}
