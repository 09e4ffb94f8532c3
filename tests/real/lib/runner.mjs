// Runs named tests one after another and counts them.
import { inspect } from 'node:util';

import { loseSomePatience, within } from './wait.mjs';

const testMs = 400_000;

export class Runner {
  passed = 0;
  failed = 0;

  /** Called after a failure; returns text that helps to understand it. */
  explain = () => '';

  suite(name) {
    console.log(`\n${name}`);
  }

  /** Runs a whole suite; counts it as failed if it breaks between tests. */
  async guard(suite) {
    try {
      await suite();
    } catch (error) {
      this.failed += 1;
      console.log(`  FAIL  the suite broke off\n${indent(inspect(error))}`);
    }
  }

  async test(name, run) {
    const start = performance.now();
    try {
      await within(name, testMs, run());
      this.passed += 1;
      console.log(`  ok    ${name} (${seconds(start)})`);
      return true;
    } catch (error) {
      this.failed += 1;
      loseSomePatience();
      console.log(`  FAIL  ${name} (${seconds(start)})`);
      const context = this.explain();
      console.log(indent(`${inspect(error)}\n${context}`.trimEnd()));
      return false;
    }
  }

  /** The last line of a run. Returns the exit code. */
  finish() {
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}

export function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

function indent(text) {
  return text.replace(/^/gm, '        ');
}
