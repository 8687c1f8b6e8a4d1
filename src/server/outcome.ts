import { dueTimes, type Timing } from "../chat/timing.ts";
import { framingOf, onWire, type Print, renderStream, renderUnary } from "../dialects/encode.ts";
import type { Call, HeaderFields, Operation, WireReply } from "../dialects/operation.ts";

import { STREAM_HEADERS } from "../dialects/stream-headers.ts";
import type { CallStamp } from "../state/stamps.ts";
import type { LiveBody } from "../transport/live.ts";
import type { Ending, PacedBody } from "./pace.ts";

/** A reply, ready to be sent by whatever carried the request. */
export interface Outcome {
  status: number;
  /** Names and values by turns, as Node takes them without making an object. */
  headers: string[];
  body: string | Uint8Array | Print | PacedBody | LiveBody;
  /** Whether the head of the reply leaves before its body is due, as a stream's does. */
  streamed: boolean;
  /** Why the connection breaks before there is a status. */
  cause?: Error;
  /** Called once the reply is on its way: what can wait must not keep a provider's first byte back. */
  sent?(): void;
  /** To be told how a paced body ended. */
  ended?(ending: Ending): void;
}

export { STREAM_HEADERS };

/** A reply that is not streamed is one chunk. */
export function timed(
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

export function headerList(fields: HeaderFields, operation: Operation | undefined, stamp: CallStamp): string[] {
  const list = ["access-control-allow-origin", "*"];
  const idHeader = operation?.requestIdHeader ?? "x-request-id";
  if (fields[idHeader] === undefined) list.push(idHeader, requestId(stamp));
  for (const name in fields) list.push(name, fields[name]!);
  return list;
}

export const requestId = (stamp: CallStamp): string => `req_${stamp.id}`;

export const JSON_HEADERS: HeaderFields = { "content-type": "application/json" };
export const preflight = (): Outcome => ({
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

export function takesTime(timing: Timing): boolean {
  return (
    timing.streamingProfile !== undefined ||
    timing.recordedTimings !== undefined ||
    (timing.latencyMs ?? 0) > 0 ||
    timing.truncateAfterChunks !== undefined ||
    timing.disconnectAfterMs !== undefined
  );
}

export function pacedBody(all: (string | Uint8Array)[], timing: Timing, random: () => number): PacedBody {
  const { truncateAfterChunks: most, disconnectAfterMs } = timing;
  const truncated = most !== undefined && most < all.length;
  const chunks = truncated ? all.slice(0, Math.max(0, most)) : all;
  const due = dueTimes(chunks.length, timing, random);
  if (!truncated && disconnectAfterMs === undefined) return { chunks, due };
  return { chunks, due, cut: { truncated, ...(disconnectAfterMs !== undefined && { atMs: disconnectAfterMs }) } };
}

/** The connection breaks before anything is sent; 0 stands for the status that nobody sees. */
export function disconnected(cause?: Error): Outcome {
  const body = { chunks: [], due: undefined, cut: { truncated: true } };
  return { status: 0, headers: [], body, streamed: false, ...(cause && { cause }) };
}

/**
 * A reply that says it is fine and whose JSON is broken off; of a stream the first event.
 * @param out what would have been answered, where that is known
 */
export function malformed(call: Call, out: unknown, stamp: CallStamp): Outcome {
  const { operation } = call;
  if (out === undefined || !call.streamed || operation.encodeStream === undefined) {
    const body = withoutEnd(out === undefined ? '{"malformed":{}}' : String(renderUnary(out, call, stamp).bytes()));
    return timed({ status: 200, headers: JSON_HEADERS, body }, undefined, operation, stamp);
  }
  const framing = framingOf(operation, call.request);
  // A name that its client knows, since clients pass over events that they do not.
  const body = onWire(withoutEnd(renderStream(out, call, stamp)[0] ?? ""), framing);
  return { status: 200, headers: headerList(STREAM_HEADERS[framing], operation, stamp), body, streamed: true };
}

const withoutEnd = (text: string): string => text.replace(/[}\]](?=\s*$)/, "");

/** What a provider says beside a 429 of how long to wait. Those that the reply has already stay as they are. */
export function addRateLimits(headers: string[]): void {
  for (let index = 0; index < RATE_LIMITED.length; index += 2) {
    if (!headers.includes(RATE_LIMITED[index]!)) headers.push(RATE_LIMITED[index]!, RATE_LIMITED[index + 1]!);
  }
}

const RATE_LIMITED = [
  ...["retry-after", "1"],
  ...["x-ratelimit-limit-requests", "60"],
  ...["x-ratelimit-limit-tokens", "150000"],
  ...["x-ratelimit-remaining-requests", "0"],
  ...["x-ratelimit-remaining-tokens", "0"],
  ...["x-ratelimit-reset-requests", "1s"],
  ...["x-ratelimit-reset-tokens", "6m0s"],
];

/** The same while there is something left, for every other reply. */
export const RATE_LIMITS: readonly string[] = [
  ...["x-ratelimit-limit-requests", "60"],
  ...["x-ratelimit-limit-tokens", "150000"],
  ...["x-ratelimit-remaining-requests", "59"],
  ...["x-ratelimit-remaining-tokens", "149984"],
  ...["x-ratelimit-reset-requests", "1s"],
  ...["x-ratelimit-reset-tokens", "6ms"],
];
