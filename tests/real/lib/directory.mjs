// The PLC directory: the published server's code and rules, behind a front
// that gives documents the form the public directory gives today.
import { createServer } from 'node:http';

import * as plc from '@did-plc/lib';
import server from '@did-plc/server';

import { serve } from './wait.mjs';

const contexts = [
  'https://www.w3.org/ns/did/v1',
  'https://w3id.org/security/multikey/v1',
  'https://w3id.org/security/suites/secp256k1-2019/v1',
];

export class Directory {
  /** True: documents in the old form (relative ids, uncompressed keys). */
  legacy = false;
  /**
   * What whoever comes through the gate gets instead of an answer: an error
   * (`unavailable`), nothing (`silent`), the end of the connection (`closed`).
   */
  outage = undefined;
  /** Questions that an outage has hit. */
  hit = 0;

  static async start() {
    const directory = new Directory();
    directory.db = server.Database.mock();
    const { app } = server.PlcServer.create({ db: directory.db });
    const front = createServer((request, response) => {
      directory
        .#answer(request, response)
        .then((done) => done || app(request, response))
        .catch((error) => {
          response.writeHead(500).end(JSON.stringify({ message: `${error}` }));
        });
    });
    Object.assign(directory, await serve(front));
    directory.gate = await serve(
      createServer((request, response) => {
        if (!directory.#isAway(request, response)) {
          front.emit('request', request, response);
        }
      }),
    );
    return directory;
  }

  /** The DID's document as it is served now; null when it is gone. */
  async document(did) {
    const answer = await fetch(`${this.url}/${did}`);
    return answer.ok ? answer.json() : null;
  }

  /** The client an account's host or owner changes DIDs with. */
  client() {
    return new plc.Client(this.url);
  }

  /** The hosts' own way in stays open: they could change nothing without it. */
  #isAway(request, response) {
    if (!this.outage) return false;
    this.hit += 1;
    if (this.outage === 'unavailable') response.writeHead(503).end();
    if (this.outage === 'closed') request.socket.destroy();
    return true;
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    if (request.method !== 'GET') return false;
    if (pathname === '/export') return this.#export(searchParams, response);
    const did = /^\/(did:plc:[a-z2-7]{24})$/.exec(pathname)?.[1];
    if (!did) return false;
    const log = await this.db.opsForDid(did);
    if (log.length === 0) return false;
    const data = await plc.validateOperationLog(did, log);
    if (data && this.legacy) return false;
    const [status, body] = data
      ? [200, modernDocument(did, data)]
      : [410, { message: `DID not available: ${did}` }];
    response.writeHead(status, { 'content-type': 'application/did+ld+json' });
    response.end(JSON.stringify(body));
    return true;
  }

  #export(params, response) {
    const after = params.get('after') ?? '';
    const count = Math.min(Number(params.get('count') ?? 1000), 1000);
    const lines = Object.values(this.db.contents)
      .flat()
      .map((op) => ({
        ...op,
        cid: op.cid.toString(),
        createdAt: op.createdAt.toISOString(),
      }))
      .filter((op) => op.createdAt > after)
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
      .slice(0, count)
      .map((op) => JSON.stringify(op));
    response.writeHead(200, { 'content-type': 'application/jsonlines' });
    response.end(lines.join('\n'));
    return true;
  }
}

function modernDocument(did, data) {
  return {
    '@context': contexts,
    id: did,
    alsoKnownAs: data.alsoKnownAs,
    verificationMethod: Object.entries(data.verificationMethods).map(
      ([name, key]) => ({
        id: `${did}#${name}`,
        type: 'Multikey',
        controller: did,
        publicKeyMultibase: key.replace('did:key:', ''),
      }),
    ),
    service: Object.entries(data.services).map(([name, service]) => ({
      id: `#${name}`,
      type: service.type,
      serviceEndpoint: service.endpoint,
    })),
  };
}
