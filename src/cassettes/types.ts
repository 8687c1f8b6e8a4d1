import type { ChatReply } from "../chat/reply.ts";
import type { Finding } from "../guard/finding.ts";

/** The takes that a cassette holds at most; the oldest leaves first. */
export const MOST_TAKES = 5;

/**
 * A recorded call, in the form of the seed format: members that it does not name stand in `stuntdouble`, where other
 * readers pass over them. Whatever else a file holds survives a rewrite.
 */
export interface Cassette {
  scenario: string;
  /** The take that is replayed unless another one is asked for. */
  latest_trace_id: string;
  /** Oldest first. */
  history_keys: string[];
  traces: Record<string, Trace>;
  stuntdouble?: CassetteIdentity;
}

/** What tells the recorded call from all others. Absent in cassettes that were written by hand. */
export interface CassetteIdentity {
  format_version: number;
  invoker?: string;
  /** The file name that the call asked for. */
  filename?: string;
  fingerprint?: string;
  /** From 1: how often the same call had been made when this was recorded. */
  occurrence?: number;
}

export interface Trace {
  /** 32 hexadecimal digits, the same in all cassettes of one run. */
  trace_id: string;
  request_context: RequestContext;
  network_metrics: { ttfb_ms: number; total_duration_ms: number };
  response_timeline: TimelineFrame[];
  exception_boundary: ExceptionBoundary;
  usage: TraceUsage;
  raw_payload?: RawPayload;
  stuntdouble?: TraceExtras;
}

export interface RequestContext {
  model: string;
  provider: string;
  messages: { role: string; content: unknown; [member: string]: unknown }[];
  parameters: { temperature: number | null; max_tokens: number | null; stream: boolean };
}

export interface TimelineFrame {
  /** Since the frame before; of the first, since the request. */
  delta_ms: number;
  chunk: string;
  tool_calls?: TimelineToolCall[];
  /** Of the last frame only. */
  finish_reason?: string;
}

export interface TimelineToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface ExceptionBoundary {
  occurred: boolean;
  error_type?: string;
  message?: string;
}

export interface TraceUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface RawPayload {
  sync_response?: unknown;
  stream_chunks?: unknown[];
}

/** What the format has no place for. */
export interface TraceExtras {
  /** The operation by its name: `openai-chat`. */
  operation?: string;
  recorded_at?: string;
  /** What of the request shapes the answer's form alone. */
  form?: string;
  /** Of the request, what `request_context` does not hold. */
  request?: unknown;
  http?: RecordedHttp;
  /** Why the reply is not whole. */
  ending?: "truncated" | "cut" | "partial";
  /** The whole reply, where the timeline has no place for some of it. */
  reply?: ChatReply;
  redactions?: Finding[];
  /** Of the prompt's tokens, those with a price of their own. */
  usage?: { cached_tokens?: number; cache_write_tokens?: number };
}

/** The reply as it came over the wire. */
export interface RecordedHttp {
  status: number;
  headers: Record<string, string>;
  /** When each chunk of a stream had arrived, since the request. */
  times_ms?: number[];
  /** How the body is made of the raw payload; where it cannot be, `body` holds it. */
  framing?: RawFraming;
  body?: string | string[];
  encoding?: "base64";
}

/** `done`: a stream ends with `data: [DONE]`. */
export type RawFraming = "json" | "sse" | "sse-done" | "sse-named" | "ndjson";
