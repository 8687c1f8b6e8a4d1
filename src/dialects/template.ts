import { pieces } from "../chat/pieces.ts";
import { drawLetters } from "../chat/random.ts";
import { numberedId } from "./ids.ts";
import type { Call, EncodeContext } from "./operation.ts";

/** What differs from call to call although the answer is the same. */
export interface Stamp {
  /** Twenty letters and digits; ids are made of it. */
  id: string;
  /** Unix time in seconds. */
  created: number;
}

export type Echo = (call: Call) => unknown;

const NONCE = `hole${drawLetters(16, Math.random)}`;
const HOLE = new RegExp(`"${NONCE}c"|"${NONCE}e(\\d+)"|${NONCE}(i|m|t)`, "g");

/** Gives an encoder holes in the place of what differs from call to call. */
export class HoleContext implements EncodeContext<Record<string, unknown>> {
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
    return numberedId(prefix, `${NONCE}i`, this.#ids++);
  }

  echo<T>(compute: (call: Call) => T): T {
    this.echoes.push(compute);
    return `${NONCE}e${this.echoes.length - 1}` as unknown as T;
  }

  pieces(text: string): string[] {
    return pieces(text, this.#chunkSize);
  }
}

/** All of a text but its echoes, laid out for one model: what is left to fill in has a fixed place. */
interface Layout {
  bytes: Buffer;
  id: string;
  ids: number[];
  created: number;
  createds: number[];
  isos: number[];
  /** Where an echo belongs between the bytes. */
  cuts: number[];
  echoes: Echo[];
}

/** Callers ask for few models; with more than this the layouts are made anew. */
const KEPT_MODELS = 8;

/**
 * A text with holes, as bytes. What is between the holes is encoded once, however often it is served; the holes are
 * found by a nonce that nobody who writes a fixture can know.
 */
export class Template {
  readonly #text: string;
  readonly #echoes: readonly Echo[];
  readonly #layouts = new Map<string, Layout>();
  /** Whether it is the same for every call. */
  readonly isFixed: boolean;

  constructor(text: string, echoes: readonly Echo[]) {
    this.#text = text;
    this.#echoes = echoes;
    this.isFixed = text.search(HOLE) < 0;
  }

  print(call: Call, stamp: Stamp): Print {
    const layout = this.#layout(call.view.model, stamp);
    const said: string[] = [];
    let { length } = layout.bytes;
    for (const echo of layout.echoes) {
      // A member whose value is undefined cannot be left out any more once its name is written.
      const text = bytesAsText(JSON.stringify(echo(call)) ?? "null");
      said.push(text);
      length += text.length;
    }
    return new Print(layout, stamp, said, length);
  }

  #layout(model: string, stamp: Stamp): Layout {
    let layout = this.#layouts.get(model);
    if (
      layout === undefined ||
      layout.id.length !== stamp.id.length ||
      (layout.created !== stamp.created && String(layout.created).length !== String(stamp.created).length)
    ) {
      if (this.#layouts.size >= KEPT_MODELS) this.#layouts.clear();
      layout = this.#layOut(inString(model), stamp);
      this.#layouts.set(model, layout);
    }
    return layout;
  }

  #layOut(model: string, { id, created }: Stamp): Layout {
    const layout: Layout = {
      bytes: Buffer.alloc(0),
      ...{ id, ids: [], created, createds: [], isos: [], cuts: [], echoes: [] },
    };
    let text = "";
    let length = 0;
    const add = (part: string): void => {
      text += part;
      length += Buffer.byteLength(part);
    };
    let end = 0;
    for (const hole of this.#text.matchAll(HOLE)) {
      add(this.#text.slice(end, hole.index));
      end = hole.index + hole[0].length;
      const [, echo, kind] = hole;
      if (echo !== undefined) {
        layout.cuts.push(length);
        layout.echoes.push(this.#echoes[Number(echo)]!);
      } else if (kind === "m") add(model);
      else {
        (kind === "i" ? layout.ids : kind === "t" ? layout.isos : layout.createds).push(length);
        add(kind === "i" ? id : kind === "t" ? isoOf(created) : String(created));
      }
    }
    add(this.#text.slice(end));
    layout.bytes = Buffer.from(text);
    return layout;
  }
}

/** One call's text as UTF-8, for who sends it at once and for who keeps it. */
export class Print {
  /** Bytes. */
  readonly length: number;
  readonly #layout: Layout;
  readonly #stamp: Stamp;
  /** What is echoed, a character for each byte. */
  readonly #said: readonly string[];

  constructor(layout: Layout, stamp: Stamp, said: readonly string[], length: number) {
    this.#layout = layout;
    this.#stamp = stamp;
    this.#said = said;
    this.length = length;
  }

  /** A copy. */
  bytes(): Buffer {
    const bytes = fill(this.#layout, this.#stamp);
    const copy = Buffer.allocUnsafe(this.length);
    const { cuts } = this.#layout;
    let from = 0;
    let at = 0;
    for (let index = 0; index < cuts.length; index++) {
      at += bytes.copy(copy, at, from, cuts[index]);
      from = cuts[index]!;
      at += copy.write(this.#said[index]!, at, "latin1");
    }
    bytes.copy(copy, at, from);
    return copy;
  }

  /** A character for each byte. */
  latin1(): string {
    const bytes = fill(this.#layout, this.#stamp);
    const { cuts } = this.#layout;
    let text = "";
    let from = 0;
    for (let index = 0; index < cuts.length; index++) {
      text += bytes.toString("latin1", from, cuts[index]) + this.#said[index]!;
      from = cuts[index]!;
    }
    return text + bytes.toString("latin1", from);
  }

  /**
   * Hands over the bytes where they lie, which spares a long text its copy. They are those of the next call too.
   * @param take says whether it is done with them
   */
  lend(take: (pieces: Uint8Array[]) => boolean): void {
    const bytes = fill(this.#layout, this.#stamp);
    const { cuts } = this.#layout;
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let index = 0; index < cuts.length; index++) {
      pieces.push(bytes.subarray(from, cuts[index]), Buffer.from(this.#said[index]!, "latin1"));
      from = cuts[index]!;
    }
    pieces.push(bytes.subarray(from));
    if (!take(pieces)) this.#layout.bytes = Buffer.from(bytes);
  }
}

/** Its UTF-8, a character for each byte. */
function bytesAsText(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString("latin1");
}

/** Writes over what the call before left in the holes. */
function fill(layout: Layout, { id, created }: Stamp): Buffer {
  const { bytes } = layout;
  if (layout.id !== id) {
    layout.id = id;
    write(bytes, id, layout.ids);
  }
  if (layout.created !== created) {
    layout.created = created;
    write(bytes, String(created), layout.createds);
    write(bytes, isoOf(created), layout.isos);
  }
  return bytes;
}

function write(bytes: Buffer, ascii: string, places: readonly number[]): void {
  if (places.length === 0) return;
  const { length } = ascii;
  const first = places[0]!;
  for (let index = 0; index < length; index++) bytes[first + index] = ascii.charCodeAt(index);
  for (let place = 1; place < places.length; place++) {
    const at = places[place]!;
    for (let index = 0; index < length; index++) bytes[at + index] = bytes[first + index]!;
  }
}

const isoOf = (created: number): string => new Date(created * 1000).toISOString();

/** A value as it stands inside a JSON string. */
const inString = (value: string): string => JSON.stringify(value).slice(1, -1);
