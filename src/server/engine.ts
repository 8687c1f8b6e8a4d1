import { dueTimes, type Timing } from "../chat/timing.ts";
import type { Answer, Answerer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import { callOf, testIdOf } from "../dialects/call.ts";
import { framingOf, onWire, renderStream, renderUnary, renderWhole } from "../dialects/encode.ts";
import { httpOperation } from "../dialects/http.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import type { Call, Framing, HeaderFields, Memory, Operation, WireReply } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import type { Journal, JournalResponse } from "../state/journal.ts";
import type { CallStamp, Stamps } from "../state/stamps.ts";
import type { LiveBody } from "../transport/live.ts";
import type { Ending, PacedBody } from "./pace.ts";
import type { Router } from "./router.ts";

/** A reply, ready to be sent by whatever carried the request. */
export interface Outcome {
  status: number;
  /** Names and values by turns, as Node takes them without making an object. */
  headers: string[];
  body: string | Uint8Array | PacedBody | LiveBody;
  /** Whether the head of the reply leaves before its body is due, as a stream's does. */
  streamed: boolean;
  /** To be told how a paced body ended. */
  ended?(ending: Ending): void;
}

export interface EngineOptions {
  router: Router;
  /** Asked in order until one answers. */
  answerers: readonly Answerer[];
  /** Asked when none of them answers, once for all candidates of a call: the provider itself. */
  upstream?: Answerer;
  /** Asked for what no dialect decodes, before `upstream`. */
  httpAnswerers?: readonly Answerer[];
  journal: Journal;
  stamps: Stamps;
  memory: Memory;
  clock: Clock;
  /** Paths of the double itself: health, control. */
  own?(raw: RawRequest): Outcome | undefined;
  /** Told of every call once it is answered. */
  onCall?(raw: RawRequest, response: JournalResponse): void;
}

type MaybeLater<T> = T | undefined | Promise<T | undefined>;

const STREAM_HEADERS: Record<Framing, HeaderFields> = {
  sse: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  ndjson: { "content-type": "application/x-ndjson" },
  "json-array": { "content-type": "application/json; charset=UTF-8" },
  "aws-event-stream": { "content-type": "application/vnd.amazon.eventstream" },
  // Only its clients want to know what is inside.
  "aws-payload-parts": {
    "content-type": "application/vnd.amazon.eventstream",
    "x-amzn-bedrock-content-type": "application/json",
  },
};

/** From a request to a reply, knowing nothing of sockets. */
export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Never throws: what goes wrong is a reply too. It is synchronous unless an answerer is not. */
  handle(raw: RawRequest): Outcome | Promise<Outcome> {
    if (raw.method === "OPTIONS") return preflight();
    const own = this.#options.own?.(raw);
    if (own !== undefined) return own;
    const routed = this.#options.router.find(raw);
    if (routed === undefined) return this.#askAsHttp(raw, () => this.#unrouted(raw));
    const { operation } = routed;
    let call: Call;
    try {
      call = callOf(operation, raw, this.#options.memory);
      const requests = operation.candidates?.(call.request);
      const asked = requests === undefined ? this.#ask(call, 0) : this.#askInTurn(call, requests, 0);
      const orElse = (given: Answer | undefined): MaybeLater<Answer> => given ?? this.#askLast(call);
      const answer = asked instanceof Promise ? asked.then(orElse) : orElse(asked);
      if (!(answer instanceof Promise)) return this.#conclude(call, answer);
      return answer.then((late) => this.#conclude(call, late)).catch((error) => this.#failed(operation, raw, error));
    } catch (error) {
      const refuse = (): Outcome => this.#failed(operation, raw, error);
      // The provider knows better than we do what it takes.
      return error instanceof ApiError ? this.#askAsHttp(raw, refuse) : refuse();
    }
  }

  /** The reply to a request that never got as far as a call, in its provider's shape where the path tells it. */
  refuse(raw: RawRequest, error: ApiError): Outcome {
    const routed = this.#options.router.find(raw);
    return this.#refuse(routed?.operation, raw, error, "refused");
  }

  #ask(call: Call, from: number): MaybeLater<Answer> {
    return firstAnswer(this.#options.answerers, call, from);
  }

  #askLast(call: Call): MaybeLater<Answer> {
    const relayed = this.#options.upstream?.(call);
    if (relayed !== undefined) return relayed;
    if (call.operation.fallback === undefined) return undefined;
    return { kind: "output", out: call.operation.fallback(call), source: { kind: "fallback" } };
  }

  /** A request that no dialect can read, as it is: by a recording of it, or by the provider. */
  #askAsHttp(raw: RawRequest, otherwise: () => Outcome): Outcome | Promise<Outcome> {
    const { httpAnswerers = [], upstream, memory } = this.#options;
    try {
      const call = callOf(httpOperation, raw, memory);
      const conclude = (answer: Answer | undefined): Outcome =>
        answer === undefined ? otherwise() : this.#conclude(call, answer);
      const answer = firstAnswer(upstream === undefined ? httpAnswerers : [...httpAnswerers, upstream], call, 0);
      if (!(answer instanceof Promise)) return conclude(answer);
      return answer.then(conclude).catch((error) => this.#failed(httpOperation, raw, error));
    } catch (error) {
      return this.#failed(httpOperation, raw, error);
    }
  }

  /**
   * Asks for one request after another until one is served.
   * @param call becomes that of the request which is answered
   * @param failure of the last one before
   */
  #askInTurn(call: Call, requests: unknown[], at: number, failure?: Answer): MaybeLater<Answer> {
    if (at >= requests.length) return failure;
    call.request = requests[at];
    call.view = call.operation.view(call.request);
    const answer = this.#ask(call, 0);
    const next = (given: Answer | undefined): MaybeLater<Answer> => {
      const failed = given === undefined || (given.kind === "error" && given.terminal !== true);
      return failed ? this.#askInTurn(call, requests, at + 1, given ?? failure) : given;
    };
    return answer instanceof Promise ? answer.then(next) : next(answer);
  }

  #conclude(call: Call, answer: Answer | undefined): Outcome {
    if (answer === undefined) return this.#missed(call);
    const stamp = this.#options.stamps.next(call.testId, answer.source.id ?? answer.source.kind);
    const response: JournalResponse = { status: 200, source: answer.source.kind, fixture: answer.source.id ?? null };
    let outcome: Outcome;
    if (answer.kind === "output") outcome = this.#encode(call, answer.out, answer.timing, stamp);
    else if (answer.kind === "live") outcome = { ...answer.reply, streamed: true };
    else {
      const reply = answer.kind === "error" ? call.operation.encodeError(answer.error, requestId(stamp)) : answer.reply;
      outcome = timed(reply, answer.timing, call.operation, stamp);
    }
    response.status = outcome.status;
    this.#record(call.raw, call, response);
    if (typeof outcome.body === "object" && "chunks" in outcome.body) outcome.ended = interruption(response);
    if (answer.kind === "live") answer.reply.body.onEnding = interruption(response);
    return outcome;
  }

  #encode(call: Call, out: unknown, timing: Timing | undefined, stamp: CallStamp): Outcome {
    const { operation } = call;
    operation.remember?.(out, call, (request = call.request) => renderUnary(out, { ...call, request }, stamp));
    if (!call.streamed || operation.encodeStream === undefined) {
      return timed(
        { status: 200, headers: JSON_HEADERS, body: renderUnary(out, call, stamp) },
        timing,
        operation,
        stamp,
      );
    }
    const framing = framingOf(operation, call.request);
    const headers = headerList(STREAM_HEADERS[framing], operation, stamp);
    if (timing === undefined || !takesTime(timing)) {
      const body = onWire(renderWhole(out, call, stamp, timing?.chunkSize), framing);
      return { status: 200, headers, body, streamed: true };
    }
    const chunks = renderStream(out, call, stamp, timing.chunkSize).map((text) => onWire(text, framing));
    return { status: 200, headers, body: pacedBody(chunks, timing, stamp.random), streamed: true };
  }

  #missed(call: Call): Outcome {
    const error = new ApiError({
      status: 404,
      message: "No fixture matched",
      type: "invalid_request_error",
      code: "no_fixture_match",
    });
    return this.#refuse(call.operation, call.raw, error, "miss", call);
  }

  #failed(operation: Operation, raw: RawRequest, error: unknown): Outcome {
    if (error instanceof ApiError) return this.#refuse(operation, raw, error, "refused");
    const message = error instanceof Error ? error.message : String(error);
    const internal = new ApiError({
      status: 500,
      message: `The stand-in failed: ${message}`,
      code: "stuntdouble_internal",
    });
    return this.#refuse(operation, raw, internal, "internal");
  }

  #unrouted(raw: RawRequest): Outcome {
    const methods = this.#options.router.methodsOf(raw.path);
    const error =
      methods.length > 0
        ? new ApiError({
            status: 405,
            message: `Not allowed to ${raw.method} on ${raw.path}; it takes ${methods.join(", ")}.`,
            code: "method_not_allowed",
          })
        : new ApiError({
            status: 404,
            message: `Unknown request URL: ${raw.method} ${raw.path}. Is the base URL right? OpenAI clients need one that ends with /v1, Anthropic's one without.`,
            code: "unknown_url",
          });
    const outcome = this.#refuse(undefined, raw, error, "refused");
    if (methods.length > 0) outcome.headers.push("allow", methods.join(", "));
    return outcome;
  }

  #refuse(
    operation: Operation | undefined,
    raw: RawRequest,
    error: ApiError,
    source: JournalResponse["source"],
    call?: Call,
  ): Outcome {
    const stamp = this.#options.stamps.next(testIdOf(raw), source);
    const reply = operation === undefined ? encodeOpenAIError(error) : operation.encodeError(error, requestId(stamp));
    const outcome = timed(reply, undefined, operation, stamp);
    this.#record(raw, call, { status: error.status, source, fixture: null, detail: error.message }, operation);
    return outcome;
  }

  #record(raw: RawRequest, call: Call | undefined, response: JournalResponse, operation = call?.operation): void {
    const { journal, clock, onCall } = this.#options;
    journal.write({ raw, operation, testId: call?.testId ?? testIdOf(raw), timestamp: clock.wall(), response });
    onCall?.(raw, response);
  }
}

function firstAnswer(answerers: readonly Answerer[], call: Call, from: number): MaybeLater<Answer> {
  for (let index = from; index < answerers.length; index++) {
    const answer = answerers[index]!(call);
    if (answer instanceof Promise) return answer.then((late) => late ?? firstAnswer(answerers, call, index + 1));
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** A reply that is not streamed is one chunk. */
function timed(
  { status, headers, body, cut }: WireReply,
  timing: Timing | undefined,
  operation: Operation | undefined,
  stamp: CallStamp,
): Outcome {
  const paced = cut === true || (timing !== undefined && takesTime(timing));
  const list = headerList(headers, operation, stamp);
  const streamed = Array.isArray(body);
  if (!paced && !streamed) return { status, headers: list, body, streamed };
  const sent = pacedBody(streamed ? body : [body], timing ?? {}, stamp.random);
  if (cut) sent.cut = { ...sent.cut, truncated: true };
  return { status, headers: list, body: sent, streamed: streamed || cut === true };
}

function headerList(fields: HeaderFields, operation: Operation | undefined, stamp: CallStamp): string[] {
  const list = ["access-control-allow-origin", "*"];
  const idHeader = operation?.requestIdHeader ?? "x-request-id";
  if (fields[idHeader] === undefined) list.push(idHeader, requestId(stamp));
  for (const name in fields) list.push(name, fields[name]!);
  return list;
}

const requestId = (stamp: CallStamp): string => `req_${stamp.id}`;

const JSON_HEADERS: HeaderFields = { "content-type": "application/json" };
const preflight = (): Outcome => ({
  status: 204,
  headers: [
    ...["access-control-allow-origin", "*"],
    ...["access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS"],
    ...["access-control-allow-headers", "*, authorization"],
    ...["access-control-max-age", "86400"],
  ],
  body: "",
  streamed: false,
});

function takesTime(timing: Timing): boolean {
  return (
    timing.streamingProfile !== undefined ||
    timing.recordedTimings !== undefined ||
    (timing.latencyMs ?? 0) > 0 ||
    timing.truncateAfterChunks !== undefined ||
    timing.disconnectAfterMs !== undefined
  );
}

function pacedBody(all: (string | Uint8Array)[], timing: Timing, random: () => number): PacedBody {
  const { truncateAfterChunks: most, disconnectAfterMs } = timing;
  const truncated = most !== undefined && most < all.length;
  const chunks = truncated ? all.slice(0, Math.max(0, most)) : all;
  const due = dueTimes(chunks.length, timing, random);
  if (!truncated && disconnectAfterMs === undefined) return { chunks, due };
  return { chunks, due, cut: { truncated, ...(disconnectAfterMs !== undefined && { atMs: disconnectAfterMs }) } };
}

/** Writes into the journal how a paced reply ended, if it did not end well. */
function interruption(response: JournalResponse): (ending: Ending) => void {
  return (ending) => {
    if (ending === "complete") return;
    response.interrupted = true;
    response.interruptReason = ending;
  };
}
