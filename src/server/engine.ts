import type { ChatReply } from "../chat/reply.ts";
import type { Timing } from "../chat/timing.ts";
import type { Answer, Answerer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import { callOf, testIdOf } from "../dialects/call.ts";
import { framingOf, onWire, renderChunks, renderUnary, renderWhole } from "../dialects/encode.ts";
import { renderFailing } from "../dialects/failing-stream.ts";
import { httpOperation } from "../dialects/http.ts";
import type { Call, Memory, Operation, WireReply } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { SentReply } from "../dialects/sent-reply.ts";
import type { GateCut } from "../guard/gate.ts";
import type { Clock } from "../state/clock.ts";
import type { Journal, JournalResponse } from "../state/journal.ts";
import type { CallStamp, Stamps } from "../state/stamps.ts";
import type { ChaosControl } from "./chaos.ts";
import type { Guards } from "./guards.ts";
import {
  addRateLimits,
  disconnected,
  headerList,
  JSON_HEADERS,
  malformed,
  type Outcome,
  pacedBody,
  preflight,
  RATE_LIMITS,
  requestId,
  STREAM_HEADERS,
  takesTime,
  timed,
} from "./outcome.ts";
import type { Ending } from "./pace.ts";
import type { Router } from "./router.ts";
import { speakerOf, unroutedError } from "./unrouted.ts";

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
  /** Paths of the double itself that are open to all: health, metrics. */
  open?(raw: RawRequest): Outcome | Promise<Outcome> | undefined;
  /** Says why a caller is not let in. */
  keys?: { refusal(raw: RawRequest): ApiError | undefined };
  /** Paths of the double itself that are not for everybody. */
  control?(raw: RawRequest): Outcome | Promise<Outcome> | undefined;
  chaos?: ChaosControl;
  /** What must not pass, in either direction. */
  guards?: { open(): Guards | Promise<Guards> | undefined; readonly current: Guards | undefined };
  /** Told of a call that its guard has refused. */
  refused?(call: Call, cut: GateCut): void;
  /** A call that no tape answers is refused, and nobody else asked; a header may say otherwise. */
  strict?: boolean;
  /** Whether a WebSocket may go to its provider, as far as it is about tapes. */
  passesWebSockets?(): boolean;
  /** What is added to the message of a miss. */
  explain?(call: Call): MaybeLater<Explained>;
  /** Whether every reply says how much of its rate limit is left; one with 429 does in any case. */
  rateLimitHeaders?: boolean;
  /** Told of every call once it is answered. */
  onCall?(raw: RawRequest, response: JournalResponse, tape?: unknown): void;
  /** The message of a miss is the same for all; only the journal explains it. */
  plainMisses?: boolean;
}

/** Why nothing answered a call. */
export interface Explained {
  text: string;
  /** For the journal. */
  explanation: unknown;
}

type MaybeLater<T> = T | undefined | Promise<T | undefined>;

/** From a request to a reply, knowing nothing of sockets. */
export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Never throws: what goes wrong is a reply too. It is synchronous unless an answerer is not. */
  handle(raw: RawRequest): Outcome | Promise<Outcome> {
    if (raw.method === "OPTIONS") return preflight();
    const { open, control } = this.#options;
    const opened = open?.(raw);
    if (opened !== undefined) return opened;
    const refusal = this.refusal(raw);
    if (refusal !== undefined) return refusal;
    const controlled = control?.(raw);
    if (controlled !== undefined) return controlled;
    const operation = this.#options.router.find(raw)?.operation;
    const guards = this.#options.guards?.open();
    if (guards === undefined) return this.#answer(raw, operation);
    if (!(guards instanceof Promise)) return this.#screened(guards, raw, operation);
    return guards
      .then((ready) => this.#screened(ready, raw, operation))
      .catch((error) => this.#failed(operation, raw, error));
  }

  /** What a guard refuses comes no further; what it redacts is what all that follows sees. */
  #screened(guards: Guards, raw: RawRequest, operation: Operation | undefined): Outcome | Promise<Outcome> {
    const screening = guards.request(raw, operation);
    if (screening === undefined) return this.#answer(raw, operation);
    const { raw: onward, cut } = screening;
    if (cut === undefined) return this.#answer(onward, operation);
    const outcome = this.#refuse(operation, onward, cut.error, "guard");
    const { refused, memory } = this.#options;
    try {
      refused?.(callOf(operation ?? httpOperation, onward, memory), cut);
    } catch (error) {
      // What nobody can decode is not recorded either.
      if (!(error instanceof ApiError)) throw error;
    }
    return outcome;
  }

  #answer(raw: RawRequest, operation: Operation | undefined): Outcome | Promise<Outcome> {
    if (operation === undefined) return this.#askAsHttp(raw, () => this.#unrouted(raw));
    let call: Call;
    try {
      call = callOf(operation, raw, this.#options.memory);
      const requests = operation.candidates?.(call.request);
      const asked = requests === undefined ? this.#ask(call, 0) : this.#askInTurn(call, requests, 0);
      const orElse = (given: Answer | undefined): MaybeLater<Answer> => this.#afterTapes(call, given);
      const answer = asked instanceof Promise ? asked.then(orElse) : orElse(asked);
      if (!(answer instanceof Promise)) return this.#conclude(call, answer);
      return answer.then((late) => this.#conclude(call, late)).catch((error) => this.#failed(operation, raw, error));
    } catch (error) {
      const refuse = (): Outcome => this.#failed(operation, raw, error);
      // The provider knows better than we do what it takes.
      return error instanceof ApiError ? this.#askAsHttp(raw, refuse, operation) : refuse();
    }
  }

  /** The reply to a caller that is not let in; undefined for all others. */
  refusal(raw: RawRequest): Outcome | undefined {
    const error = this.#options.keys?.refusal(raw);
    return error === undefined ? undefined : this.refuse(raw, error);
  }

  /** The reply to a request that never got as far as a call, in its provider's shape where the path tells it. */
  refuse(raw: RawRequest, error: ApiError): Outcome {
    const routed = this.#options.router.find(raw);
    return this.#refuse(routed?.operation, raw, error, "refused");
  }

  /**
   * The reply to a WebSocket, on which nothing here can answer; undefined for one that may pass to its provider.
   * @param opened on a connection that was opened for the proxy
   */
  webSocketRefusal(raw: RawRequest, opened: boolean): Outcome | undefined {
    const { guards, passesWebSockets } = this.#options;
    const refusal = this.refusal(raw);
    if (refusal !== undefined) return refusal;
    const why = !opened
      ? "only those that come through `stuntdouble proxy` do"
      : this.#isStrict(raw)
        ? "strict mode is on"
        : guards?.open() !== undefined
          ? "guardrails could not see what it says"
          : passesWebSockets?.() !== true
            ? "nothing is passed on in this mode"
            : undefined;
    if (why === undefined) return undefined;
    const message = `No tape answers on a WebSocket, and this one does not pass to its provider: ${why}. See docs/proxy.md.`;
    return this.refuse(raw, new ApiError({ status: 501, message, code: "websocket_not_supported" }));
  }

  /** Writes into the journal that a WebSocket went to its provider. */
  webSocketPassed(raw: RawRequest, status: number, provider: string): void {
    const detail = "A WebSocket: it passes as it is, and nothing of it is recorded.";
    this.#record(raw, undefined, { status, source: "upstream", fixture: provider, detail });
  }

  #ask(call: Call, from: number): MaybeLater<Answer> {
    return firstAnswer(this.#options.answerers, call, from);
  }

  /** Chance comes before the provider: a call that it drops must not cost anything. */
  #afterTapes(call: Call, given: Answer | undefined): MaybeLater<Answer> {
    const { chaos } = this.#options;
    const struck = chaos === undefined ? given : chaos.strike(call, given);
    if (struck instanceof Promise) return struck.then((late) => late ?? this.#askLast(call));
    return struck ?? this.#askLast(call);
  }

  #askLast(call: Call): MaybeLater<Answer> {
    const { operation, raw } = call;
    const strict = this.#isStrict(raw);
    const relayed = strict ? undefined : this.#options.upstream?.(call);
    if (relayed !== undefined) return relayed;
    // Strict is about answers of a model; a list of models is made in any case.
    if (operation.fallback === undefined || (strict && operation.output !== "none")) return undefined;
    return { kind: "output", out: operation.fallback(call), source: { kind: "fallback" } };
  }

  #isStrict(raw: RawRequest): boolean {
    const asked = raw.header("x-stuntdouble-strict") ?? raw.header("x-aimock-strict");
    if (asked === "true" || asked === "1") return true;
    if (asked === "false" || asked === "0") return false;
    return this.#options.strict === true;
  }

  /** A request that no dialect can read, as it is: by a recording of it, or by the provider. */
  #askAsHttp(raw: RawRequest, otherwise: () => Outcome, refusing?: Operation): Outcome | Promise<Outcome> {
    const { httpAnswerers = [], upstream, memory } = this.#options;
    try {
      const { encodeError, requestIdHeader } = refusing ?? this.#speaker(raw);
      // It stays with the provider whose operation refused it: that one's name begins with it.
      const dialect = (refusing ?? httpOperation).name;
      const call = callOf(
        { ...httpOperation, dialect, encodeError, ...(requestIdHeader && { requestIdHeader }) },
        raw,
        memory,
      );
      const conclude = (answer: Answer | undefined): Outcome | Promise<Outcome> =>
        answer === undefined ? otherwise() : this.#conclude(call, answer);
      const after = (given: Answer | undefined): MaybeLater<Answer> =>
        given === undefined && upstream === undefined ? undefined : this.#afterTapes(call, given);
      const asked = firstAnswer(httpAnswerers, call, 0);
      const answer = asked instanceof Promise ? asked.then(after) : after(asked);
      if (!(answer instanceof Promise)) return conclude(answer);
      return answer.then(conclude).catch((error) => this.#failed(refusing, raw, error));
    } catch (error) {
      return this.#failed(refusing, raw, error);
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

  #conclude(call: Call, answer: Answer | undefined): Outcome | Promise<Outcome> {
    if (answer === undefined) return this.#missed(call);
    const stamp = this.#options.stamps.next(call.testId, answer.source.id ?? answer.source.kind);
    const response: JournalResponse = { status: 200, source: answer.source.kind, fixture: answer.source.id ?? null };
    const given = this.#outcomeOf(call, answer, stamp);
    const guards = this.#options.guards?.current;
    const outcome = guards === undefined ? given : this.#guarded(guards, call, answer, given, response, stamp);
    response.status = outcome.status;
    if (answer.kind === "error" && answer.source.kind === "guard") response.detail = answer.error.message;
    const record = (): void => this.#record(call.raw, call, response, call.operation, answer.source.tape);
    if (answer.kind === "live") outcome.sent = record;
    else record();
    const { body, status } = outcome;
    if (typeof body === "object" && "chunks" in body && status !== 0) outcome.ended = interruption(response);
    if (answer.kind === "live") {
      const note = interruption(response);
      answer.reply.body.onEnding = (ending) => {
        note(ending);
        const hits = guards?.hitsOf(call.raw);
        if (hits !== undefined) response.guard = hits;
      };
    }
    return outcome;
  }

  /** A reply behind its guard: as it is, redacted, cut, or an error in its place. */
  #guarded(
    guards: Guards,
    call: Call,
    answer: Answer,
    outcome: Outcome,
    response: JournalResponse,
    stamp: CallStamp,
  ): Outcome {
    const gated = guards.outcome(call, answer, outcome, requestId(stamp));
    if (gated === undefined) return outcome;
    const { body, cut } = gated;
    if (cut !== undefined) {
      response.detail = cut.message;
      if (body === undefined) {
        response.source = "guard";
        return this.#errorOutcome(call, cut.error, answer.timing, stamp);
      }
      response.interrupted = true;
      response.interruptReason = cut.by;
    }
    return { ...outcome, body: body ?? outcome.body };
  }

  #outcomeOf(call: Call, answer: Answer, stamp: CallStamp): Outcome {
    const { operation } = call;
    switch (answer.kind) {
      case "output": {
        const outcome =
          answer.streamError === undefined
            ? this.#encode(call, answer.out, answer.timing, stamp)
            : this.#fail(call, answer.out as ChatReply, answer.streamError, answer.timing, stamp);
        if (this.#options.rateLimitHeaders) outcome.headers.push(...RATE_LIMITS);
        return outcome;
      }
      case "live":
        return { ...answer.reply, streamed: true };
      case "error":
        return this.#errorOutcome(call, answer.error, answer.timing, stamp);
      case "wire":
        return timed(answer.reply, answer.timing, operation, stamp);
      case "malformed":
        return malformed(call, answer.out, stamp);
      case "disconnect":
        return disconnected(answer.cause);
    }
  }

  #encode(call: Call, out: unknown, timing: Timing | undefined, stamp: CallStamp): Outcome {
    const { operation } = call;
    operation.remember?.(out, call, new SentReply(out, call, stamp, timing?.chunkSize));
    const own = operation.encodeHeaders?.(out, call);
    if (!call.streamed || operation.encodeStream === undefined) {
      const body = renderUnary(out, call, stamp);
      const fields = own === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...own };
      if (timing === undefined || !takesTime(timing)) {
        return { status: 200, headers: headerList(fields, operation, stamp), body, streamed: false };
      }
      return timed({ status: 200, headers: fields, body: body.bytes() }, timing, operation, stamp);
    }
    const framing = framingOf(operation, call.request);
    const fields = own === undefined ? STREAM_HEADERS[framing] : { ...STREAM_HEADERS[framing], ...own };
    const headers = headerList(fields, operation, stamp);
    if (timing === undefined || !takesTime(timing)) {
      const body = renderWhole(out, call, stamp, timing?.chunkSize);
      return { status: 200, headers, body, streamed: true };
    }
    const chunks = renderChunks(out, call, stamp, timing.chunkSize);
    return { status: 200, headers, body: pacedBody(chunks, timing, stamp.random), streamed: true };
  }

  #errorOutcome({ operation, raw }: Call, error: ApiError, timing: Timing | undefined, stamp: CallStamp): Outcome {
    const reply = operation.encodeError(error, requestId(stamp), raw);
    const outcome = timed(reply, timing, operation, stamp);
    if (reply.status === 429) addRateLimits(outcome.headers);
    return outcome;
  }

  /** A reply that ends with an error. What failed is not remembered. */
  #fail(call: Call, out: ChatReply, error: ApiError, timing: Timing | undefined, stamp: CallStamp): Outcome {
    const { operation } = call;
    if (!call.streamed || operation.encodeStream === undefined) return this.#errorOutcome(call, error, timing, stamp);
    const framing = framingOf(operation, call.request);
    const chunks = renderFailing(out, error, call, stamp, requestId(stamp), timing?.chunkSize);
    const reply: WireReply = {
      status: 200,
      headers: STREAM_HEADERS[framing],
      body: chunks.map((text) => onWire(text, framing)),
      ...(operation.encodeStreamError === undefined && { cut: true }),
    };
    return timed(reply, timing, operation, stamp);
  }

  #missed(call: Call): Outcome | Promise<Outcome> {
    let explained: MaybeLater<Explained>;
    try {
      explained = this.#options.explain?.(call);
    } catch {
      // A miss that nobody can explain is still a miss.
    }
    if (!(explained instanceof Promise)) return this.#miss(call, explained);
    return explained.then(
      (late) => this.#miss(call, late),
      () => this.#miss(call, undefined),
    );
  }

  #miss(call: Call, why: Explained | undefined): Outcome {
    const strict = this.#isStrict(call.raw);
    const message = strict ? "Strict mode: no fixture matched" : "No fixture matched";
    const explained = why === undefined ? message : `${message}. ${why.text}`;
    const error = new ApiError({
      status: strict ? 503 : 404,
      message: this.#options.plainMisses ? message : explained,
      type: "invalid_request_error",
      code: "no_fixture_match",
    });
    return this.#refuse(call.operation, call.raw, error, "miss", call, {
      detail: explained,
      ...(why !== undefined && { explanation: why.explanation }),
    });
  }

  #failed(operation: Operation | undefined, raw: RawRequest, error: unknown): Outcome {
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
    const others = this.#options.router.otherMethods(raw);
    const error = unroutedError(raw, others);
    const outcome = this.#refuse(undefined, raw, error, "refused");
    if (error.status === 405) outcome.headers.push("allow", [...others.keys()].join(", "));
    return outcome;
  }

  #speaker(raw: RawRequest): Operation {
    return speakerOf(raw, this.#options.router.otherMethods(raw));
  }

  #refuse(
    operation: Operation | undefined,
    raw: RawRequest,
    error: ApiError,
    source: JournalResponse["source"],
    call?: Call,
    details: Pick<JournalResponse, "detail" | "explanation"> = { detail: error.message },
  ): Outcome {
    const stamp = this.#options.stamps.next(testIdOf(raw), source);
    const speaker = operation ?? this.#speaker(raw);
    const outcome = timed(speaker.encodeError(error, requestId(stamp), raw), undefined, speaker, stamp);
    this.#record(raw, call, { status: error.status, source, fixture: null, ...details }, operation);
    return outcome;
  }

  #record(
    raw: RawRequest,
    call: Call | undefined,
    response: JournalResponse,
    operation = call?.operation,
    tape?: unknown,
  ): void {
    const { journal, clock, onCall } = this.#options;
    if (call?.chaosAction !== undefined) response.chaosAction = call.chaosAction;
    const shown = this.#options.guards?.current === undefined ? raw : this.#shown(raw, response);
    journal.write({ raw: shown, operation, testId: call?.testId ?? testIdOf(raw), timestamp: clock.wall(), response });
    onCall?.(raw, response, tape);
  }

  /** The request as it may be shown, and what is said of it. */
  #shown(raw: RawRequest, response: JournalResponse): RawRequest {
    const guards = this.#options.guards!.current!;
    const hits = guards.hitsOf(raw);
    if (hits === undefined) return raw;
    response.guard = hits;
    if (response.detail !== undefined) response.detail = guards.mask(raw, response.detail);
    if (response.explanation !== undefined)
      response.explanation = JSON.parse(guards.mask(raw, JSON.stringify(response.explanation)));
    return guards.shown(raw);
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

/** Writes into the journal how a paced reply ended, if it did not end well. */
function interruption(response: JournalResponse): (ending: Ending) => void {
  return (ending) => {
    if (ending === "complete") return;
    response.interrupted = true;
    response.interruptReason ??= ending;
  };
}
