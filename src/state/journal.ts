import type { AnswerSource } from "../dialects/answer.ts";
import type { Operation } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { LocalMemory } from "./memory.ts";

/** What was asked and what was answered. */
export interface JournalEntry {
  id: string;
  /** Unix time in milliseconds. */
  timestamp: number;
  method: string;
  path: string;
  /** Credentials are masked. */
  headers: Record<string, string | string[] | undefined>;
  /** The canonical request; null where there was none, or where it was too long to keep. */
  body: unknown;
  testId: string;
  response: JournalResponse;
}

export interface JournalResponse {
  /** 0 when the connection was broken before a status was sent. */
  status: number;
  source: AnswerSource["kind"] | "miss" | "refused" | "internal";
  /** Id of the fixture that answered. */
  fixture: string | null;
  interrupted?: boolean;
  interruptReason?: string;
  /** Why nothing answered, or why the request was refused. */
  detail?: string;
}

/** Kept while it is written; read as a `JournalEntry`. */
export interface JournalRecord {
  raw: RawRequest;
  operation: Operation | undefined;
  testId: string;
  timestamp: number;
  response: JournalResponse;
}

interface Kept {
  number: number;
  timestamp: number;
  method: string;
  url: string;
  headers: JournalEntry["headers"];
  text: string | undefined;
  params: RawRequest["params"];
  operation: Operation | undefined;
  testId: string;
  response: JournalResponse;
}

export interface JournalFilter {
  testId?: string;
  /** Equal to the path without its query, or its beginning when it ends with `*`. */
  path?: string;
  status?: number;
}

const CREDENTIALS = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "xi-api-key",
  "x-amz-security-token",
  "cookie",
];
const CREDENTIAL_QUERY = /([?&](?:key|api[-_]?key|access_token|token|sig|signature)=)[^&#]*/gi;
const MASK = "[redacted]";
const NOTHING_REMEMBERED = new LocalMemory();
const LONGEST_BODY = 64 * 1024;

/** The last calls. A ring: what is beyond its length is forgotten, oldest first. */
export class Journal {
  readonly #kept: (Kept | undefined)[];
  #count = 0;
  #first = 0;

  /** @param length entries kept; 0 keeps none */
  constructor(length: number) {
    this.#kept = new Array(length);
  }

  write(record: JournalRecord): void {
    const { length } = this.#kept;
    const number = this.#count++;
    if (length === 0) return;
    const { raw } = record;
    const headers = { ...raw.headers };
    for (const name of CREDENTIALS) if (headers[name] !== undefined) headers[name] = MASK;
    this.#kept[number % length] = {
      number,
      timestamp: record.timestamp,
      method: raw.method,
      url: raw.url.includes("?") ? raw.url.replace(CREDENTIAL_QUERY, `$1${MASK}`) : raw.url,
      headers,
      text: raw.body.length <= LONGEST_BODY ? raw.text : undefined,
      params: raw.params,
      operation: record.operation,
      testId: record.testId,
      response: record.response,
    };
  }

  read(filter: JournalFilter = {}): JournalEntry[] {
    const entries: JournalEntry[] = [];
    const { length } = this.#kept;
    for (let number = Math.max(this.#first, this.#count - length); number < this.#count; number++) {
      const kept = this.#kept[number % length];
      if (kept !== undefined && fits(kept, filter)) entries.push(entryOf(kept));
    }
    return entries;
  }

  /** The newest entry, without reading the others. */
  last(): JournalEntry | undefined {
    if (this.#count === this.#first || this.#kept.length === 0) return undefined;
    const kept = this.#kept[(this.#count - 1) % this.#kept.length];
    return kept && entryOf(kept);
  }

  clear(): void {
    this.#first = this.#count;
    this.#kept.fill(undefined);
  }
}

function fits(kept: Kept, filter: JournalFilter): boolean {
  if (filter.testId !== undefined && kept.testId !== filter.testId) return false;
  if (filter.status !== undefined && kept.response.status !== filter.status) return false;
  if (filter.path === undefined) return true;
  const path = kept.url.split("?", 1)[0]!;
  return filter.path.endsWith("*") ? path.startsWith(filter.path.slice(0, -1)) : path === filter.path;
}

function entryOf(kept: Kept): JournalEntry {
  return {
    id: String(kept.number + 1),
    timestamp: kept.timestamp,
    method: kept.method,
    path: kept.url,
    headers: kept.headers,
    body: canonicalBody(kept),
    testId: kept.testId,
    response: kept.response,
  };
}

/** Parsed when it is read: most entries never are. */
function canonicalBody(kept: Kept): unknown {
  if (kept.text === undefined || kept.text === "") return null;
  const raw = new RawRequest(kept.method, kept.url, kept.headers, Buffer.from(kept.text));
  raw.params = kept.params;
  try {
    return kept.operation === undefined ? raw.json : kept.operation.decode(raw, NOTHING_REMEMBERED);
  } catch {
    // The provider would have refused it; what was sent is then of more use than nothing.
    try {
      return raw.json;
    } catch {
      return kept.text;
    }
  }
}
