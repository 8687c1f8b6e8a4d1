import { drawLetters, hashOf, randomOf } from "../chat/random.ts";
import type { ChatReply } from "../chat/reply.ts";
import type { ApiError } from "./api-error.ts";
import { chunkTexts, framingOf, onWire, type Stamp, streamErrorText } from "./encode.ts";
import { numberedId } from "./ids.ts";
import type { Call, EncodeContext, WireReply } from "./operation.ts";
import { STREAM_HEADERS } from "./stream-headers.ts";

/** A text of a reply, and when it came. */
export interface TimedText {
  /** Since the request was sent. */
  atMs: number;
  text: string;
}

/** How a stream ends that does not end well. */
export type StreamFailure = { kind: "error"; error: ApiError } | { kind: "broken" };

export interface TimedStream {
  reply: WireReply & { body: (string | Uint8Array)[] };
  /** When each chunk of the body is due, since the request. */
  dueMs: number[];
}

const MARK = drawLetters(16, randomOf(hashOf("timed-stream")));
const MARKS = new RegExp(`${MARK}(\\d+)~`, "g");
/** A name that nobody calls a tool by. */
const BEYOND_THE_END = `_${MARK}_end_`;

/**
 * A chat reply as a stream whose pieces of text are those that were recorded, each at its time. What comes before the
 * first one, and after the last one, comes with it.
 * @param texts together they are the reply's text
 * @param failure what the stream ends with instead of an end
 */
export function timedStream(
  reply: ChatReply,
  call: Call,
  stamp: Stamp,
  texts: readonly TimedText[],
  failure?: StreamFailure,
): TimedStream {
  const { operation } = call;
  const framing = framingOf(operation, call.request);
  const context = new MarkingContext(call, stamp, texts);
  const events = operation.encodeStream!(failure === undefined ? reply : unfinished(reply), context);
  let chunks = chunkTexts(events, framing);
  if (failure !== undefined) chunks = chunks.slice(0, endOf(chunks));
  let at = texts[0]?.atMs ?? 0;
  const dueMs = chunks.map((chunk) => {
    for (const [, number] of chunk.matchAll(MARKS)) at = Math.max(at, texts[Number(number)]!.atMs);
    return at;
  });
  // What follows the last piece is what the provider ended with.
  const end = texts.at(-1)?.atMs ?? at;
  const last = chunks.findLastIndex((chunk) => chunk.includes(MARK));
  for (let index = last + 1; index < dueMs.length; index++) dueMs[index] = Math.max(end, dueMs[index]!);
  const sent = chunks.map((chunk) => chunk.replaceAll(MARKS, ""));
  const event =
    failure?.kind === "error" ? streamErrorText(call, failure.error, `req_${stamp.id}`, sent.length) : undefined;
  if (event !== undefined) {
    sent.push(event);
    dueMs.push(end);
  }
  return {
    reply: {
      status: 200,
      headers: STREAM_HEADERS[framing],
      body: sent.map((text) => onWire(text, framing)),
      ...(failure !== undefined && event === undefined && { cut: true as const }),
    },
    dueMs,
  };
}

/** Dialects do not say where their end begins: something that cannot be there shows it. */
function unfinished(reply: ChatReply): ChatReply {
  const [choice = { parts: [], finish: { reason: "stop" } }] = reply.choices;
  const parts = [
    ...choice.parts,
    { type: "toolCall" as const, id: BEYOND_THE_END, name: BEYOND_THE_END, arguments: "{}" },
  ];
  return { ...reply, choices: [{ ...choice, parts }] };
}

function endOf(chunks: readonly string[]): number {
  const beyond = chunks.findIndex((chunk) => chunk.includes(BEYOND_THE_END));
  return beyond >= 0 ? beyond : chunks.findLastIndex((chunk) => MARK_AT.test(chunk)) + 1;
}

const MARK_AT = new RegExp(`${MARK}\\d+~`);

/** Cuts the reply's text where it was cut when it was recorded, and marks each piece with its number. */
class MarkingContext implements EncodeContext<Record<string, unknown>> {
  readonly variant: Record<string, unknown>;
  readonly created: number;
  readonly model: string;
  readonly #call: Call;
  readonly #stamp: Stamp;
  readonly #texts: readonly TimedText[];
  #ids = 0;
  /** The piece that is next, and how much of it is said already. */
  #next = 0;
  #said = 0;

  constructor(call: Call, stamp: Stamp, texts: readonly TimedText[]) {
    this.variant = call.operation.variant(call.request);
    this.created = stamp.created;
    this.model = call.view.model;
    this.#call = call;
    this.#stamp = stamp;
    this.#texts = texts;
  }

  get createdIso(): string {
    return new Date(this.created * 1000).toISOString();
  }

  id(prefix: string): string {
    return numberedId(prefix, this.#stamp.id, this.#ids++);
  }

  echo<T>(compute: (call: Call) => T): T {
    return compute(this.#call);
  }

  pieces(text: string): string[] {
    if (text === "") return [];
    const rest = this.#texts
      .slice(this.#next)
      .map((piece) => piece.text)
      .join("")
      .slice(this.#said);
    if (!rest.startsWith(text))
      return [this.#marked(text, this.#next === 0 && this.#said === 0 && rest !== "" ? 0 : this.#texts.length - 1)];
    const pieces: string[] = [];
    for (let left = text.length; left > 0; ) {
      const piece = this.#texts[this.#next]!.text.slice(this.#said);
      const taken = piece.slice(0, left);
      if (taken !== "") pieces.push(this.#marked(taken, this.#next));
      left -= taken.length;
      this.#said += taken.length;
      if (taken.length === piece.length) {
        this.#next++;
        this.#said = 0;
      }
    }
    return pieces;
  }

  #marked(text: string, number: number): string {
    return number < 0 ? text : `${MARK}${number}~${text}`;
  }
}
