import { encodeAwsEvent } from "../wire/aws-event-stream.ts";
import type { ApiError } from "./api-error.ts";
import type { Call, Framing, Operation, WireEvent } from "./operation.ts";
import { type Echo, HoleContext, type Print, type Stamp, Template } from "./template.ts";

export type { Print, Stamp };

export const DEFAULT_CHUNK_SIZE = 20;

/** The wire form of an answer, ready to be sent again and again. */
class Encoding {
  readonly #texts: string[];
  readonly #echoes: Echo[];
  readonly #framing: Framing | undefined;
  #chunks: Chunk[] | undefined;
  #whole: Template | undefined;
  #runs: (Buffer | Chunk)[] | undefined;

  /** A unary body is one text, a stream one for each chunk. */
  constructor(texts: string[], echoes: Echo[], framing: Framing | undefined) {
    this.#texts = texts;
    this.#echoes = echoes;
    this.#framing = framing;
  }

  get length(): number {
    return this.#texts.reduce((sum, text) => sum + text.length, 0);
  }

  get chunks(): Chunk[] {
    this.#chunks ??= this.#texts.map((text) => new Chunk(text, this.#echoes, this.#framing));
    return this.#chunks;
  }

  whole(call: Call, stamp: Stamp): Print | Buffer {
    if (isBinary(this.#framing)) {
      this.#runs ??= runsOf(this.chunks, call, stamp);
      return Buffer.concat(this.#runs.map((run) => (run instanceof Chunk ? run.bytes(call, stamp) : run)));
    }
    this.#whole ??= new Template(this.#texts.join(""), this.#echoes);
    return this.#whole.print(call, stamp);
  }
}

/** Messages have checksums and are encoded one by one; those that are the same for every call once and for all. */
function runsOf(chunks: readonly Chunk[], call: Call, stamp: Stamp): (Buffer | Chunk)[] {
  const runs: (Buffer[] | Chunk)[] = [];
  for (const chunk of chunks) {
    const last = runs.at(-1);
    if (!chunk.isFixed) runs.push(chunk);
    else if (Array.isArray(last)) last.push(chunk.bytes(call, stamp));
    else runs.push([chunk.bytes(call, stamp)]);
  }
  return runs.map((run) => (Array.isArray(run) ? Buffer.concat(run) : run));
}

/** A part of an encoding that leaves at once. */
class Chunk {
  readonly #template: Template;
  readonly #framing: Framing | undefined;
  #fixed: Buffer | undefined;

  constructor(text: string, echoes: readonly Echo[], framing: Framing | undefined) {
    this.#template = new Template(text, echoes);
    this.#framing = framing;
  }

  get isFixed(): boolean {
    return this.#template.isFixed;
  }

  /** Before its framing makes bytes of it. */
  text(call: Call, stamp: Stamp): string {
    return this.#template.print(call, stamp).bytes().toString();
  }

  bytes(call: Call, stamp: Stamp): Buffer {
    if (!isBinary(this.#framing)) return this.#template.print(call, stamp).bytes();
    if (!this.isFixed) return messages(this.text(call, stamp), this.#framing);
    this.#fixed ??= messages(this.text(call, stamp), this.#framing);
    return this.#fixed;
  }
}

// Encodings are kept until they hold this many characters together, then all are made anew.
const KEPT_CHARACTERS = 64 * 1024 * 1024;
let kept = new WeakMap<object, KeptEncoding[]>();
let keptCharacters = 0;

interface KeptEncoding {
  encoding: Encoding;
  operation: string;
  /** Of a stream. */
  framing: Framing | undefined;
  chunkSize: number;
  variant: Record<string, unknown>;
}

function encodingOf(out: unknown, { operation, request }: Call, streamed: boolean, chunkSize: number): Encoding {
  const variant = operation.variant(request);
  const framing = streamed ? framingOf(operation, request) : undefined;
  let known = typeof out === "object" && out !== null ? kept.get(out) : undefined;
  if (known !== undefined) {
    for (const one of known) {
      if (one.operation !== operation.name || one.framing !== framing || one.chunkSize !== chunkSize) continue;
      if (isSame(one.variant, variant)) return one.encoding;
    }
  }
  const encoding = encode(operation, out, variant, framing, chunkSize);
  if (typeof out !== "object" || out === null) return encoding;
  keptCharacters += encoding.length;
  if (keptCharacters > KEPT_CHARACTERS) {
    kept = new WeakMap();
    keptCharacters = 0;
    known = undefined;
  }
  if (known === undefined) {
    known = [];
    kept.set(out, known);
  }
  known.push({ encoding, operation: operation.name, framing, chunkSize, variant });
  return encoding;
}

/** Variants of one operation have the same members. */
function isSame(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  for (const name in left) if (left[name] !== right[name]) return false;
  return true;
}

function encode(
  operation: Operation,
  out: unknown,
  variant: Record<string, unknown>,
  framing: Framing | undefined,
  chunkSize: number,
): Encoding {
  const context = new HoleContext(variant, chunkSize);
  if (framing === undefined) {
    return new Encoding([JSON.stringify(operation.encode(out, context))], context.echoes, undefined);
  }
  if (operation.encodeStream === undefined) throw new Error(`${operation.name} has no streamed form`);
  return new Encoding(chunkTexts(operation.encodeStream(out, context), framing), context.echoes, framing);
}

/** The text of each chunk that events leave in. */
export function chunkTexts(events: WireEvent[], framing: Framing): string[] {
  const texts: string[] = [];
  for (const event of events) {
    const text = frame(event, framing);
    if (event.rides && texts.length > 0) texts[texts.length - 1] += text;
    else texts.push(text);
  }
  return framing === "json-array" ? arrayTexts(texts) : texts;
}

/** The elements of one JSON array, in the pieces in which they leave. */
function arrayTexts(texts: string[]): string[] {
  if (texts.length === 0) return ["[]"];
  return texts.map((text, index) => `${index === 0 ? "[" : ",\r\n"}${text}${index === texts.length - 1 ? "]" : ""}`);
}

export function framingOf(operation: Operation, request: unknown): Framing {
  const { framing = "sse" } = operation;
  return typeof framing === "function" ? framing(request) : framing;
}

/**
 * An error event in the middle of a stream; undefined where the provider has none.
 * @param sent how many events went before it
 */
export function streamErrorText(
  { operation, request }: Call,
  error: ApiError,
  requestId: string | undefined,
  sent: number,
): string | undefined {
  const event = operation.encodeStreamError?.(error, requestId, sent);
  if (event === undefined) return undefined;
  const framing = framingOf(operation, request);
  const text = frame(event, framing);
  return framing === "json-array" ? `${sent === 0 ? "[" : ",\r\n"}${text}]` : text;
}

/** One event in its framing. Of an AWS event stream it is the text of which `onWire` makes the message. */
export function frame(event: WireEvent, framing: Framing): string {
  const data = event.raw ? String(event.data) : JSON.stringify(event.data);
  switch (framing) {
    case "ndjson":
      return `${data}\n`;
    case "json-array":
      return data;
    case "aws-event-stream":
    case "aws-payload-parts":
      return `${event.event ?? ""}\n${data}\n`;
    case "sse":
      if (event.comment !== undefined) return `: ${event.comment}\n\n`;
      return event.event === undefined ? `data: ${data}\n\n` : `event: ${event.event}\ndata: ${data}\n\n`;
  }
}

/** Whether its messages have lengths and checksums, so that they are not just text. */
function isBinary(framing: Framing | undefined): framing is BinaryFraming {
  return framing === "aws-event-stream" || framing === "aws-payload-parts";
}

type BinaryFraming = "aws-event-stream" | "aws-payload-parts";

/** The bytes of events whose holes have been filled: messages of an AWS event stream have lengths and checksums. */
export function onWire(text: string, framing: Framing): string | Uint8Array {
  return isBinary(framing) ? messages(text, framing) : text;
}

function messages(text: string, framing: BinaryFraming): Buffer {
  // Name and payload of each event, a line each: JSON text has no line breaks.
  const lines = text.split("\n");
  const encoded: Uint8Array[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const type = lines[index]!;
    const exception = type.endsWith("Exception");
    let payload = lines[index + 1]!;
    if (framing === "aws-payload-parts" && !exception) {
      payload = JSON.stringify({ bytes: Buffer.from(payload, "utf8").toString("base64") });
    }
    encoded.push(encodeAwsEvent({ type, exception, payload }));
  }
  return Buffer.concat(encoded);
}

/** A reply that is not streamed: its JSON text. */
export function renderUnary(out: unknown, call: Call, stamp: Stamp): Print {
  return encodingOf(out, call, false, 0).whole(call, stamp) as Print;
}

/** A streamed reply: the text of each chunk, of which `onWire` makes bytes. */
export function renderStream(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE): string[] {
  return encodingOf(out, call, true, chunkSize).chunks.map((chunk) => chunk.text(call, stamp));
}

/** A streamed reply: the bytes of each chunk. */
export function renderChunks(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE): Buffer[] {
  return encodingOf(out, call, true, chunkSize).chunks.map((chunk) => chunk.bytes(call, stamp));
}

/** A streamed reply with nothing to wait for, in one piece. */
export function renderWhole(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE): Print | Buffer {
  return encodingOf(out, call, true, chunkSize).whole(call, stamp);
}
