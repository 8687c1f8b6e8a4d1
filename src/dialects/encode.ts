import { pieces } from "../chat/pieces.ts";
import { drawLetters } from "../chat/random.ts";
import { encodeAwsEvent } from "../wire/aws-event-stream.ts";
import type { Call, EncodeContext, Framing, Operation, WireEvent } from "./operation.ts";

/** What differs from call to call although the answer is the same. */
export interface Stamp {
  /** Twenty letters and digits; ids are made of it. */
  id: string;
  /** Unix time in seconds. */
  created: number;
}

const DEFAULT_CHUNK_SIZE = 20;

/**
 * An encoded answer with holes. What is between the holes is stringified once, however often it is served; the
 * holes are found by a nonce that nobody who writes a fixture can know.
 */
class Template {
  readonly #literals: string[] = [];
  readonly #holes: Hole[] = [];

  constructor(text: string, echoes: readonly Echo[]) {
    let end = 0;
    for (const found of text.matchAll(HOLE)) {
      this.#literals.push(text.slice(end, found.index));
      this.#holes.push(holeOf(found, echoes));
      end = found.index + found[0].length;
    }
    this.#literals.push(text.slice(end));
  }

  render(call: Call, stamp: Stamp, model: string): string {
    let text = this.#literals[0]!;
    for (let index = 0; index < this.#holes.length; index++) {
      const hole = this.#holes[index]!;
      switch (hole) {
        case "id":
          text += stamp.id;
          break;
        case "model":
          text += model;
          break;
        case "created":
          text += stamp.created;
          break;
        case "createdIso":
          text += new Date(stamp.created * 1000).toISOString();
          break;
        default:
          // A member whose value is undefined cannot be left out any more once its name is written.
          text += JSON.stringify(hole(call)) ?? "null";
      }
      text += this.#literals[index + 1];
    }
    return text;
  }
}

type Echo = (call: Call) => unknown;
type Hole = "id" | "model" | "created" | "createdIso" | Echo;

const NONCE = `hole${drawLetters(16, Math.random)}`;
const HOLE = new RegExp(`"${NONCE}c"|"${NONCE}e(\\d+)"|${NONCE}(i|m|t)`, "g");

function holeOf(found: RegExpExecArray, echoes: readonly Echo[]): Hole {
  if (found[1] !== undefined) return echoes[Number(found[1])]!;
  switch (found[2]) {
    case "i":
      return "id";
    case "m":
      return "model";
    case "t":
      return "createdIso";
    default:
      return "created";
  }
}

class HoleContext implements EncodeContext<Record<string, unknown>> {
  readonly variant: Record<string, unknown>;
  readonly created = `${NONCE}c` as unknown as number;
  readonly createdIso = `${NONCE}t`;
  readonly model = `${NONCE}m`;
  readonly echoes: Echo[] = [];
  readonly #chunkSize: number;
  #ids = 0;

  constructor(variant: Record<string, unknown>, chunkSize: number) {
    this.variant = variant;
    this.#chunkSize = chunkSize;
  }

  id(prefix: string): string {
    return `${prefix}${NONCE}i${(this.#ids++).toString(36).padStart(4, "0")}`;
  }

  echo<T>(compute: (call: Call) => T): T {
    this.echoes.push(compute);
    return `${NONCE}e${this.echoes.length - 1}` as unknown as T;
  }

  pieces(text: string): string[] {
    return pieces(text, this.#chunkSize);
  }
}

/** The wire form of an answer, ready to be sent again and again. */
class Encoding {
  readonly #texts: string[];
  readonly #echoes: Echo[];
  #chunks: Template[] | undefined;
  #whole: Template | undefined;

  /** A unary body is one text, a stream one for each chunk. */
  constructor(texts: string[], echoes: Echo[]) {
    this.#texts = texts;
    this.#echoes = echoes;
  }

  get length(): number {
    return this.#texts.reduce((sum, text) => sum + text.length, 0);
  }

  get chunks(): Template[] {
    this.#chunks ??= this.#texts.map((text) => new Template(text, this.#echoes));
    return this.#chunks;
  }

  get whole(): Template {
    this.#whole ??= new Template(this.#texts.join(""), this.#echoes);
    return this.#whole;
  }
}

// Encodings are kept until they hold this many characters together, then all are made anew.
const KEPT_CHARACTERS = 64 * 1024 * 1024;
let kept = new WeakMap<object, Map<string, Encoding>>();
let keptCharacters = 0;

function encodingOf(out: unknown, call: Call, streamed: boolean, chunkSize: number): Encoding {
  const { operation } = call;
  const variant = operation.variant(call.request);
  const framing = streamed ? framingOf(operation, call.request) : "sse";
  let key = streamed ? `${operation.name} ${framing} ${chunkSize}` : operation.name;
  for (const name in variant) key += ` ${variant[name]}`;
  let encodings = typeof out === "object" && out !== null ? kept.get(out) : undefined;
  let encoding = encodings?.get(key);
  if (encoding === undefined) {
    encoding = encode(operation, out, variant, framing, streamed, chunkSize);
    if (typeof out === "object" && out !== null) {
      keptCharacters += encoding.length;
      if (keptCharacters > KEPT_CHARACTERS) {
        kept = new WeakMap();
        keptCharacters = 0;
        encodings = undefined;
      }
      if (encodings === undefined) {
        encodings = new Map();
        kept.set(out, encodings);
      }
      encodings.set(key, encoding);
    }
  }
  return encoding;
}

function encode(
  operation: Operation,
  out: unknown,
  variant: Record<string, unknown>,
  framing: Framing,
  streamed: boolean,
  chunkSize: number,
): Encoding {
  const context = new HoleContext(variant, chunkSize);
  let texts: string[];
  if (streamed) {
    if (operation.encodeStream === undefined) throw new Error(`${operation.name} has no streamed form`);
    texts = chunkTexts(operation.encodeStream(out, context), framing);
  } else {
    texts = [JSON.stringify(operation.encode(out, context))];
  }
  return new Encoding(texts, context.echoes);
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

/** The bytes of events whose holes have been filled: messages of an AWS event stream have lengths and checksums. */
export function onWire(text: string, framing: Framing): string | Uint8Array {
  if (framing !== "aws-event-stream" && framing !== "aws-payload-parts") return text;
  // Name and payload of each event, a line each: JSON text has no line breaks.
  const lines = text.split("\n");
  const messages: Uint8Array[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const type = lines[index]!;
    const exception = type.endsWith("Exception");
    let payload = lines[index + 1]!;
    if (framing === "aws-payload-parts" && !exception) {
      payload = JSON.stringify({ bytes: Buffer.from(payload, "utf8").toString("base64") });
    }
    messages.push(encodeAwsEvent({ type, exception, payload }));
  }
  return Buffer.concat(messages);
}

/** A reply that is not streamed: its JSON text. */
export function renderUnary(out: unknown, call: Call, stamp: Stamp): string {
  return encodingOf(out, call, false, 0).whole.render(call, stamp, inString(call.view.model));
}

/** A streamed reply: the text of each chunk. */
export function renderStream(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE): string[] {
  const model = inString(call.view.model);
  return encodingOf(out, call, true, chunkSize).chunks.map((chunk) => chunk.render(call, stamp, model));
}

/** A streamed reply with nothing to wait for, in one piece. */
export function renderWhole(out: unknown, call: Call, stamp: Stamp, chunkSize = DEFAULT_CHUNK_SIZE): string {
  return encodingOf(out, call, true, chunkSize).whole.render(call, stamp, inString(call.view.model));
}

// Most calls name the same few models.
let lastModel = "";
let lastInString = "";

/** A value as it stands inside a JSON string. */
function inString(value: string): string {
  if (value !== lastModel) {
    lastInString = JSON.stringify(value).slice(1, -1);
    lastModel = value;
  }
  return lastInString;
}
