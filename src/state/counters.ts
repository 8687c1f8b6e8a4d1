/** How often each group of fixtures has served, apart for each test id. */
export interface Counters {
  count(testId: string, group: string): number;
  increment(testId: string, group: string): void;
  /** Forgets the counts of one test id, or of all. */
  reset(testId?: string): void;
}

export const DEFAULT_MAX_TEST_IDS = 500;

/** Counts of this process. */
export class MemoryCounters implements Counters {
  readonly #maxTestIds: number;
  /** In the order in which they were last used, the oldest first. */
  readonly #byTestId = new Map<string, Map<string, number>>();
  #latestId: string | undefined;
  #latest: Map<string, number> | undefined;

  /**
   * @param maxTestIds counts of so many test ids are kept; those that were used longest ago begin anew. At least 1
   */
  constructor(maxTestIds = DEFAULT_MAX_TEST_IDS) {
    this.#maxTestIds = Math.max(1, maxTestIds);
  }

  /** Test ids that have counts. */
  get size(): number {
    return this.#byTestId.size;
  }

  count(testId: string, group: string): number {
    return this.#of(testId)?.get(group) ?? 0;
  }

  increment(testId: string, group: string): void {
    let counts = this.#of(testId);
    if (counts === undefined) {
      counts = new Map();
      this.#byTestId.set(testId, counts);
      this.#latestId = testId;
      this.#latest = counts;
      if (this.#byTestId.size > this.#maxTestIds) {
        const [oldest] = this.#byTestId.keys();
        this.#byTestId.delete(oldest!);
      }
    }
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }

  reset(testId?: string): void {
    if (testId === undefined) this.#byTestId.clear();
    else this.#byTestId.delete(testId);
    this.#latestId = undefined;
    this.#latest = undefined;
  }

  /** The counts of a test id, which becomes the one that was used last. */
  #of(testId: string): Map<string, number> | undefined {
    // Most calls come from the test id before, which then need not be moved to the end.
    if (testId === this.#latestId) return this.#latest;
    const counts = this.#byTestId.get(testId);
    if (counts === undefined) return undefined;
    this.#byTestId.delete(testId);
    this.#byTestId.set(testId, counts);
    this.#latestId = testId;
    this.#latest = counts;
    return counts;
  }
}
