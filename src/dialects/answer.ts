import type { Timing } from "../chat/timing.ts";
import type { LiveReply } from "../transport/live.ts";
import type { ApiError } from "./api-error.ts";
import type { Call, WireReply } from "./operation.ts";

/** Who answered, for the journal. */
export interface AnswerSource {
  kind: "error" | "fixture" | "cassette" | "upstream" | "fallback" | "chaos" | "guard";
  /** Names the tape among its kind. */
  id?: string;
  /** The tape itself, as its author wrote it. */
  tape?: unknown;
}

/** What a tape says to a call. */
export type Answer =
  /** `streamError`: what a chat reply ends with instead of an end; of one that is not streamed it is the answer. */
  (
    | { kind: "output"; out: unknown; streamError?: ApiError }
    /** `terminal`: no other candidate model is asked in its place. */
    | { kind: "error"; error: ApiError; terminal?: boolean }
    | { kind: "wire"; reply: WireReply }
    /** Sent on as it arrives. */
    | { kind: "live"; reply: LiveReply }
    /** A reply that its client cannot read, in the place of `out` where that is known. */
    | { kind: "malformed"; out?: unknown }
    /** The connection breaks before anything is sent. `cause`: what had happened to the one that stood behind it. */
    | { kind: "disconnect"; cause?: Error }
  ) & { source: AnswerSource; timing?: Timing };

/**
 * One link of the chain: it answers, or leaves the call to the next. The chain stays synchronous until one
 * returns a promise, since a promise on each matched call costs more than the match.
 */
export type Answerer = (call: Call) => Answer | undefined | Promise<Answer | undefined>;
