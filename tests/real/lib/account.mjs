// One account and what its owner (or its host's moderator) can do with it,
// through the published calls only.
import { xrpc } from './xrpc.mjs';

export const noteType = 'com.example.note';
const postType = 'app.bsky.feed.post';
const statusNsid = 'com.atproto.admin.updateSubjectStatus';

export class Account {
  /** Status a correct engine must hold at the end. */
  status = 'active';

  static async open(network, host, name) {
    const account = new Account();
    account.network = network;
    account.host = host;
    account.handle = `${name}.test`;
    account.email = `${name}@mail.test`;
    account.password = `password-of-${name}`;
    const session = await xrpc(host.url, 'com.atproto.server.createAccount', {
      input: {
        handle: account.handle,
        email: account.email,
        password: account.password,
      },
    });
    account.did = session.did;
    account.token = session.accessJwt;
    return account;
  }

  clone() {
    return Object.assign(new Account(), this);
  }

  get active() {
    return this.status === 'active';
  }

  /** A call to the account's host in the owner's name. */
  call(nsid, options) {
    const auth = `Bearer ${this.token}`;
    return xrpc(this.host.url, nsid, { ...options, auth });
  }

  async signIn() {
    const nsid = 'com.atproto.server.createSession';
    const input = { identifier: this.did, password: this.password };
    const session = await xrpc(this.host.url, nsid, { input });
    this.token = session.accessJwt;
  }

  // -- records ---------------------------------------------------------------

  /** Returns {path, cid, rev, record} of what was written. */
  async create(collection, record, rkey) {
    const value = { $type: collection, ...record };
    const input = { repo: this.did, collection, rkey, record: value };
    return this.#written('createRecord', input, value);
  }

  post(text) {
    return this.create(postType, { text, createdAt: new Date().toISOString() });
  }

  note(rkey, text) {
    return this.create(noteType, { text }, rkey);
  }

  async put(path, record) {
    const [collection, rkey] = path.split('/');
    const value = { $type: collection, ...record };
    const input = { repo: this.did, collection, rkey, record: value };
    return this.#written('putRecord', input, value);
  }

  async remove(path) {
    const [collection, rkey] = path.split('/');
    const nsid = 'com.atproto.repo.deleteRecord';
    const input = { repo: this.did, collection, rkey };
    const { commit } = await this.call(nsid, { input });
    return { path, rev: commit.rev };
  }

  /** Writes many at once: [{action, rkey, text}]; one commit. */
  async batch(changes) {
    const writes = changes.map(({ action, rkey, text }) => ({
      $type: `com.atproto.repo.applyWrites#${action}`,
      collection: noteType,
      rkey,
      value: action === 'delete' ? undefined : { $type: noteType, text },
    }));
    const input = { repo: this.did, writes };
    const nsid = 'com.atproto.repo.applyWrites';
    const { commit } = await this.call(nsid, { input });
    return commit;
  }

  async #written(call, input, record) {
    const nsid = `com.atproto.repo.${call}`;
    const { uri, cid, commit } = await this.call(nsid, { input });
    const path = uri.slice(`at://${this.did}/`.length);
    return { path, cid, rev: commit?.rev, record };
  }

  // -- the account -----------------------------------------------------------

  async rename(name) {
    this.handle = `${name}.test`;
    const input = { handle: this.handle };
    await this.call('com.atproto.identity.updateHandle', { input });
  }

  async deactivate() {
    await this.call('com.atproto.server.deactivateAccount', { input: {} });
    this.status = 'deactivated';
  }

  async activate() {
    await this.call('com.atproto.server.activateAccount', { post: true });
    this.status = 'active';
  }

  async takeDown() {
    await this.#moderate(true);
    this.status = 'takendown';
  }

  async restore() {
    await this.#moderate(false);
    await this.signIn();
    this.status = 'active';
  }

  async delete() {
    await this.call('com.atproto.server.requestAccountDelete', { post: true });
    const { did, password } = this;
    const input = { did, password, token: this.host.mailed(this.email) };
    await this.call('com.atproto.server.deleteAccount', { input });
    this.status = 'deleted';
  }

  async tombstone() {
    await this.host.tombstone(this.did);
    this.status = 'deleted';
  }

  async #moderate(applied) {
    const subject = { $type: 'com.atproto.admin.defs#repoRef', did: this.did };
    const input = { subject, takedown: { applied } };
    await this.host.admin(statusNsid, { input });
  }

  // -- what the host says ----------------------------------------------------

  /** {cid, rev} of the newest commit. */
  latest() {
    const params = { did: this.did };
    const nsid = 'com.atproto.sync.getLatestCommit';
    return xrpc(this.host.url, nsid, { params });
  }

  /** Every record of the account: path -> {cid, value}, from listRecords. */
  async records() {
    const params = { repo: this.did };
    const nsid = 'com.atproto.repo.describeRepo';
    const { collections } = await xrpc(this.host.url, nsid, { params });
    const all = new Map();
    for (const collection of collections) await this.#list(collection, all);
    return all;
  }

  async #list(collection, all) {
    let cursor;
    do {
      const params = { repo: this.did, collection, limit: 100, cursor };
      const nsid = 'com.atproto.repo.listRecords';
      const page = await xrpc(this.host.url, nsid, { params });
      for (const { uri, cid, value } of page.records) {
        all.set(uri.slice(`at://${this.did}/`.length), { cid, value });
      }
      cursor = page.cursor;
    } while (cursor);
  }
}
