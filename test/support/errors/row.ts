import { user } from "../sdks/sdk.ts";

/** A provider's client, and what it makes of its provider's errors. */
export interface ErrorRow {
  name: string;
  /** @param patient whether it may try again as it does by default */
  ask(url: string, patient: boolean, stream: boolean): Promise<unknown>;
  /** The class of all its errors. */
  base: abstract new (
    ...args: never[]
  ) => Error;
  /** By its status: the name of the error's own class, and what it says; it says `MESSAGE` somewhere. */
  told(status: number): { class: string } & Record<string, unknown>;
  /** The message itself is none of what it tells. */
  hidesMessage?: true;
  /** What it tries again. */
  retries: ReadonlySet<number>;
  /** Beside those that all providers have. */
  also?: number[];
}

export const MESSAGE = "No luck.";

export const messages = user("hello");
export const tries = (patient: boolean) => (patient ? {} : { maxRetries: 0 });
export const NEVER: ReadonlySet<number> = new Set();
export const FAILURES = new Set([429, 500, 503, 529]);

/** The word that belongs to a status, or the word of all others of its hundred. */
export function wordOf(words: Readonly<Record<number, string>>, status: number): string {
  return words[status] ?? words[status >= 500 ? 500 : 400]!;
}
