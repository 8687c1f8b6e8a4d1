import { testIdOf } from "../dialects/call.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { JournalResponse } from "./journal.ts";

export interface Miss {
  testId: string;
  method: string;
  path: string;
  /** Why nothing answered. */
  detail: string;
}

const MOST_MISSES = 100;

/** How calls ended. The journal forgets its oldest entries, and a miss must not be forgotten with them. */
export class Tally {
  served = 0;
  missed = 0;
  #misses: Miss[] = [];

  /** @param path as it may be shown; only that of a miss is */
  count(raw: RawRequest, path: string, { source, detail = "" }: JournalResponse): void {
    if (source !== "miss") {
      if (source !== "refused" && source !== "internal") this.served++;
      return;
    }
    this.missed++;
    this.#misses.push({ testId: testIdOf(raw), method: raw.method, path, detail });
    if (this.#misses.length > MOST_MISSES) this.#misses.shift();
  }

  /** The last hundred. */
  misses(testId?: string): readonly Miss[] {
    return testId === undefined ? this.#misses : this.#misses.filter((miss) => miss.testId === testId);
  }

  clear(testId?: string): void {
    const others = testId === undefined ? [] : this.#misses.filter((miss) => miss.testId !== testId);
    this.missed -= this.#misses.length - others.length;
    if (testId === undefined) {
      this.served = 0;
      this.missed = 0;
    }
    this.#misses = others;
  }
}
