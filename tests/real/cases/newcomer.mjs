// The steps of tests/newcomer that need what others made: the application of
// docs/api.md with the published client, and the proxy of docs/operations.md.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../newcomer', import.meta.url));
const stepMs = 300_000;

export async function newcomer(run) {
  run.suite('newcomer: the application and the proxy of the documents');
  for (const step of ['application', 'lose_a_table', 'proxy']) {
    await run.test(step, () => runStep(step));
  }
}

async function runStep(step) {
  const modules = join(process.env.WEIR_REAL_MODULES, 'node_modules');
  const env = {
    ...process.env,
    NEWCOMER_MODULES: modules,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { promise, resolve } = Promise.withResolvers();
  execFile(
    'python3',
    [join(folder, `${step}.py`)],
    { env, timeout: stepMs },
    (error, stdout, stderr) => resolve({ error, text: stdout + stderr }),
  );
  const { error, text } = await promise;
  assert.equal(error, null, text);
  assert.match(text, /: ok$/m);
}
