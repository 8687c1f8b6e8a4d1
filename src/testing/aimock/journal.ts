import type { Fixture } from "../../fixtures/types.ts";
import type { StuntDouble } from "../../server/double.ts";
import type { JournalResponse, JournalEntry as OwnEntry } from "../../state/journal.ts";

/** A call, in the shape in which aimock's journal has it. */
export interface JournalEntry {
  id: string;
  /** Unix time in milliseconds. */
  timestamp: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The canonical request. */
  body: unknown;
  /** Of a mount's own calls. */
  service?: string;
  response: {
    status: number;
    /** The one that answered, as it was added. */
    fixture: Fixture | null;
    /** Absent where nothing was going to answer. */
    source?: "fixture" | "proxy" | "internal";
    interrupted?: boolean;
    interruptReason?: string;
    chaosAction?: string;
    /** Why no fixture answered, or why the request was refused. */
    detail?: string;
  };
}

/** The calls of a double, in the shape in which aimock has them. */
export class AimockJournal {
  readonly #double: StuntDouble;
  readonly #fixtureOf: WeakMap<JournalResponse, Fixture>;
  /** Calls that mounts have answered. */
  #added: JournalEntry[] = [];
  #count = 0;

  /** @param fixtureOf the fixtures that answered, by what the double's journal keeps of the answer */
  constructor(double: StuntDouble, fixtureOf: WeakMap<JournalResponse, Fixture>) {
    this.#double = double;
    this.#fixtureOf = fixtureOf;
  }

  /** @param options `limit`: so many of the newest */
  getAll({ limit }: { limit?: number } = {}): JournalEntry[] {
    const own = this.#double.calls().map((entry) => this.#shaped(entry));
    const all = this.#added.length === 0 ? own : [...own, ...this.#added].sort((a, b) => a.timestamp - b.timestamp);
    if (limit === undefined || !Number.isFinite(limit)) return all;
    return limit < 1 ? [] : all.slice(-Math.floor(limit));
  }

  getLast(): JournalEntry | null {
    const last = this.#double.lastCall();
    const own = last === undefined ? undefined : this.#shaped(last);
    const added = this.#added.at(-1);
    if (added !== undefined && (own === undefined || added.timestamp >= own.timestamp)) return added;
    return own ?? null;
  }

  findByFixture(fixture: Fixture): JournalEntry[] {
    return this.getAll().filter(({ response }) => response.fixture === fixture);
  }

  /** Writes down a call that a mount has answered. */
  add(entry: Omit<JournalEntry, "id" | "timestamp">): JournalEntry {
    const added = { ...entry, id: `mount-${++this.#count}`, timestamp: Date.now() };
    this.#added.push(added);
    if (this.#added.length > MOST_ADDED) this.#added.shift();
    return added;
  }

  get size(): number {
    return this.#double.calls().length + this.#added.length;
  }

  /** Forgets the calls; sequences go on. */
  clearEntries(): void {
    this.#added = [];
    this.#double.clearCalls();
  }

  /** Sequences begin anew. */
  clearMatchCounts(testId?: string): void {
    this.#double.resetCounts(testId);
  }

  clear(): void {
    this.clearEntries();
    this.clearMatchCounts();
  }

  #shaped(entry: OwnEntry): JournalEntry {
    const { id, timestamp, method, path, headers, body, response } = entry;
    const { status, interrupted, interruptReason, chaosAction, detail } = response;
    const source = SOURCES[response.source];
    return {
      ...{ id, timestamp, method, path, body },
      headers: flat(headers),
      response: {
        status,
        fixture: this.#fixtureOf.get(response) ?? null,
        ...(source !== undefined && { source }),
        ...(interrupted && { interrupted }),
        ...(interruptReason !== undefined && { interruptReason }),
        ...(chaosAction !== undefined && { chaosAction }),
        ...(detail !== undefined && { detail }),
      },
    };
  }
}

const MOST_ADDED = 1000;

const SOURCES: Partial<Record<JournalResponse["source"], JournalEntry["response"]["source"]>> = {
  fixture: "fixture",
  error: "fixture",
  cassette: "fixture",
  upstream: "proxy",
  fallback: "internal",
  chaos: "internal",
  internal: "internal",
};

function flat(headers: OwnEntry["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}
