import type { Answerer } from "../dialects/answer.ts";
import { type FixtureAnswererOptions, fixtureAnswerer } from "../fixtures/answerer.ts";
import type { Entry } from "../fixtures/entry.ts";
import { FixturePool } from "../fixtures/pool.ts";
import type { Counters } from "../state/counters.ts";
import { LocalMemory } from "../state/memory.ts";

interface Own {
  pool: FixturePool;
  answer: Answerer;
}

/** Fixtures that only the calls of one test id see, and see first. */
export class OwnFixtures {
  readonly #byTestId: LocalMemory<Own>;
  readonly #counters: Counters;
  readonly #options: FixtureAnswererOptions;

  /** @param maxTestIds test ids that have fixtures; those of the one that was used longest ago are dropped */
  constructor(counters: Counters, options: FixtureAnswererOptions, maxTestIds?: number) {
    this.#byTestId = new LocalMemory(maxTestIds);
    this.#counters = counters;
    this.#options = options;
  }

  pool(testId: string): FixturePool {
    let own = this.#byTestId.get(testId);
    if (own === undefined) {
      const pool = new FixturePool();
      own = { pool, answer: fixtureAnswerer(pool, this.#counters, this.#options) };
      this.#byTestId.set(testId, own);
    }
    return own.pool;
  }

  /** @param testId whose fixtures; without one, those of all */
  entries(testId?: string): Entry[] {
    const owns = testId === undefined ? this.#byTestId.values() : [this.#byTestId.get(testId)];
    return owns.flatMap((own) => own?.pool.entries() ?? []);
  }

  /** Those that are asked for a test id's calls. */
  sources(testId: string): FixturePool[] {
    const own = this.#byTestId.get(testId);
    return own === undefined ? [] : [own.pool];
  }

  clear(testId?: string): void {
    if (testId === undefined) this.#byTestId.clear();
    else this.#byTestId.delete(testId);
  }

  readonly answer: Answerer = (call) =>
    this.#byTestId.size === 0 ? undefined : this.#byTestId.get(call.testId)?.answer(call);
}
