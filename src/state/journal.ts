import type { AnswerSource } from "../dialects/answer.ts";
import { contextOf } from "../dialects/call.ts";
import type { Call, ChaosAction, Operation } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { isCredentialHeader } from "../guard/credential-headers.ts";
import { maskedUrl } from "../guard/detectors/credentials.ts";
import type { GuardHit } from "../guard/guardrails.ts";
import type { Redactor } from "../guard/redact.ts";
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
  /** What guardrails have found, never the text itself. */
  guard?: readonly GuardHit[];
  /** Id of the fixture that answered. */
  fixture: string | null;
  interrupted?: boolean;
  interruptReason?: string;
  /** What chance did to the call. */
  chaosAction?: ChaosAction;
  /** Why nothing answered, or why the request was refused. */
  detail?: string;
  /** Of a miss: which fixtures were the nearest, and why they did not answer. */
  explanation?: unknown;
}

/** A call and how fixtures see it. */
export interface JournalCall {
  entry: JournalEntry;
  /** Undefined where it was no call: nobody could decode it, or it was too long to be kept. */
  subject: Pick<Call, "operation" | "view" | "context"> | undefined;
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
  /** As its operation sees it, without what led to the route. */
  path: string;
  headers: JournalEntry["headers"];
  /** With its credentials, which are looked for in the rest when it is read; undefined where nothing is redacted. */
  sent: Pick<RawRequest, "headers" | "url"> | undefined;
  /** Undefined where the body was too long to keep. */
  body: KeptBody | undefined;
  params: RawRequest["params"];
  operation: Operation | undefined;
  testId: string;
  response: JournalResponse;
}

/** Where a body lies among others. */
interface KeptBody {
  slab: Buffer;
  from: number;
  to: number;
}

export interface JournalFilter {
  testId?: string;
  /** Equal to the path without its query, or its beginning when it ends with `*`. */
  path?: string;
  status?: number;
}

const MASK = "[redacted]";
const NOTHING_REMEMBERED = new LocalMemory();
const LONGEST_BODY = 64 * 1024;
const SLAB_BYTES = 256 * 1024;

/** The last calls. A ring: what is beyond its length is forgotten, oldest first. */
export class Journal {
  readonly #kept: (Kept | undefined)[];
  readonly #redactor: () => Redactor | undefined;
  #count = 0;
  #first = 0;
  /** Bodies lie together outside of the heap: each garbage collection would move a thousand texts. */
  #slab = Buffer.alloc(0);
  #used = 0;

  /**
   * @param length entries kept; 0 keeps none
   * @param redactor what entries go through when they are read: of a double that records, or replays what was recorded
   */
  constructor(length: number, redactor: () => Redactor | undefined = () => undefined) {
    this.#kept = new Array(length);
    this.#redactor = redactor;
  }

  write(record: JournalRecord): void {
    const { length } = this.#kept;
    const number = this.#count++;
    if (length === 0) return;
    const { raw } = record;
    const headers = { ...raw.headers };
    for (const name in headers) if (isCredentialHeader(name)) headers[name] = MASK;
    this.#kept[number % length] = {
      number,
      timestamp: record.timestamp,
      method: raw.method,
      url: maskedUrl(raw.url, MASK),
      path: raw.path,
      headers,
      sent: this.#redactor() === undefined ? undefined : { headers: raw.headers, url: raw.url },
      body: this.#keep(raw.body),
      params: raw.params,
      operation: record.operation,
      testId: record.testId,
      response: record.response,
    };
  }

  #keep(body: Uint8Array): KeptBody | undefined {
    if (body.length > LONGEST_BODY) return undefined;
    if (body.length > this.#slab.length - this.#used) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const from = this.#used;
    this.#slab.set(body, from);
    this.#used += body.length;
    return { slab: this.#slab, from, to: this.#used };
  }

  read(filter: JournalFilter = {}): JournalEntry[] {
    return this.#find(filter).map((kept) => this.#entryOf(kept));
  }

  /** Like `read`, with what fixtures would look at, to be compared with patterns. */
  readCalls(filter: JournalFilter = {}): JournalCall[] {
    return this.#find(filter).map((kept) => ({ entry: this.#entryOf(kept), subject: subjectOf(kept) }));
  }

  /** The newest entry, without reading the others. */
  last(filter: JournalFilter = {}): JournalEntry | undefined {
    for (let number = this.#count - 1; number >= this.#oldest(); number--) {
      const kept = this.#kept[number % this.#kept.length];
      if (kept !== undefined && fits(kept, filter)) return this.#entryOf(kept);
    }
    return undefined;
  }

  /** Calls that were forgotten because there was no room for them. */
  get forgotten(): number {
    return this.#oldest() - this.#first;
  }

  /** @param testId whose calls are forgotten; without one, all */
  clear(testId?: string): void {
    if (testId === undefined) {
      this.#first = this.#count;
      this.#kept.fill(undefined);
      return;
    }
    for (const [place, kept] of this.#kept.entries()) if (kept?.testId === testId) this.#kept[place] = undefined;
  }

  #entryOf(kept: Kept): JournalEntry {
    const entry = entryOf(kept);
    const redactor = this.#redactor();
    return redactor === undefined ? entry : redacted(entry, kept.sent, redactor);
  }

  #oldest(): number {
    return Math.max(this.#first, this.#count - this.#kept.length);
  }

  #find(filter: JournalFilter): Kept[] {
    const found: Kept[] = [];
    for (let number = this.#oldest(); number < this.#count; number++) {
      const kept = this.#kept[number % this.#kept.length];
      if (kept !== undefined && fits(kept, filter)) found.push(kept);
    }
    return found;
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

function redacted(entry: JournalEntry, sent: Kept["sent"], redactor: Redactor): JournalEntry {
  const redaction = redactor.call();
  redaction.learn(() => {
    redaction.headers(sent?.headers ?? {}, "journal");
    redaction.uri(sent?.url ?? "", "journal");
  });
  const value = <Value>(part: Value): Value | typeof MASK => {
    try {
      return redaction.value(part, "journal");
    } catch {
      // A secret in what must stay whole is no reason to give it away.
      return MASK;
    }
  };
  return {
    ...entry,
    path: redaction.uri(entry.path, "journal"),
    headers: redaction.headers(entry.headers, "journal"),
    body: value(entry.body),
    testId: redaction.text(entry.testId, "journal"),
    response: { ...entry.response, ...(value({ ...entry.response }) as JournalResponse) },
  };
}

function rawOf({ method, url, path, headers, body, params }: Kept): RawRequest {
  const raw = new RawRequest(method, url, headers, body?.slab.subarray(body.from, body.to) ?? Buffer.alloc(0));
  raw.path = path;
  raw.params = params;
  return raw;
}

function subjectOf(kept: Kept): JournalCall["subject"] {
  const { operation, body } = kept;
  if (operation === undefined || body === undefined) return undefined;
  const raw = rawOf(kept);
  try {
    const request = operation.decode(raw, NOTHING_REMEMBERED);
    return { operation, view: operation.view(request), context: contextOf(raw) };
  } catch {
    return undefined;
  }
}

/** Parsed when it is read: most entries never are. */
function canonicalBody(kept: Kept): unknown {
  const raw = rawOf(kept);
  if (raw.body.length === 0) return null;
  try {
    return kept.operation === undefined ? raw.json : kept.operation.decode(raw, NOTHING_REMEMBERED);
  } catch {
    // The provider would have refused it; what was sent is then of more use than nothing.
    try {
      return raw.json;
    } catch {
      return raw.text;
    }
  }
}
