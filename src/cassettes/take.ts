import type { ChatReply } from "../chat/reply.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { Exchange } from "../dialects/exchange.ts";
import type { Call } from "../dialects/operation.ts";
import { isObject } from "../dialects/raw-request.ts";
import { bodyFraming, type ReadExchange } from "../dialects/read-exchange.ts";
import { recordedResponse } from "../fixtures/record-response.ts";
import { type RecordedExchange, readRecorded } from "../fixtures/recorded-exchange.ts";
import type { Redaction } from "../guard/redact.ts";
import { errorType } from "./failures.ts";
import { framingOf } from "./raw-body.ts";
import { isPlain, rounded, streamTimeline, unaryTimeline, usageOf } from "./timeline.ts";
import type {
  ExceptionBoundary,
  RawPayload,
  RecordedHttp,
  RequestContext,
  TimelineFrame,
  Trace,
  TraceExtras,
} from "./types.ts";

export interface TakeOptions {
  traceId: string;
  form: string;
  /** One that knows the call. */
  redaction: Redaction;
  tickMs: number;
  /** Whether what the provider sent is kept beside the timeline. */
  raw: boolean;
}

/**
 * The take that a call and its answer are.
 * @throws {WholeFieldError} when a secret stands in a field that must stay whole
 */
export function takeOf(exchange: Exchange, { traceId, form, redaction, tickMs, raw }: TakeOptions): Trace {
  const { call, provider, sentAtMs, totalMs, status } = exchange;
  const { context, rest } = requestOf(call, provider, redaction);
  const recorded = readRecorded(exchange, redaction);
  const { read, ending } = recorded;
  // Some stream although the call is none that a dialect knows to ask for it.
  const streams = context.parameters.stream || isEventStream(exchange);
  context.parameters.stream = streams;
  const reply = read.reply !== undefined && read.reply.choices.length > 0 ? read.reply : undefined;
  const timeline = timelineOf(recorded, exchange, streams, tickMs);
  const ttfb = streams ? (timeline[0]?.delta_ms ?? rounded(totalMs)) : rounded(totalMs);
  const payload = payloadOf(streams && (recorded.streamed || status < 400), read.messages);
  // What no dialect decodes has no timeline that could take the place of the raw layer.
  const keepsRaw = raw || reply === undefined;
  const extras: TraceExtras = {
    operation: call.operation.name,
    recorded_at: new Date(sentAtMs).toISOString(),
    form,
    ...(rest !== undefined && { request: rest }),
    http: httpOf(recorded, payload, status, keepsRaw),
    ...(ending !== undefined && { ending }),
    ...(reply !== undefined && status < 400 && !isPlain(reply) && { reply }),
    ...(redaction.findings.length > 0 && { redactions: redaction.findings }),
    ...pricedApart(reply),
  };
  return {
    trace_id: traceId,
    request_context: context,
    network_metrics: { ttfb_ms: ttfb, total_duration_ms: Math.max(ttfb, rounded(totalMs)) },
    response_timeline: timeline,
    exception_boundary: boundaryOf(exchange, recorded),
    usage: usageOf(reply ?? {}),
    ...(keepsRaw && payload !== undefined && { raw_payload: payload }),
    stuntdouble: extras,
  };
}

/** A call that its provider never began to answer. */
export function failedTake(
  call: Call,
  provider: string,
  failure: { type: string; message: string; sentAtMs: number; totalMs: number },
  { traceId, form, redaction }: TakeOptions,
): Trace {
  const { context, rest } = requestOf(call, provider, redaction);
  const { type, message, sentAtMs, totalMs } = failure;
  return {
    trace_id: traceId,
    request_context: context,
    network_metrics: { ttfb_ms: rounded(totalMs), total_duration_ms: rounded(totalMs) },
    response_timeline: [],
    exception_boundary: { occurred: true, error_type: type, message: redaction.text(message, "error") },
    usage: usageOf({}),
    stuntdouble: {
      operation: call.operation.name,
      recorded_at: new Date(sentAtMs).toISOString(),
      form,
      ...(rest !== undefined && { request: rest }),
      ...(redaction.findings.length > 0 && { redactions: redaction.findings }),
    },
  };
}

function pricedApart(reply: ChatReply | undefined): Pick<TraceExtras, "usage"> {
  const { cachedTokens = 0, cacheWriteTokens = 0 } = reply?.usage ?? {};
  if (cachedTokens === 0 && cacheWriteTokens === 0) return {};
  return {
    usage: {
      ...(cachedTokens > 0 && { cached_tokens: cachedTokens }),
      ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
    },
  };
}

/** The request in the format's own members, and what has no place in them. */
function requestOf(call: Call, provider: string, redaction: Redaction): { context: RequestContext; rest?: unknown } {
  // Of a secret that the name of its provider is cut from, a part would be left that is none by its looks.
  const model = redaction.text(call.view.model, "model");
  return redaction.value(requestParts(call, provider, model), "request body");
}

/**
 * The same before redaction.
 * @param model what was asked for, as it may be shown
 */
export function requestParts(
  { view, streamed, operation }: Call,
  provider: string,
  model: string,
): { context: RequestContext; rest?: unknown } {
  const request = view.request as Partial<ChatRequest> | undefined;
  const isChat = operation.output === "chat" && isObject(request) && Array.isArray(request.messages);
  const { messages, model: _, temperature, max_tokens: maxTokens, stream: __, ...rest } = isChat ? request : {};
  const text = view.inputText ?? "";
  const spoken =
    (messages as RequestContext["messages"] | undefined) ?? (text === "" ? [] : [{ role: "user", content: text }]);
  const context: RequestContext = {
    model: modelName(model),
    provider,
    messages: spoken,
    parameters: {
      temperature: typeof temperature === "number" ? temperature : null,
      max_tokens: Number.isInteger(maxTokens) ? (maxTokens as number) : null,
      stream: streamed,
    },
  };
  if (isChat) return Object.keys(rest).length > 0 ? { context, rest } : { context };
  return request === undefined || request === null || text !== "" ? { context } : { context, rest: request };
}

/** Without the provider before it. */
export function modelName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}

function timelineOf(
  { read, ending, chunks }: RecordedExchange,
  { status }: Exchange,
  streams: boolean,
  tickMs: number,
): TimelineFrame[] {
  const { reply, frames = [] } = read;
  if (status >= 400) return [];
  if (reply === undefined || reply.choices.length === 0) {
    // Nothing is known of it but that it came.
    const atMs = streams ? rounded(chunks[0]?.atMs ?? 0) : 0;
    return ending === undefined ? [{ delta_ms: atMs, chunk: "" }] : [];
  }
  return streams ? streamTimeline(frames, reply, tickMs) : unaryTimeline(reply);
}

function payloadOf(streamed: boolean, messages: ReadExchange["messages"]): RawPayload | undefined {
  if (messages.length === 0) return undefined;
  const values = messages.map(({ value }) => value);
  return streamed ? { stream_chunks: values } : { sync_response: values.length === 1 ? values[0] : values };
}

function isEventStream({ headers }: Exchange): boolean {
  const framing = bodyFraming(headers.find(([name]) => name === "content-type")?.[1] ?? "");
  return framing !== "whole" && framing !== "other";
}

function httpOf(
  { chunks, http, streamed }: RecordedExchange,
  payload: RawPayload | undefined,
  status: number,
  raw: boolean,
): RecordedHttp {
  const head: RecordedHttp = {
    status,
    headers: http.headers ?? {},
    ...(streamed && { times_ms: chunks.map(({ atMs }) => rounded(atMs)) }),
  };
  if (!raw) return head;
  const texts = [http.body].flat();
  const framing = payload === undefined || http.encoding !== undefined ? undefined : framingOf(payload, texts);
  if (framing !== undefined) return { ...head, framing };
  return { ...head, body: http.body, ...(http.encoding !== undefined && { encoding: http.encoding }) };
}

function boundaryOf(exchange: Exchange, { read, ending, http }: RecordedExchange): ExceptionBoundary {
  const { status } = exchange;
  if (status >= 400) {
    const response = recordedResponse(exchange, read, http);
    const message = "error" in response ? response.error.message : `The provider answered ${status}.`;
    return { occurred: true, error_type: errorType(status), message };
  }
  if (exchange.cut !== undefined)
    return { occurred: true, error_type: exchange.cut.type, message: exchange.cut.message };
  const failed = read.frames?.find(({ event }) => event.type === "error")?.event;
  if (failed?.type === "error") return { occurred: true, error_type: "APIError", message: failed.message };
  switch (ending) {
    case undefined:
      return { occurred: false };
    case "truncated":
      return {
        occurred: true,
        error_type: "ConnectionError",
        message: exchange.fault ?? "The provider broke off before the end.",
      };
    case "cut":
      return { occurred: true, error_type: "ConnectionError", message: "The client went away before the end." };
    case "partial":
      return {
        occurred: true,
        error_type: "ConnectionError",
        message: `${exchange.droppedBytes} bytes were too many to be kept.`,
      };
  }
}
