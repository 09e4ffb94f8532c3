// Chooses the suites, makes the scratch folder, and cleans up at the end.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { differential } from './cases/differential.mjs';
import { engine } from './cases/engine.mjs';
import { legacy } from './cases/legacy.mjs';
import { network } from './cases/network.mjs';
import { newcomer } from './cases/newcomer.mjs';
import { outage } from './cases/outage.mjs';
import { simnet } from './cases/simnet.mjs';
import { Network } from './lib/network.mjs';
import { Runner, seconds } from './lib/runner.mjs';
import { killAll } from './lib/weir.mjs';

const suites = {
  network,
  engine,
  outage,
  legacy,
  simnet,
  newcomer,
  differential,
};
const usual = [
  'engine',
  'outage',
  'legacy',
  'simnet',
  'newcomer',
  'differential',
];
const onNetwork = ['engine', 'outage', 'legacy'];

const names = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'weir-real-'));
process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => end(names[0] === 'serve' ? 0 : 1));
}

if (names[0] === 'serve') await serveForever();
else await end(await runSuites(names.length > 0 ? names : usual));

async function runSuites(chosen) {
  const unknown = chosen.filter((name) => !suites[name]);
  if (unknown.length > 0) {
    const known = Object.keys(suites).join(' ');
    console.error(`no such suite: ${unknown}; there are: ${known}`);
    return 2;
  }
  const run = new Runner();
  const world = { folder };
  if (chosen.some((name) => onNetwork.includes(name))) {
    const start = performance.now();
    world.network = await Network.start(folder);
    console.log(`network started in ${seconds(start)}`);
  }
  for (const name of chosen) await run.guard(() => suites[name](run, world));
  await world.network?.stop();
  return run.finish();
}

async function serveForever() {
  const started = await Network.start(folder);
  console.log(JSON.stringify(started.urls()));
}

async function end(code) {
  killAll();
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}
