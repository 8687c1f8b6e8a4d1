import type { MatchView } from "../chat/view.ts";
import type { ApiError } from "./api-error.ts";
import type { RawRequest } from "./raw-request.ts";
import type { Rules } from "./traverser.ts";

/** What a fixture's `endpoint` names. */
export type Endpoint =
  | "chat"
  | "embedding"
  | "models"
  | "tokens"
  | "image"
  | "speech"
  | "transcription"
  | "translation"
  | "video"
  | "moderation"
  | "rerank"
  | "search"
  /** What no dialect decodes. */
  | "http";

/** The kind of output an operation encodes; a fixture whose response is of another kind is passed over. */
export type OutputKind = "chat" | "embedding" | "none" | (string & {});

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Route {
  method: HttpMethod;
  /** In find-my-way's syntax: `/v1/models/:id`. */
  path: string;
  /** What a path with a `*` ends with, where that tells whose it is: the operation claims by it. */
  ends?: string[];
}

/** One event of a streamed reply, before its framing. */
export interface WireEvent {
  /** The SSE event name. Other framings leave it out. */
  event?: string;
  /** A JSON value, or with `raw` the text itself (`[DONE]`). */
  data: unknown;
  raw?: boolean;
  /** Server-sent events only: a comment, which clients pass over, in place of the data. */
  comment?: string;
  /** Leaves together with the event before it and is no chunk of its own (`[DONE]`, pings). */
  rides?: boolean;
}

/**
 * How the events of a stream are put on the wire: server-sent events, a JSON value a line, the elements of one
 * JSON array, or AWS event stream messages (their `event` is the `:event-type`, or the `:exception-type` if it
 * ends with `Exception`), whose payload is the event's data or holds it as `{"bytes": base64}`.
 */
export type Framing = "sse" | "ndjson" | "json-array" | "aws-event-stream" | "aws-payload-parts";

/** Header names in lower case and their values, as they are sent. */
export type HeaderFields = Record<string, string>;

/** A reply in the provider's form. Statuses are HTTP's; a string body is sent as UTF-8. */
export interface WireReply {
  status: number;
  headers: HeaderFields;
  /** A list has the chunks of a stream. */
  body: string | Uint8Array | (string | Uint8Array)[];
  /** The body is not all there is: the connection breaks after it. */
  cut?: true;
}

/**
 * What an encoder may use besides the output. An encoding is made once and kept, with holes for what differs
 * from call to call: the values given here may be such holes. Put them where they belong and compute nothing
 * with them; whatever else of the request shapes the encoding has to be in `variant`.
 */
export interface EncodeContext<Variant = unknown> {
  readonly variant: Variant;
  /** A new id of this call: the prefix and 24 letters and digits. Asked again it gives another one. */
  id(prefix: string): string;
  /** Unix time in seconds. */
  readonly created: number;
  /** The same as `2026-01-31T12:00:00.000Z`. */
  readonly createdIso: string;
  /** The model that the caller asked for. */
  readonly model: string;
  /** Any JSON value computed from the request. */
  echo<T>(compute: (call: Call) => T): T;
  /** A text in the pieces in which it is streamed: `chunkSize` characters, never inside a grapheme. */
  pieces(text: string): string[];
}

/**
 * One thing that a dialect can be asked.
 * @typeParam Req the decoded request
 * @typeParam Out what a tape answers
 * @typeParam Variant a flat object with all that the encoding depends on besides the output and the holes
 */
export interface OperationSpec<Req, Out, Variant extends Record<string, unknown>> {
  /** Unique: `openai-chat`. */
  name: string;
  dialect: string;
  endpoint: Endpoint;
  output: OutputKind;
  routes: Route[];
  /** Where several operations share a path: is this request mine? */
  claims?(raw: RawRequest): boolean;
  /**
   * @param memory what earlier calls left behind (responses, conversations)
   * @throws {ApiError} when the request is not what the provider accepts
   */
  decode(raw: RawRequest, memory: Memory): Req;
  view(request: Req): MatchView;
  streamed(request: Req): boolean;
  variant(request: Req): Variant;
  encode(out: Out, context: EncodeContext<Variant>): unknown;
  encodeStream?(out: Out, context: EncodeContext<Variant>): WireEvent[];
  /** What the head of a reply tells, where that is more than what its body is. */
  encodeHeaders?(out: Out, call: Call<Req>): HeaderFields;
  framing?: Framing | ((request: Req) => Framing);
  /**
   * @param requestId that of `requestIdHeader`, for providers whose error object names it too
   * @param raw for providers whose errors have the form of what was asked for
   */
  encodeError(error: ApiError, requestId?: string, raw?: RawRequest): WireReply;
  /**
   * The event that tells of an error in the middle of a stream, where the provider has one.
   * @param sent how many events went before it
   */
  encodeStreamError?(error: ApiError, requestId?: string, sent?: number): WireEvent;
  /**
   * The requests that are asked for in turn until one is answered without an error, for those who name several
   * models; the request alone where it is absent. An error that is terminal ends the search.
   */
  candidates?(request: Req): Req[];
  /** What is answered when no tape does, where that is better than a miss. */
  fallback?(call: Call<Req>): Out;
  /**
   * Keeps what later calls may ask for. Most is never asked for, so that nothing is to be rendered here.
   */
  remember?(out: Out, call: Call<Req>, sent: Sent<Req>): void;
  /** How to read a recording of it. */
  rules?: Rules;
  /** The header that carries the request's id; `x-request-id` where none is named. */
  requestIdHeader?: string;
}

/** The reply to a call, for who may want to see it again. */
export interface Sent<Req> {
  /** Characters in each piece of a streamed text, so that the stream can be taken up where it broke off. */
  readonly chunkSize: number;
  /** What the first call of the encoder's `id` gave. */
  firstId(prefix: string): string;
  /** Renders the reply in its unary form, with the ids that were sent; given a request, as that would have been answered. */
  unary(request?: Req): string;
}

export interface Operation extends OperationSpec<unknown, unknown, Record<string, unknown>> {}

/** Forgets an operation's types, once it has been checked against them. */
export function defineOperation<Req, Out, Variant extends Record<string, unknown>>(
  spec: OperationSpec<Req, Out, Variant>,
): Operation {
  return spec as unknown as Operation;
}

/** What a double remembers from call to call, bounded: what was used longest ago is forgotten. */
export interface Memory {
  /** @param key begins with the kind: `response:resp_1` */
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  delete(key: string): boolean;
}

/** One provider API's wire format. */
export interface Dialect {
  name: string;
  /** The names that a path may begin with (`/anthropic/v1/…`). */
  providers: string[];
  operations: Operation[];
}

/** What tells a recorded request from all others. */
export interface Identity {
  /** Of all that shapes the answer's content. */
  fingerprint: string;
  /** Of what shapes its form alone: streamed or not, vectors as numbers or as base64. */
  form: string;
}

/** What chance may do to a call. */
export type ChaosAction = "drop" | "malformed" | "rateLimit" | "disconnect" | "latency";

/** One request, decoded. */
export interface Call<Req = unknown> {
  operation: Operation;
  raw: RawRequest;
  request: Req;
  view: MatchView;
  streamed: boolean;
  /** Whose counters, one-shot errors and chaos it is. */
  testId: string;
  /** Value of the context header. */
  context: string | undefined;
  memory: Memory;
  /** What chance did to it. */
  chaosAction?: ChaosAction;
  /** What tells the request from others, without what is ignored; there where recordings are matched. */
  identity?: (ignore: readonly string[]) => Identity;
  /** Its test id as recordings name it, which is not how it was sent where it holds a secret; there with `identity`. */
  owner?: () => string;
}
