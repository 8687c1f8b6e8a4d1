import type { ChatReply } from "../chat/reply.ts";
import type { Timing } from "../chat/timing.ts";
import type { Answer } from "../dialects/answer.ts";
import { ApiError } from "../dialects/api-error.ts";
import type { Stamp } from "../dialects/encode.ts";
import type { ArrivedChunk, Exchange } from "../dialects/exchange.ts";
import type { Call, WireReply } from "../dialects/operation.ts";
import { readExchange } from "../dialects/read-exchange.ts";
import { type TimedText, timedStream } from "../dialects/timed-stream.ts";
import { recordedResponse } from "../fixtures/record-response.ts";
import { answerContent } from "../fixtures/reply.ts";
import { type Failure, failureOf } from "./failures.ts";
import { recordedBody } from "./raw-body.ts";
import { replyOf, timelineText } from "./timeline.ts";
import type { RecordedHttp, TimelineFrame, Trace } from "./types.ts";

/** How fast what was recorded comes back: at once, as it came, or so many times as fast. */
export type ReplaySpeed = "max" | "real" | number;

export interface ReplayOptions {
  speed: ReplaySpeed;
  /** An extra wait before anything is sent, whatever the speed. */
  chaosLatencyMs: number;
  /** The providers' words for why they stopped, and ours. */
  finishWords: Readonly<Record<string, string>>;
}

/** As long as anybody waits. */
const STALLED_MS = 24 * 60 * 60 * 1000;

type Said = Answer extends infer Each ? (Each extends unknown ? Omit<Each, "source"> : never) : never;

/**
 * The answers of one take. They are made once: encodings are kept by the identity of what is encoded.
 */
export class TakeReplay {
  readonly trace: Trace;
  readonly #options: ReplayOptions;
  readonly #failure: Failure | undefined;
  #reply: ChatReply | undefined;
  #wire: { reply: WireReply; timing: Timing | undefined } | undefined;

  constructor(trace: Trace, options: ReplayOptions) {
    this.trace = trace;
    this.#options = options;
    this.#failure = failureOf(trace);
  }

  /**
   * In its own dialect and mode as it came over the wire, else by what it says.
   * @param form of the call
   */
  answer(call: Call, form: string): Said {
    const { operation, form: recordedForm, http } = this.trace.stuntdouble ?? {};
    const isOwn = operation === call.operation.name && (recordedForm === undefined || recordedForm === form);
    if (isOwn && http !== undefined) {
      this.#wire ??= this.#wireOf(http);
      if (this.#wire !== undefined) return { kind: "wire", ...this.#wire } as Said;
    }
    return this.#bySaying(call);
  }

  #wireOf(http: RecordedHttp): { reply: WireReply; timing: Timing | undefined } | undefined {
    const body = recordedBody(this.trace.raw_payload, http);
    if (body === undefined) return undefined;
    const cut = this.trace.stuntdouble?.ending !== undefined;
    const { status, headers, times_ms: times } = http;
    const reply: WireReply = { status, headers, body, ...(cut && { cut: true }) };
    const total = this.trace.network_metrics.total_duration_ms;
    return { reply, timing: this.#timing(Array.isArray(body) && times !== undefined ? times : [total]) };
  }

  #bySaying(call: Call): Said {
    const { response_timeline: timeline, network_metrics: metrics } = this.trace;
    const failure = this.#failure;
    const total = metrics.total_duration_ms;
    if (failure !== undefined && (timelineText(timeline) === "" || !call.streamed)) return this.#failed(failure, total);
    if (call.operation.output !== "chat") return this.#other(call);
    this.#reply ??= replyOf(this.trace, this.#options.finishWords);
    const out = this.#reply;
    if (!call.streamed || call.operation.encodeStream === undefined) {
      const timing = this.#timing([total]);
      return { kind: "output", out, ...(timing !== undefined && { timing }) };
    }
    const ending = failure === undefined ? undefined : failure.kind === "error" ? failure : { kind: "broken" as const };
    const { reply, dueMs } = timedStream(out, call, this.#stamp, textsOf(timeline, total), ending);
    if (failure?.kind === "stalled" && this.#waits) {
      // Nothing comes any more, and nothing says so.
      reply.body.push("");
      return { kind: "wire", reply, timing: stalled(this.#timing(dueMs)) };
    }
    const timing = this.#timing(dueMs);
    return { kind: "wire", reply, ...(timing !== undefined && { timing }) };
  }

  /** Of its own: the same take gives the same bytes. */
  get #stamp(): Stamp {
    const { trace_id: id, stuntdouble: extras } = this.trace;
    const recorded = Date.parse(extras?.recorded_at ?? "");
    return { id: id.slice(0, 20), created: Number.isNaN(recorded) ? 1_735_689_600 : Math.floor(recorded / 1000) };
  }

  get #waits(): boolean {
    return this.#options.speed !== "max";
  }

  #failed(failure: Failure, totalMs: number): Said {
    const timing = this.#timing([totalMs]);
    switch (failure.kind) {
      case "broken":
        return { kind: "disconnect", cause: failure.cause, ...(timing !== undefined && { timing }) } as Said;
      case "stalled":
        return {
          kind: "error",
          error: failure.error,
          terminal: true,
          ...(this.#waits ? { timing: { recordedTimings: { totalDurationMs: STALLED_MS } } } : {}),
        };
      case "error":
        return { kind: "error", error: failure.error, terminal: true, ...(timing !== undefined && { timing }) };
    }
  }

  /** What is no conversation: embeddings in another form or dialect. */
  #other(call: Call): Said {
    const { raw_payload: payload, stuntdouble: extras, network_metrics: metrics } = this.trace;
    const value = payload?.sync_response;
    const timing = this.#timing([metrics.total_duration_ms]);
    if (value === undefined) {
      const message = `This recording holds nothing that ${call.operation.name} could answer; it was made of ${extras?.operation ?? "another operation"}.`;
      return { kind: "error", error: new ApiError({ status: 500, message, code: "cassette_without_answer" }) };
    }
    const chunks: ArrivedChunk[] = [{ atMs: 0, bytes: Buffer.from(JSON.stringify(value)) }];
    const headers: [string, string][] = [["content-type", "application/json"]];
    const exchange = { status: 200, headers, chunks, call } as unknown as Exchange;
    const response = recordedResponse(exchange, readExchange({ chunks, headers }, call.operation), {
      body: JSON.stringify(value),
    });
    return { ...answerContent(response), ...(timing !== undefined && { timing }) } as Said;
  }

  /** @param times of the chunks as they were recorded */
  #timing(times: readonly number[]): Timing | undefined {
    const { speed, chaosLatencyMs } = this.#options;
    if (speed === "max" && chaosLatencyMs === 0) return undefined;
    const factor = speed === "max" ? Number.POSITIVE_INFINITY : speed === "real" ? 1 : speed;
    const due = times.map((ms) => chaosLatencyMs + ms / factor);
    const gaps = due.slice(1).map((ms, index) => Math.max(0, ms - due[index]!));
    const first = due[0] ?? chaosLatencyMs;
    return {
      recordedTimings: {
        ttftMs: first,
        interChunkDelaysMs: gaps,
        totalDurationMs: due.at(-1) ?? first,
      },
      replaySpeed: 1,
    };
  }
}

/** The texts of a timeline at their times. A reply that was not streamed came when all of it was there. */
function textsOf(timeline: readonly TimelineFrame[], totalMs: number): TimedText[] {
  let atMs = 0;
  return timeline.map(({ delta_ms: delta, chunk }) => {
    atMs += delta;
    return { atMs: timeline.length === 1 && delta === 0 ? totalMs : atMs, text: chunk };
  });
}

function stalled(timing: Timing | undefined): Timing {
  const { ttftMs = 0, interChunkDelaysMs: gaps = [] } = timing?.recordedTimings ?? {};
  return { recordedTimings: { ttftMs, interChunkDelaysMs: [...gaps, STALLED_MS] } };
}
