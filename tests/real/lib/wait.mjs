// Waiting for conditions, never for time.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long anything may take on a slow, busy machine, in milliseconds. */
let patienceMs = 120_000;

export function deadlineMs() {
  return patienceMs;
}

/** After a first failure the rest of a run shall not take hours. */
export function loseSomePatience() {
  patienceMs = 30_000;
}

/** Asks `check` again and again until it returns something true. */
export async function eventually(what, check, timeoutMs = deadlineMs()) {
  const end = Date.now() + timeoutMs;
  let last;
  do {
    try {
      const value = await check();
      if (value) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await delay(50);
  } while (Date.now() < end);
  throw new Error(`not within ${timeoutMs / 1000} s: ${what}`, { cause: last });
}

/** The promise's value, or an error that names what did not come in time. */
export async function within(what, timeoutMs, promise) {
  const gone = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: gone.signal }).then(() => {
    throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    gone.abort();
  }
}

/** A TCP port of 127.0.0.1 that nobody listens on now. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Starts an HTTP server on loopback; returns its base URL and its end. */
export async function serve(server, port = 0) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
