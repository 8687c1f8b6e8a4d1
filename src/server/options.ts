import type { Repeat } from "../fixtures/select.ts";
import type { RequestTransform } from "../fixtures/transform.ts";
import type { Chaos, Fixture } from "../fixtures/types.ts";
import type { GuardOptions } from "../guard/options.ts";
import type { RedactionOptions } from "../guard/redact.ts";
import type { Clock } from "../state/clock.ts";
import type { JournalResponse } from "../state/journal.ts";
import type { CassetteOptions } from "./cassette-options.ts";
import type { RecordOptions } from "./recording.ts";

export interface StuntDoubleOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** 127.0.0.1 unless given. */
  host?: string;
  /** HTTPS: with a certificate of yours, or `true` for one made on the spot. */
  tls?: boolean | { key: string | Buffer; cert: string | Buffer };
  fixtures?: readonly Fixture[];
  /** An array that stays yours, in the place of `fixtures`: what you change in it, the next call sees. */
  liveFixtures?: Fixture[];
  /** Milliseconds before each chunk, where a fixture says nothing else. */
  latency?: number;
  /** Characters in each piece of a streamed text, where a fixture says nothing else; 20 unless given. */
  chunkSize?: number;
  /** Divides every delay. */
  replaySpeed?: number;
  /** Fixes ids, time stamps and chance: the same calls get the same bytes. */
  seed?: string | number;
  /** A call without a tape is refused with 503 and never passed on; the header `X-StuntDouble-Strict` says otherwise. */
  strict?: boolean;
  /** `turnIndex` has to equal the count of assistant messages; `AIMOCK_STRICT_TURN_INDEX=1` says so too. */
  strictTurnIndex?: boolean;
  /** Faults by chance, for every call. */
  chaos?: Chaos;
  /** Makes requests comparable before they are matched; strings then have to be equal, not contained. */
  requestTransform?: RequestTransform;
  /** Callers have to send one of these keys, in any form in which providers take theirs. */
  auth?: { apiKeys: readonly string[] };
  /** What must not pass in either direction, and at what a reply is cut. */
  guard?: GuardOptions;
  /** Counts calls for Prometheus, at `GET /metrics`. */
  metrics?: boolean;
  /** Metrics have aimock's names. */
  metricsCompat?: boolean;
  /** Every reply says what is left of a rate limit (`x-ratelimit-…`); without it only one with 429 does. */
  rateLimitHeaders?: boolean;
  /** Calls that the journal keeps; 1000 unless given. */
  journalMaxEntries?: number;
  /** Test ids whose counts, fixtures, chaos and errors are kept; 500 unless given. */
  fixtureCountsMaxTestIds?: number;
  /** Bytes of a request body; 100 MB unless given. */
  bodyLimit?: number;
  headersTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** Calls that no fixture answers go to their providers, and become fixtures unless `proxyOnly`. */
  record?: RecordOptions;
  /** Calls that no fixture answers are answered from cassettes, or recorded into them. */
  cassettes?: CassetteOptions;
  /** Also serves as an HTTP proxy that opens connections to providers: `ca` is the folder of its certificate authority. */
  proxy?: { ca: string };
  /** What must not be written; recorded requests are matched after the same redaction. */
  redact?: RedactionOptions;
  /** What answers once a recorded sequence is over: its last answer again (unless given), all of it again, or nothing. */
  repeat?: Repeat;
  /**
   * Told what the author should know: a recording that could not be written or is not whole, a fixture served off its
   * turn. stderr unless given.
   */
  onWarning?: (message: string) => void;
  /** Time in place of the machine's, for tests. */
  clock?: Clock;
  /** The message of a miss is the same for all; only the journal explains it. */
  plainMisses?: boolean;
  /** Told of every call once it is answered. `tape`: the fixture that answered. */
  onCall?: (call: { method: string; path: string; response: JournalResponse; tape?: unknown }) => void;
}
