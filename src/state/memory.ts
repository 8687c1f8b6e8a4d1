import type { Memory } from "../dialects/operation.ts";

/** Memory of this process: the entries that were used last, up to a limit. */
export class LocalMemory<T = unknown> implements Memory {
  readonly #limit: number;
  readonly #entries = new Map<string, T>();

  /** @param limit entries kept; at least 1 */
  constructor(limit = 1000) {
    this.#limit = Math.max(1, limit);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  values(): T[] {
    return [...this.#entries.values()];
  }

  clear(): void {
    this.#entries.clear();
  }
}
