// The program under test: started, asked, stopped and killed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { within } from './wait.mjs';

const startMs = 60_000;
const drainMs = 10_000;

/** Every process started here and not yet ended. */
const running = new Set();

export function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

export class Program {
  #arguments;
  #child;

  /** `log` is a file for what the program says on stderr. */
  constructor(args, log) {
    this.#arguments = args;
    this.log = log;
  }

  /** Starts it; returns the JSON line it prints when it is ready. */
  async start() {
    const { WEIR_BIN } = process.env;
    assert(existsSync(WEIR_BIN), `${WEIR_BIN} is not built: run make first`);
    const log = openSync(this.log, 'a');
    const child = spawn(WEIR_BIN, this.#arguments, {
      stdio: ['ignore', 'pipe', log],
      env: withoutSettings(process.env),
    });
    closeSync(log);
    this.#child = child;
    running.add(child);
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        resolve({ code, signal });
      });
      child.once('error', (error) => resolve({ error }));
    });
    this.ready = await within('the ready line', startMs, this.#firstLine());
    return this.ready;
  }

  /** SIGTERM; it must drain and exit with 0 in time. */
  async stop() {
    this.#child.kill('SIGTERM');
    const end = await within('exit after SIGTERM', drainMs, this.ended);
    assert.deepEqual(end, { code: 0, signal: null });
  }

  /** kill -9. */
  async kill() {
    this.#child.kill('SIGKILL');
    assert.deepEqual(await this.ended, { code: null, signal: 'SIGKILL' });
  }

  async #firstLine() {
    const lines = createInterface({ input: this.#child.stdout });
    const early = this.ended.then((end) => {
      throw new Error(`ended before it was ready: ${JSON.stringify(end)}`);
    });
    early.catch(() => {});
    const [line] = await Promise.race([once(lines, 'line'), early]);
    const ready = JSON.parse(line);
    assert.equal(ready.ready, true);
    return ready;
  }

  /** The last lines it logged. */
  tail(count = 12) {
    if (!existsSync(this.log)) return '';
    return readFileSync(this.log, 'utf8').split('\n').slice(-count).join('\n');
  }
}

/** `weir run` against a network, and its HTTP interface. */
export class Weir extends Program {
  /** `more` are arguments that only this one gets. */
  constructor(network, { folder, port = 0, mode = 'manual', more = [] }) {
    const { plc, pds, resolver } = network.urls();
    const upstreams = pds.flatMap((url) => ['--upstream', `pds:${url}`]);
    super(
      [
        'run',
        ...upstreams,
        ...['--plc-url', plc],
        ...['--handle-resolver-url', resolver],
        '--allow-private-addresses',
        ...['--data-dir', folder],
        ...['--bind', `127.0.0.1:${port}`],
        ...['--mode', mode],
        ...more,
      ],
      `${folder}.log`,
    );
  }

  /** Base URL of the data port. */
  get url() {
    return this.ready.data;
  }

  /** GET; JSON, or null when there is no such thing (404). */
  async get(path) {
    const answer = await fetch(new URL(path, this.url));
    if (answer.status === 404) {
      await answer.body?.cancel();
      return null;
    }
    assert.equal(answer.status, 200, `GET ${path}`);
    return answer.json();
  }

  /** The sum of a counter or gauge over all its labels. */
  async metric(name) {
    const page = new URL('/metrics', this.ready.operations);
    const answer = await fetch(page);
    assert.equal(answer.status, 200, 'GET /metrics');
    const lines = (await answer.text()).split('\n').filter((line) => {
      return line.startsWith(`${name} `) || line.startsWith(`${name}{`);
    });
    assert.notEqual(lines.length, 0, `there is no metric ${name}`);
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async post(path, input) {
    const answer = await fetch(new URL(path, this.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    assert.equal(answer.status, 200, `POST ${path}`);
    return answer.json();
  }

  /** What the engine says about one repository; null when it has none. */
  info(did) {
    return this.get(`/info/${did}`);
  }

  /** How many events no client has acknowledged yet. */
  async unacknowledged() {
    const { outbox_buffer } = await this.get('/stats/outbox-buffer');
    return outbox_buffer;
  }
}

/** The tests' own variables are no settings of weir, which refuses them. */
function withoutSettings(all) {
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !name.startsWith('WEIR_')),
  );
}
