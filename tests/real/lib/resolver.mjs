// Resolves *.test handles, which exist nowhere else: by XRPC and, for the
// host name a request names, as /.well-known/atproto-did.
import { createServer } from 'node:http';

import { serve } from './wait.mjs';

export class Resolver {
  #hosts;
  #hidden = new Set();

  static async start(hosts) {
    const resolver = new Resolver();
    resolver.#hosts = hosts;
    const server = createServer((request, response) => {
      resolver.#answer(request, response).catch((error) => {
        response.writeHead(500).end(`${error}`);
      });
    });
    return Object.assign(resolver, await serve(server));
  }

  /** From now on `handle` belongs to nobody. */
  hide(handle) {
    this.#hidden.add(handle);
  }

  /** The DID that `handle` belongs to; or undefined. */
  async ask(handle) {
    if (!handle || this.#hidden.has(handle)) return undefined;
    for (const host of this.#hosts) {
      const did = await host.whois(handle);
      if (did) return did;
    }
    // A host that is down may know it: that is no answer, not a "no".
    if (this.#hosts.some((host) => !host.running)) throw new Error('host down');
    return undefined;
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    if (pathname === '/.well-known/atproto-did') {
      const did = await this.ask(request.headers.host?.toLowerCase());
      response.writeHead(did ? 200 : 404, { 'content-type': 'text/plain' });
      response.end(did ?? 'not found');
    } else if (pathname === '/xrpc/com.atproto.identity.resolveHandle') {
      const did = await this.ask(searchParams.get('handle')?.toLowerCase());
      const unknown = {
        error: 'HandleNotFound',
        message: 'Unable to resolve handle',
      };
      const type = { 'content-type': 'application/json' };
      response.writeHead(did ? 200 : 400, type);
      response.end(JSON.stringify(did ? { did } : unknown));
    } else {
      response.writeHead(404).end();
    }
  }
}
