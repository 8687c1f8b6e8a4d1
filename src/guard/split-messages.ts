import type { BodyFraming } from "../dialects/read-exchange.ts";

/** Cuts a streamed body where its messages end, whatever the chunks in which it comes. */
export class MessageSplitter {
  readonly #next: (rest: Buffer, from: number) => number | undefined;
  #rest: Buffer = Buffer.alloc(0);
  /** Nothing ends before it. */
  #looked = 0;

  constructor(framing: BodyFraming) {
    this.#next = finderOf(framing);
  }

  push(bytes: Uint8Array): Buffer[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = this.#next(this.#rest, Math.max(start, this.#looked));
      if (end === undefined || end <= start) break;
      messages.push(this.#rest.subarray(start, end));
      start = end;
      this.#looked = end;
    }
    this.#rest = this.#rest.subarray(start);
    // A line break may be on its way, of which the first half is here.
    this.#looked = 0;
    return messages;
  }

  /** What is left, which no end closes. */
  end(): Buffer[] {
    const { length } = this.#rest;
    return length === 0 ? [] : [this.#rest];
  }
}

const LF = 0x0a;
const CR = 0x0d;

function finderOf(framing: BodyFraming): (rest: Buffer, from: number) => number | undefined {
  switch (framing) {
    case "sse":
      return endOfEvent;
    case "ndjson":
      return (rest, from) => {
        const at = rest.indexOf(LF, from);
        return at < 0 ? undefined : at + 1;
      };
    case "aws-event-stream":
      return (rest, from) => {
        if (from + 4 > rest.length) return undefined;
        const length = rest.readUInt32BE(from);
        // What is no event stream is one message to its end.
        return length < 16 || from + length > rest.length ? undefined : from + length;
      };
    case "whole":
      return elementEnds();
    case "other":
      return () => undefined;
  }
}

/** After the next line without anything on it. A CR at the end may be half of a line break. */
function endOfEvent(rest: Buffer, from: number): number | undefined {
  for (let at = from; at < rest.length; at++) {
    const width = breakAt(rest, at);
    if (width === 0) continue;
    const next = at + width;
    const second = breakAt(rest, next);
    if (at === from || second > 0) {
      const end = at === from ? next : next + second;
      return end === rest.length && rest[end - 1] === CR ? undefined : end;
    }
    at = next - 1;
  }
  return undefined;
}

function breakAt(bytes: Buffer, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** The elements of one JSON array, each with the comma before it; any other document is one message. */
function elementEnds(): (rest: Buffer, from: number) => number | undefined {
  return (rest, from) => {
    let depth = 0;
    let inString = false;
    for (let at = from; at < rest.length; at++) {
      const byte = rest[at]!;
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || (byte === OPEN_ARRAY && depth > 0)) depth++;
      else if (byte === CLOSE_OBJECT || (byte === CLOSE_ARRAY && depth > 0)) {
        depth--;
        if (depth === 0) return at + 1;
      }
    }
    return undefined;
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
