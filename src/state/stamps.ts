import { drawLetters, hashOf, randomOf } from "../chat/random.ts";
import type { Clock } from "./clock.ts";

/** What makes one call's ids, time stamp and chance its own. */
export interface CallStamp {
  /** Twenty letters and digits. */
  id: string;
  /** Unix time in seconds. */
  created: number;
  /** Numbers from 0 up to 1. */
  random: () => number;
}

export interface Stamps {
  /** @param tape names what answered, so that a seeded run depends on nothing but the tapes and their order */
  next(testId: string, tape: string): CallStamp;
  reset(testId?: string): void;
}

/** New ids in every process. */
export class FreshStamps implements Stamps {
  readonly #prefix = drawLetters(12, Math.random);
  readonly #clock: Clock;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): CallStamp {
    const count = (this.#count++).toString(36).padStart(8, "0");
    return { id: this.#prefix + count, created: Math.floor(this.#clock.wall() / 1000), random: Math.random };
  }

  reset(): void {}
}

// Midnight of 1 January 2025, UTC.
const SEEDED_TIME = 1_735_689_600;
// Test ids come from outside, without end: the counts of the oldest are forgotten.
const MOST_TEST_IDS = 500;

/** The same ids for the same seed, test id, tape and count: whatever else runs at the same time. */
export class SeededStamps implements Stamps {
  readonly #seed: string;
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(seed: string | number) {
    this.#seed = String(seed);
  }

  next(testId: string, tape: string): CallStamp {
    let counts = this.#counts.get(testId);
    if (counts === undefined) {
      if (this.#counts.size >= MOST_TEST_IDS) this.#counts.delete(this.#counts.keys().next().value!);
      counts = new Map();
      this.#counts.set(testId, counts);
    }
    const count = counts.get(tape) ?? 0;
    counts.set(tape, count + 1);
    const random = randomOf(hashOf(JSON.stringify([this.#seed, testId, tape, count])));
    return { id: drawLetters(20, random), created: SEEDED_TIME, random };
  }

  reset(testId?: string): void {
    if (testId === undefined) this.#counts.clear();
    else this.#counts.delete(testId);
  }
}
