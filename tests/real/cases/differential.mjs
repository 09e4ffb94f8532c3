// Random repositories, records and commits, sound and broken, through us and
// through the published libraries: same roots, same lists, same verdicts, or a
// difference that docs/differential.md names.
//
// CASES  how many (500)
// SEED   of the first (1)
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

import { compare, differences } from '../lib/differences.mjs';
import { judges } from '../lib/strangers.mjs';

const { CASES = '500', SEED = '1', WEIR_DIFFERENTIAL: program } = process.env;
const shownBytes = 1024;

export async function differential(run) {
  run.suite('differential: the same bytes before published libraries and us');
  await run.test('each known difference is there, and no more', async () => {
    const seen = new Set();
    for await (const one of cases(['pinned'])) {
      const name = compare(one);
      assert(name === one.pins, `it shows: ${name}\n${describe(one)}`);
      seen.add(name);
    }
    assert.deepEqual(
      differences().filter((name) => !seen.has(name)),
      [],
      'differences without a case',
    );
  });
  await run.test(`${CASES} random cases of seed ${SEED}`, async () => {
    const counts = new Map();
    for await (const one of cases([SEED, '0', CASES])) {
      const name = compare(one);
      assert(name !== null, `unknown difference\n${describe(one)}`);
      const verdict = one.ours.ok ? 'taken by both' : 'refused by both';
      const key = `${one.kind}: ${name || verdict}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
    assert.equal(total, Number(CASES));
    for (const [key, count] of [...counts].sort()) {
      console.log(`        ${String(count).padStart(6)}  ${key}`);
    }
  });
}

/** The cases the program writes, each with both verdicts. */
async function* cases(args) {
  assert(existsSync(program), `${program} is not built: make check-real`);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    let about;
    for await (const piece of pieces(child.stdout)) {
      if (about) {
        // A copy: the libraries take a Buffer for something else.
        const one = { ...about, payload: new Uint8Array(piece) };
        one.theirs = await judges[one.kind](one);
        yield one;
        about = undefined;
      } else {
        about = JSON.parse(piece);
      }
    }
    assert.deepEqual(await ended, [0, null], 'how the program ended');
  } finally {
    child.kill();
  }
}

/** Strings behind their length, four bytes with the lowest first. */
async function* pieces(stream) {
  let rest = Buffer.alloc(0);
  let chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    const wanted = rest.length >= 4 ? 4 + rest.readUInt32LE() : 0;
    if (rest.length + size < wanted) continue;
    rest = Buffer.concat([rest, ...chunks]);
    chunks = [];
    size = 0;
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE()) {
      const end = 4 + rest.readUInt32LE();
      yield rest.subarray(4, end);
      rest = rest.subarray(end);
    }
  }
  assert.equal(rest.length + size, 0, 'the program broke off');
}

function describe({ payload, ...one }) {
  const text = JSON.stringify(one, (_, x) =>
    typeof x === 'bigint' ? `${x}` : x,
  );
  const hex = Buffer.from(payload).toString('hex', 0, shownBytes);
  return (
    `differential ${SEED} ${one.number} 1 writes this case\n` +
    `${text.slice(0, shownBytes)}\n${payload.length} bytes: ${hex}`
  );
}
