// An application: the official Tap client, unmodified, and a copy of every
// repository built from nothing but the events it hands over. It also watches
// what an engine must never do, and keeps each breach in `breaches`.
import { isDeepStrictEqual } from 'node:util';

import { lexToJson } from '@atproto/lex';
import { Tap } from '@atproto/tap';

import { deadlineMs } from './wait.mjs';

class Repo {
  handle = undefined;
  active = true;
  status = undefined;
  /** path -> {cid, value} */
  records = new Map();
  /** Revision of the last live event. */
  rev = '';
}

export class Copy {
  repos = new Map();
  /** Every event in the order it came, without those that came again. */
  events = [];
  /** Events that came again: {id, acked}. */
  again = [];
  breaches = [];
  /** Ids whose acknowledgement has left for the engine. */
  acked = new Set();
  /** Why the client gave up; undefined while it runs. */
  ended;

  #ids = new Map();
  #contents = new Map();
  #waiting = new Set();

  constructor(url) {
    this.tap = new Tap(url);
    this.channel = this.tap.channel(this);
    this.channel.start().then(
      () => this.#end('the client stopped: the channel was closed for good'),
      (error) => this.#end(`the client stopped: ${error?.message}`),
    );
  }

  async stop() {
    this.stopping = true;
    await this.channel.destroy();
  }

  repo(did) {
    if (!this.repos.has(did)) this.repos.set(did, new Repo());
    return this.repos.get(did);
  }

  /** Events about `did` since event number `from`. */
  about(did, from = 0) {
    return this.events.slice(from).filter((event) => event.did === did);
  }

  /** Resolves with the first true value of `check`, asked on every event. */
  async until(what, check, timeoutMs = deadlineMs()) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const ask = () => {
      if (this.ended) return reject(new Error(`${this.ended}, before ${what}`));
      try {
        const value = check();
        if (value) resolve(value);
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => {
      const seconds = timeoutMs / 1000;
      const count = this.events.length;
      reject(new Error(`not within ${seconds} s, ${count} events: ${what}`));
    }, timeoutMs);
    this.#waiting.add(ask);
    ask();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(ask);
    }
  }

  // -- the client's handler --------------------------------------------------

  async onEvent(event, { ack }) {
    if (this.#admit(event)) {
      this.events.push(event);
      if (event.type === 'record') this.#applyRecord(event);
      else this.#applyIdentity(event);
    }
    // Not awaited: the client reads on, and so notices a lost connection, only
    // when its handler has returned.
    ack().then(
      () => {
        this.acked.add(event.id);
        this.#wake();
      },
      (error) => this.#breach(`ack of ${event.id} failed: ${error}`),
    );
    this.#wake();
  }

  onError(error) {
    this.#breach(`client: ${error?.message}: ${error?.cause?.message}`);
  }

  // -- the rules -------------------------------------------------------------

  #admit(event) {
    const { id, ...content } = plain(event);
    if (this.#ids.has(id)) {
      this.again.push({ id, acked: this.acked.has(id) });
      if (!isDeepStrictEqual(this.#ids.get(id), content)) {
        this.#breach(`id ${id} came with two contents`, content);
      }
      return false;
    }
    this.#ids.set(id, content);
    if (event.type === 'record') {
      const { did, collection, rkey, rev, action, cid } = event;
      const key = [did, collection, rkey, rev, action, cid].join(' ');
      const other = this.#contents.get(key);
      if (other) this.#breach(`ids ${other} and ${id} are one event: ${key}`);
      this.#contents.set(key, id);
    }
    return true;
  }

  #applyRecord(event) {
    const { did, action, cid, record, rev, live } = event;
    const path = `${event.collection}/${event.rkey}`;
    const repo = this.repo(did);
    const what = `${action} ${did}/${path} at ${rev}`;
    if (!repo.active) this.#breach(`${what}: the account is ${repo.status}`);
    if (live && rev < repo.rev) this.#breach(`${what}: after ${repo.rev}`);
    if (live) repo.rev = rev;
    if ((action === 'create') === repo.records.has(path)) {
      this.#breach(`${what}: does not fit what came before`);
    }
    if (action === 'delete') {
      if (cid || record) this.#breach(`${what}: a delete carries a value`);
      repo.records.delete(path);
    } else {
      if (!cid) this.#breach(`${what}: no cid`);
      const value = record && lexToJson(record);
      repo.records.set(path, { cid, value });
    }
  }

  #applyIdentity({ did, handle, isActive, status }) {
    if (isActive !== (status === 'active')) {
      this.#breach(`${did}: is_active ${isActive} with status ${status}`);
    }
    const repo = this.repo(did);
    repo.handle = handle;
    repo.active = isActive;
    repo.status = status;
    if (status === 'deleted') repo.records.clear();
  }

  #breach(text, detail) {
    this.breaches.push(detail ? `${text}: ${JSON.stringify(detail)}` : text);
  }

  #end(why) {
    if (!this.stopping) this.ended = why;
    this.#wake();
  }

  #wake() {
    for (const ask of this.#waiting) ask();
  }
}

/** The event as plain JSON, for comparing. */
function plain(event) {
  const { record, ...rest } = event;
  return record ? { ...rest, record: lexToJson(record) } : rest;
}
