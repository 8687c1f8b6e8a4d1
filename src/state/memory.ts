import type { Memory } from "../dialects/operation.ts";

/** Memory of this process: the newest entries, up to a limit. */
export class LocalMemory implements Memory {
  readonly #limit: number;
  readonly #entries = new Map<string, unknown>();

  /** @param limit entries kept; at least 1 */
  constructor(limit = 1000) {
    this.#limit = Math.max(1, limit);
  }

  get(key: string): unknown {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: unknown): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
