// Owners who keep writing until they are told to stop.
import { noteType } from './account.mjs';
import { eventually } from './wait.mjs';

let runs = 0;

export class Traffic {
  #stopped = false;
  #count = 0;
  #writers;

  constructor(accounts) {
    runs += 1;
    const prefix = `traffic${runs}-`;
    this.#writers = accounts.map((account) => this.#write(account, prefix));
    // A failure is reported by stop().
    for (const writer of this.#writers) writer.catch(() => {});
  }

  /** Waits for `count` more writes. */
  writes(count) {
    const wanted = this.#count + count;
    return eventually(`${count} more writes`, () => this.#count >= wanted);
  }

  /** Ends it; returns how many writes there were. */
  async stop() {
    this.#stopped = true;
    await Promise.all(this.#writers);
    return this.#count;
  }

  async #write(account, prefix) {
    for (let n = 0; !this.#stopped; n += 1) {
      await account.note(`${prefix}${n}`, `number ${n}`);
      const earlier = `${noteType}/${prefix}${n - 2}`;
      if (n % 3 === 2) await account.put(earlier, { text: `changed at ${n}` });
      if (n % 5 === 4) await account.remove(earlier);
      this.#count += 1;
    }
  }
}
