import type { Answerer } from "../dialects/answer.ts";
import { ApiError, type ApiErrorFields } from "../dialects/api-error.ts";
import { DEFAULT_TEST_ID } from "../dialects/call.ts";
import { LocalMemory } from "../state/memory.ts";

/** In the place of a test id: the next call, whosever it is. */
export const ANY_TEST_ID = "*";

/** Errors that each befall the next call, once. */
export class OneShotErrors {
  readonly #queues: LocalMemory<ApiError[]>;

  /** @param maxTestIds test ids whose errors are kept; those of the one that was used longest ago are dropped */
  constructor(maxTestIds?: number) {
    this.#queues = new LocalMemory(maxTestIds);
  }

  /** @param testId whose next call it is, or `ANY_TEST_ID`; those without one share the default */
  queue(fields: ApiErrorFields, testId = DEFAULT_TEST_ID): void {
    const queue = this.#queues.get(testId) ?? [];
    queue.push(new ApiError(fields));
    this.#queues.set(testId, queue);
  }

  clear(testId?: string): void {
    if (testId === undefined) this.#queues.clear();
    else this.#queues.delete(testId);
  }

  readonly answer: Answerer = (call) => {
    if (this.#queues.size === 0) return undefined;
    const whose = this.#queues.get(call.testId) === undefined ? ANY_TEST_ID : call.testId;
    const queue = this.#queues.get(whose);
    const error = queue?.shift();
    if (error === undefined) return undefined;
    if (queue!.length === 0) this.#queues.delete(whose);
    // The call fails, not one of its candidates.
    return { kind: "error", error, terminal: true, source: { kind: "error" } };
  };
}
