// One PDS: the published server on a loopback port, with what a test needs
// besides: its e-mails, a count of repository downloads, stop and start.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Secp256k1Keypair } from '@atproto/crypto';
import { PDS, scripts } from '@atproto/pds';

import { freePort } from './wait.mjs';
import { ourAgent, xrpc } from './xrpc.mjs';

export class Host {
  #environment;
  #sockets = new Set();
  #mails = new Map();
  #downloads = new Map();

  static async start({ folder, plcUrl }) {
    const host = new Host();
    const port = await freePort();
    const rotation = await Secp256k1Keypair.create({ exportable: true });
    const key = Buffer.from(await rotation.export()).toString('hex');
    await mkdir(folder, { recursive: true });
    host.url = `http://localhost:${port}`;
    // Both hosts are "localhost": only the port tells their tokens apart.
    host.did = `did:web:localhost%3A${port}`;
    host.adminPassword = randomBytes(8).toString('hex');
    host.#environment = {
      port,
      hostname: 'localhost',
      serviceDid: host.did,
      dataDirectory: folder,
      blobstoreDiskLocation: join(folder, 'blobs'),
      blobstoreDiskTmpLocation: join(folder, 'blobs-tmp'),
      didPlcUrl: plcUrl,
      serviceHandleDomains: ['.test'],
      inviteRequired: false,
      devMode: true,
      disableSsrfProtection: true,
      rateLimitsEnabled: false,
      crawlers: [],
      jwtSecret: randomBytes(16).toString('hex'),
      adminPassword: host.adminPassword,
      plcRotationKeyK256PrivateKeyHex: key,
    };
    await host.start();
    return host;
  }

  async start() {
    const pds = await PDS.fromEnv(this.#environment);
    const listen = pds.app.listen;
    pds.app.listen = (port) => listen.call(pds.app, port, '127.0.0.1');
    const { mailer } = pds.ctx;
    mailer.sendTemplate = async (name, { token }, { to }) => {
      this.#mails.set(to, token);
    };
    const server = await pds.start();
    server.prependListener('request', (request) => this.#count(request));
    server.on('upgrade', (request, socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.pds = pds;
  }

  async stop() {
    const { pds } = this;
    this.pds = undefined;
    this.drop();
    await pds?.destroy();
  }

  /** Cuts every event stream; returns how many there were. */
  drop() {
    const count = this.#sockets.size;
    for (const socket of this.#sockets) socket.destroy();
    return count;
  }

  get running() {
    return this.pds !== undefined;
  }

  /** How often others than this test fetched the account's repository. */
  downloads(did) {
    return this.#downloads.get(did) ?? 0;
  }

  /** The token in the last e-mail to `address`; forgotten once read. */
  mailed(address) {
    const token = this.#mails.get(address);
    this.#mails.delete(address);
    return token;
  }

  /** A call as the host's administrator. */
  admin(nsid, options) {
    const secret = Buffer.from(`admin:${this.adminPassword}`);
    const auth = `Basic ${secret.toString('base64')}`;
    return xrpc(this.url, nsid, { ...options, auth });
  }

  /** Who has `handle` here, whatever the account's status; or undefined. */
  async whois(handle) {
    const account = await this.pds?.ctx.accountManager.getAccount(handle, {
      includeDeactivated: true,
      includeTakenDown: true,
    });
    return account?.did;
  }

  /** Gives the account a new signing key, as the host's own script does. */
  async rotateKey(did) {
    const { ctx } = this.pds;
    const { keyLocation } = await ctx.actorStore.getLocation(did);
    const key = await Secp256k1Keypair.create({ exportable: true });
    await writeFile(keyLocation, await key.export());
    await quietly(() => scripts['rotate-keys'](ctx, [did]));
    return key.did();
  }

  /** Ends the DID for good; the account stays on the host, which says so. */
  async tombstone(did) {
    const { plcClient, plcRotationKey, sequencer } = this.pds.ctx;
    await plcClient.tombstone(did, plcRotationKey);
    await sequencer.sequenceIdentity(did);
  }

  #count(request) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    if (pathname !== '/xrpc/com.atproto.sync.getRepo') return;
    if (request.headers['user-agent'] === ourAgent) return;
    const did = searchParams.get('did');
    this.#downloads.set(did, this.downloads(did) + 1);
  }
}

/** The script prints its progress; nobody reads it here. */
async function quietly(work) {
  const { log } = console;
  console.log = () => {};
  try {
    await work();
  } finally {
    console.log = log;
  }
}
