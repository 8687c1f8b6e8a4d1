import type { BodyFraming } from "../dialects/read-exchange.ts";
import { spansOf } from "../wire/json-pointer.ts";
import { type FramedTexts, framedPart, framedTexts } from "./bodies.ts";
import { applyEdits, type Edit } from "./edits.ts";
import { GrowingText, type TextHit } from "./growing-text.ts";
import type { GuardHit, Screen, Screens } from "./guardrails.ts";
import { isJson, type JsonString, jsonStrings } from "./json-document.ts";
import { channelOf, endedBy, isWhole, mayGrow, numbersOf } from "./json-leaves.ts";
import { besideToken, inOrder } from "./redact.ts";
import { Replacements } from "./replacements.ts";
import { type EventText, unwrapped } from "./wrapped-event.ts";

/** What becomes of messages that were put in. */
export interface Screened {
  /** What may leave, in order; a message may have been redacted. */
  out: Uint8Array[];
  hits: GuardHit[];
  /** The hit for which nothing more may leave. */
  block: GuardHit | undefined;
}

/** A text of a stream, with what has to be replaced in it. */
interface Channel {
  text: GrowingText;
  edits: Edit[];
  /** What each event has said so far, as long as all have said the same. */
  repeated: string | undefined;
  mayGrow: boolean;
  /** Providers check that it comes back as they made it. */
  whole: boolean;
  numbers: Readonly<Record<string, unknown>>;
  /** It is no text after all: nothing waits for it. */
  dropped?: true;
}

/** A part of a channel that is in a message. */
interface Piece {
  channel: Channel;
  string: JsonString;
  start: number;
  end: number;
  /** It is said over and over, and waits for nothing. */
  repeats: boolean;
}

interface Message {
  bytes: Buffer;
  framed: FramedTexts;
  events: EventText[];
  pieces: Piece[][];
  /** Of texts beside the events. */
  texts: Piece[][];
  /** What the user's pointers name. */
  named: Edit[][];
}

/** The same place in events, whatever their numbers say: a text as long as each number is met once. */
interface Unnumbered {
  channel: Channel;
  exact: Set<string>;
  message: Message;
}

/**
 * Looks at a stream as it comes, by the texts that its messages are pieces of. A message waits while what a rule looks
 * for may still grow in one of its texts, and all that come after it wait with it.
 */
export class StreamScreen {
  readonly #screens: Screens;
  readonly #contentType: string;
  readonly #framing: BodyFraming;
  readonly #replacements = new Replacements(true);
  readonly #channels = new Map<string, Channel>();
  readonly #unnumbered = new Map<string, Unnumbered | "no text">();
  #waiting: Message[] = [];
  #hits: GuardHit[] = [];
  #block: GuardHit | undefined;
  readonly #reported = new Set<string>();

  constructor(screens: Screens, contentType: string, framing: BodyFraming) {
    this.#screens = screens;
    this.#contentType = contentType;
    this.#framing = framing;
  }

  /** Whether something waits. */
  get isHolding(): boolean {
    return this.#waiting.length > 0;
  }

  /** @param bytes one whole message */
  push(bytes: Buffer): Screened {
    const message = this.#read(bytes);
    this.#waiting.push(message);
    for (const [index, { text }] of message.events.entries()) this.#look(message, index, text);
    return this.#release();
  }

  /** The stream is over: what waits is all there is. */
  end(): Screened {
    for (const channel of this.#all()) this.#take(channel, channel.text.end());
    return this.#release();
  }

  #read(bytes: Buffer): Message {
    const framed = this.#framed(bytes);
    const events = framed.events.map(unwrapped);
    const message: Message = {
      bytes,
      framed,
      events,
      pieces: events.map(() => []),
      texts: framed.texts.map(() => []),
      named: events.map(() => []),
    };
    for (const [index, text] of framed.texts.entries()) {
      message.texts[index]!.push(this.#alone(jsonStrings(text, index)[0]!));
    }
    return message;
  }

  #framed(bytes: Buffer): FramedTexts {
    if (this.#framing !== "whole") return framedTexts(bytes, this.#contentType);
    // An element of an array, with what stands between it and the one before.
    const text = bytes.toString("utf8");
    return framedPart(text, /^\s*[[,]?\s*/.exec(text)![0].length, text.length);
  }

  #look(message: Message, index: number, text: string): void {
    const strings = jsonStrings(text, index);
    for (const screen of this.#screens.all) {
      const spans = isJson(text) ? screen.pointers.flatMap((pattern) => spansOf(text, pattern)) : [];
      for (const span of spans) {
        const written = text.slice(span.start, span.end);
        if (written === "null" || written === '""') continue;
        this.#hit(screen, "pointer", false);
        if (screen.action === "redact") message.named[index]!.push({ ...span, text: '"«pointer»"' });
      }
    }
    for (const string of strings) {
      const channel = channelOf(string.leaf);
      const pieces = channel === undefined ? [this.#alone(string)] : this.#grow(string, channel, message);
      message.pieces[index]!.push(...pieces);
    }
    const ended = endedBy(strings.map(({ leaf }) => leaf));
    if (ended === undefined) return;
    for (const channel of this.#all()) {
      const isMeant = Object.entries(ended).every(
        ([member, number]) => channel.numbers[member] === undefined || channel.numbers[member] === number,
      );
      if (isMeant) this.#take(channel, channel.text.end());
    }
  }

  /** A string that is no piece of another text. */
  #alone(string: JsonString): Piece {
    const channel = this.#channel(string);
    const { value, leaf } = string;
    const hits = [...channel.text.push(value), ...channel.text.end()];
    // A number is a secret as a whole or not at all.
    const counted =
      leaf.kind === "number"
        ? hits.filter(({ start, end, found }) => start === 0 && end === value.length && !found.base64)
        : hits;
    this.#take(channel, counted);
    return { channel, string, start: 0, end: value.length, repeats: false };
  }

  #grow(string: JsonString, { exact, unnumbered }: { exact: string; unnumbered: string }, message: Message): Piece[] {
    const first = !this.#channels.has(exact);
    const channel = this.#channels.get(exact) ?? this.#channel(string);
    this.#channels.set(exact, channel);
    const pieces = [this.#append(channel, string)];
    const known = this.#unnumbered.get(unnumbered);
    if (known === undefined)
      this.#unnumbered.set(unnumbered, { channel: this.#channel(string), exact: new Set(), message });
    const joined = this.#unnumbered.get(unnumbered)!;
    if (joined === "no text") return pieces;
    // Numbers that come twice, or twice in an event, number the texts and not the events.
    if (!first || (joined.exact.size > 0 && joined.message === message)) {
      joined.channel.dropped = true;
      this.#unnumbered.set(unnumbered, "no text");
      return pieces;
    }
    joined.exact.add(exact);
    joined.message = message;
    pieces.push(this.#append(joined.channel, string));
    return pieces;
  }

  #append(channel: Channel, string: JsonString): Piece {
    const start = channel.text.length;
    const { value } = string;
    if (start === 0) channel.repeated = value;
    else if (channel.repeated !== value) channel.repeated = undefined;
    const repeats = !channel.mayGrow && channel.repeated !== undefined;
    // A text that is only repeated is looked at once, as it is.
    if (!repeats || start === 0) this.#take(channel, channel.text.push(value));
    if (repeats && start === 0) this.#take(channel, channel.text.end());
    if (repeats && start > 0) return { channel, string, start: 0, end: value.length, repeats };
    return { channel, string, start, end: start + value.length, repeats };
  }

  #channel(string: JsonString): Channel {
    const { leaf } = string;
    return {
      text: new GrowingText(this.#screens, leaf.kind === "string" ? leaf.step : ""),
      edits: [],
      repeated: undefined,
      mayGrow: mayGrow(leaf),
      whole: isWhole(leaf),
      numbers: numbersOf(leaf),
    };
  }

  #all(): Channel[] {
    const joined = [...this.#unnumbered.values()].flatMap((one) => (one === "no text" ? [] : [one.channel]));
    return [...this.#channels.values(), ...joined];
  }

  #take(channel: Channel, hits: readonly TextHit[]): void {
    for (const { screen, found, start, end } of hits) {
      this.#hit(screen, found.detector.name, channel.whole);
      if (screen.action !== "redact") continue;
      const known = channel.edits.find((edit) => start < edit.end && edit.start < end);
      if (known !== undefined) {
        known.start = Math.min(known.start, start);
        known.end = Math.max(known.end, end);
      } else {
        channel.edits.push({ start, end, text: this.#replacements.of(found.detector, found.secret) });
        channel.edits.sort((a, b) => a.start - b.start);
      }
    }
  }

  #hit(screen: Screen, detector: string, whole: boolean): void {
    const { name: rule, action } = screen;
    const hit: GuardHit = { rule, action, detector, direction: "response" };
    if (action === "block" || (action === "redact" && whole)) this.#block ??= hit;
    const key = `${rule} ${detector}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#hits.push(hit);
  }

  #release(): Screened {
    const out: Uint8Array[] = [];
    while (this.#block === undefined && this.#waiting.length > 0 && this.#mayLeave(this.#waiting[0]!)) {
      out.push(this.#sent(this.#waiting.shift()!));
    }
    const hits = this.#hits;
    this.#hits = [];
    return { out, hits, block: this.#block };
  }

  #mayLeave(message: Message): boolean {
    return message.pieces.every((pieces) =>
      pieces.every(({ channel, end, repeats }) => repeats || channel.dropped === true || end <= channel.text.open),
    );
  }

  #sent({ bytes, framed, events, pieces, texts, named }: Message): Uint8Array {
    const edits = framed.toByteEdits({
      events: events.map(({ text, toPayload }, index) =>
        toPayload(inOrder([...named[index]!, ...pieces[index]!.flatMap((piece) => editsOf(piece, text))])),
      ),
      texts: framed.texts.map((text, index) => inOrder(texts[index]!.flatMap((piece) => editsOf(piece, text)))),
    });
    return edits.length === 0 ? bytes : Buffer.from(applyEdits(bytes.toString("latin1"), edits), "latin1");
  }
}

/** What has to be replaced in a piece, as edits of the text that it stands in. */
function editsOf({ channel, string, start, end }: Piece, text: string): Edit[] {
  const { leaf } = string;
  const edits = channel.edits
    .filter((edit) => edit.start < end && edit.end > start)
    .map((edit) => ({
      start: Math.max(edit.start, start) - start,
      end: Math.min(edit.end, end) - start,
      // What replaces goes where the place begins.
      text: edit.start < start ? "" : edit.text,
    }))
    .map((edit) => string.toDocument(leaf.kind === "number" ? { ...edit, text: JSON.stringify(edit.text) } : edit));
  return edits.length === 0 ? edits : [...edits, ...besideToken(leaf, text)];
}
