import type { Frame } from "../chat/frames.ts";
import type { ChatReply } from "../chat/reply.ts";
import { AwsEventStreamParser, bedrockMessage } from "../wire/aws-event-stream.ts";
import { NdjsonParser } from "../wire/ndjson.ts";
import { SseParser } from "../wire/sse.ts";
import type { ArrivedChunk, Exchange } from "./exchange.ts";
import type { Operation } from "./operation.ts";
import { isObject } from "./raw-request.ts";
import { Traverser } from "./traverser.ts";

/** How the messages of a body are told apart; `whole` is one body, and `other` is a stream of something else. */
export type BodyFraming = "sse" | "ndjson" | "aws-event-stream" | "whole" | "other";

export function bodyFraming(contentType: string): BodyFraming {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  switch (type) {
    case "text/event-stream":
      return "sse";
    case "application/x-ndjson":
    case "application/ndjson":
    case "application/jsonl":
    case "application/x-json-stream":
    case "application/stream+json":
      return "ndjson";
    case "application/vnd.amazon.eventstream":
      return "aws-event-stream";
    case "application/json":
      return "whole";
    default:
      return type.endsWith("+json") ? "whole" : "other";
  }
}

/** Joined, it is the body; each chunk ends where a message does, at the time at which its last byte arrived. */
export function chunksByMessage(chunks: readonly ArrivedChunk[], framing: BodyFraming): ArrivedChunk[] {
  if (framing === "other" || chunks.length === 0) return [...chunks];
  const body = Buffer.concat(chunks.map(({ bytes }) => bytes));
  const result: ArrivedChunk[] = [];
  let chunk = 0;
  let arrived = chunks[0]!.bytes.byteLength;
  let start = 0;
  for (const end of messageEnds(body, framing)) {
    while (arrived < end) arrived += chunks[++chunk]!.bytes.byteLength;
    if (end > start) result.push({ atMs: chunks[chunk]!.atMs, bytes: body.subarray(start, end) });
    start = end;
  }
  return result;
}

function* messageEnds(body: Buffer, framing: BodyFraming): Generator<number> {
  switch (framing) {
    case "sse":
      for (let at = 0; at < body.length; ) {
        const end = lineEnd(body, at);
        // A line without anything on it ends an event.
        if (isBreak(body, at)) yield end;
        at = end;
      }
      break;
    case "ndjson":
      for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, at + 1)) yield at + 1;
      break;
    case "aws-event-stream":
      for (let at = 0; at + 4 <= body.length; ) {
        const length = body.readUInt32BE(at);
        if (length < 16 || at + length > body.length) break;
        at += length;
        yield at;
      }
      break;
    default:
      break;
  }
  yield body.length;
}

const LF = 0x0a;
const CR = 0x0d;

function isBreak(body: Buffer, at: number): boolean {
  return body[at] === LF || body[at] === CR;
}

/** Where the next line begins. */
function lineEnd(body: Buffer, from: number): number {
  const lf = body.indexOf(LF, from);
  const cr = body.indexOf(CR, from);
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf < 0 ? body.length : lf + 1;
  return body[cr + 1] === LF ? cr + 2 : cr + 1;
}

/** What a recorded body says. */
export interface ReadExchange {
  /** The JSON values in it, in the order of their arrival. */
  messages: { atMs: number; value: unknown }[];
  /** The reply that they are, where the operation has rules to read them. */
  reply?: ChatReply;
  frames?: Frame[];
  /** The provider has said that this is the end, or the body is whole by itself. */
  terminal: boolean;
  /** The reply says why it stopped, though more may have followed (usage, `[DONE]`). */
  stopped: boolean;
}

/** The last events of streams that have one of their own. */
const TERMINAL_TYPES = new Set([
  ...["message_stop", "response.completed", "response.incomplete", "response.failed", "message-end", "error"],
  ...["interaction.complete", "interaction.completed"],
]);

/**
 * Reads what a provider sent. Never throws: what cannot be read is passed over.
 * @param chunks decompressed; they may end anywhere
 */
export function readExchange(
  { chunks, headers }: Pick<Exchange, "chunks" | "headers">,
  operation: Operation,
): ReadExchange {
  const contentType = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const framing = bodyFraming(contentType);
  const { messages, done } = messagesOf(chunks, framing);
  let terminal = done || messages.some(({ value }) => isTerminal(value));
  if (framing === "whole" || framing === "other") terminal = messages.length > 0;
  if (operation.rules === undefined || operation.output !== "chat") return { messages, terminal, stopped: terminal };
  const traverser = new Traverser(operation.rules, operation.dialect);
  for (const { atMs, value } of messages) traverser.push(value, atMs);
  const reply = traverser.finish();
  // An error in mid-stream is the last that is said.
  if (traverser.frames.some(({ event }) => event.type === "error")) terminal = true;
  const stopped = terminal || traverser.finished;
  // Where a stream has a last event of its own, the reason to stop is not yet the end of it.
  const hasLast = framing === "sse" && /^(openai|anthropic|cohere)/.test(operation.dialect);
  return { messages, reply, frames: traverser.frames, terminal: terminal || (!hasLast && stopped), stopped };
}

function isTerminal(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, event_type: eventType, done, error } = value;
  // An error in mid-stream is the last that is said.
  if (done === true || error || Object.keys(value).some((name) => name.endsWith("Exception"))) return true;
  return TERMINAL_TYPES.has(String(type ?? eventType ?? ""));
}

function messagesOf(
  chunks: readonly ArrivedChunk[],
  framing: BodyFraming,
): { messages: ReadExchange["messages"]; done: boolean } {
  const messages: ReadExchange["messages"] = [];
  let done = false;
  let atMs = 0;
  const text = (json: string): void => {
    if (json === "[DONE]") done = true;
    else push(messages, atMs, () => JSON.parse(json));
  };
  switch (framing) {
    case "sse": {
      const parser = new SseParser();
      const take = (events: ReturnType<SseParser["push"]>): void => {
        for (const event of events) if ("data" in event) text(event.data);
      };
      for (const chunk of chunks) {
        atMs = chunk.atMs;
        take(parser.push(chunk.bytes));
      }
      take(parser.end());
      break;
    }
    case "ndjson": {
      const parser = new NdjsonParser();
      for (const chunk of chunks) {
        atMs = chunk.atMs;
        for (const line of parser.push(chunk.bytes)) text(line);
      }
      for (const line of parser.end()) text(line);
      break;
    }
    case "aws-event-stream": {
      const parser = new AwsEventStreamParser();
      try {
        for (const chunk of chunks) {
          for (const event of parser.push(chunk.bytes)) push(messages, chunk.atMs, () => bedrockMessage(event));
        }
      } catch {
        // What is no event stream any more has nothing more to read.
      }
      break;
    }
    default: {
      const body = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString("utf8");
      atMs = chunks.at(-1)?.atMs ?? 0;
      text(body);
      const whole = messages[0];
      // Gemini streams the elements of one array to clients that do not ask for events.
      if (whole !== undefined && Array.isArray(whole.value)) {
        return { messages: whole.value.map((value: unknown) => ({ atMs, value })), done };
      }
    }
  }
  return { messages, done };
}

function push(messages: ReadExchange["messages"], atMs: number, read: () => unknown): void {
  try {
    messages.push({ atMs, value: read() });
  } catch {
    // No JSON: nothing for rules to read.
  }
}
