import { formatPointer, parsePointer, pointedAt } from "../wire/json-pointer.ts";
import { memberAt } from "../wire/json-text.ts";
import { framedTexts } from "./bodies.ts";
import { detectorOfHeader, secretPartOf } from "./credential-headers.ts";
import type { Detector } from "./detector.ts";
import { isCredentialParameter, isSecretName } from "./detectors/credentials.ts";
import { applyEdits, type Edit, splitEdits } from "./edits.ts";
import { Finder, type Found, isReplaced } from "./find.ts";
import { type Finding, RedactionOptionsError, WholeFieldError } from "./finding.ts";
import { isJson, type JsonString, stringsOf } from "./json-document.ts";
import { isToken, isWhole, type Leaf, stepsTo } from "./json-leaves.ts";
import { isTelling, KnownSecrets } from "./known-secrets.ts";
import { chosenDetectors, patternDetectors, wordDetector } from "./own-detectors.ts";
import { Replacements, withoutNumbers, withoutPlainNumbers } from "./replacements.ts";
import { unwrapped } from "./wrapped-event.ts";

export { withoutNumbers } from "./replacements.ts";

/** What to look for. Without any of it: every detector that is on by default. */
export interface RedactionOptions {
  /** Detectors by name, turned on or off; the others stay as they are by default. */
  detectors?: Readonly<Record<string, boolean>>;
  /** The user's own patterns, in RE2's syntax (linear time); what the first group matches is the secret, else all of it. */
  patterns?: readonly { name: string; pattern: string }[];
  /** Words or phrases that are secrets, whatever their case. */
  words?: readonly string[];
  /** JSON Pointers (`*` for every element or member) to values of JSON bodies that are secrets whatever they hold. */
  pointers?: readonly string[];
  /** Texts that are no secrets, whatever takes them for one; however they are spelled where detectors know spellings. */
  allow?: readonly string[];
}

/**
 * Makes a redactor. Asynchronous because the engine for the user's own patterns is loaded only where there are any.
 * @param more looked for whatever the options say
 * @param isPlaceholder whether a text only marks where something will stand, and is no secret
 * @throws {RedactionOptionsError} for an unknown detector, or a pattern or pointer that is none
 */
export async function createRedactor(
  options: RedactionOptions = {},
  more?: Secrets,
  isPlaceholder?: (text: string) => boolean,
): Promise<Redactor> {
  const detectors = [...new Set([...(more?.detectors ?? []), ...chosenDetectors(options.detectors)])];
  if (options.words?.length) detectors.unshift(wordDetector(options.words));
  if (options.patterns?.length) detectors.unshift(...(await patternDetectors(options.patterns)));
  const pointers = [...(options.pointers ?? []).map(readPointer), ...(more?.pointers ?? [])];
  return new Redactor(new Finder(detectors, options.allow, isPlaceholder), pointers);
}

/** What else is to be taken out. */
export interface Secrets {
  detectors: readonly Detector[];
  pointers: readonly string[][];
}

export function readPointer(pointer: string): string[] {
  try {
    return parsePointer(pointer);
  } catch (error) {
    throw new RedactionOptionsError((error as Error).message);
  }
}

/** Which parts of a body are looked at. */
export interface Scope {
  leaf(leaf: Leaf): boolean;
  /** What is no JSON. */
  text: boolean;
}

/** What there is to look for, ready for use by any number of calls. */
export class Redactor {
  #finder: Finder;
  #pointers: readonly string[][];
  readonly #scope: Scope | undefined;
  readonly #paths = new Map<string, string>();

  /** @param scope all of a body unless given; pointers say themselves where they look */
  constructor(finder: Finder, pointers: readonly string[][], scope?: Scope) {
    this.#finder = finder;
    this.#pointers = pointers;
    this.#scope = scope;
  }

  /** From now on, looks for what another one looks for, wherever this one is in use. */
  become({ finder, pointers }: { finder: Finder; pointers: readonly string[][] }): void {
    this.#finder = finder;
    this.#pointers = pointers;
    this.#paths.clear();
  }

  get finder(): Finder {
    return this.#finder;
  }

  get pointers(): readonly string[][] {
    return this.#pointers;
  }

  /** For one call that is to be recorded: request, response, headers, raw and canonical, in this order. */
  call(): Redaction {
    return new Redaction(this.#finder, this.#pointers, true, this.#scope);
  }

  /**
   * For one incoming call that is to be matched with redacted tapes: `«email»` instead of `«email:1»`. Texts of the
   * tape go through `withoutNumbers` to be compared. Numbers count from a call's first secret on, so what comes before
   * the text that is compared (a header, an earlier turn) would shift them; and two calls that differ in nothing but
   * whose address it was have the same numbers anyway.
   */
  match(): Redaction {
    return new Redaction(this.#finder, this.#pointers, false);
  }

  /** A request's path as it may be shown. Paths are few, and redacting one costs as much as the rest of a short request. */
  path(path: string): string {
    let shown = this.#paths.get(path);
    if (shown === undefined) {
      shown = this.match().uri(path, "request URI");
      if (this.#paths.size >= MOST_PATHS) this.#paths.clear();
      this.#paths.set(path, shown);
    }
    return shown;
  }
}

const MOST_PATHS = 256;

/** User pointers have no form that a detector could know. */
const POINTER: Detector = { name: "pointer", family: "own", finds: "your pointers", byDefault: true, find: () => [] };

/**
 * The redaction of one call. The same secret gets the same replacement in all that goes through it. Each method gives
 * back its argument itself when there is nothing to replace. One that is to be recorded throws `WholeFieldError` when a
 * secret stands in a field that must stay whole: then nothing of the call may be written.
 *
 * `place` says in findings and errors what the text is: `request body`, `response headers`.
 */
export class Redaction {
  /** What was replaced so far, never the secrets themselves. */
  readonly findings: Finding[] = [];
  readonly #finder: Finder;
  readonly #pointers: readonly string[][];
  #replacements: Replacements;
  readonly #numbered: boolean;
  readonly #scope: Scope | undefined;
  readonly #known: KnownSecrets;

  constructor(finder: Finder, pointers: readonly string[][], numbered: boolean, scope?: Scope) {
    this.#scope = scope;
    this.#finder = finder;
    this.#known = new KnownSecrets(finder);
    this.#pointers = pointers;
    this.#numbered = numbered;
    this.#replacements = new Replacements(numbered);
  }

  /**
   * Looks at what is not written itself, as the rest of the call is: a credential that was sent is then known where it is
   * quoted. Nothing of it is in the findings, or counts in the numbers.
   */
  learn(look: (redaction: Redaction) => void): void {
    const [replacements, found] = [this.#replacements, this.findings.length];
    this.#replacements = new Replacements(false);
    try {
      look(this);
    } finally {
      this.#replacements = replacements;
      this.findings.length = found;
    }
  }

  /** How many credentials it knows. */
  get known(): number {
    return this.#known.list.length;
  }

  /** Numbers go on from those of an earlier redaction that the text has been through. */
  reserve(text: string): void {
    this.#replacements.reserve(text);
  }

  /** Plain text: also sees through JSON escapes, percent-encoding and base64 in it. */
  text(text: string, place: string): string {
    return this.#finish(applyEdits(text, this.#textEdits(text, place)));
  }

  /** A JSON document as text: all but the secrets stays as it was written. What is no JSON is treated as plain text. */
  json(text: string, place: string): string {
    const inPieces = SPLIT.test(text);
    // What is clean has no base64 of a text either, in which there could be a numbered replacement.
    if (!inPieces && this.#isClean(text)) return this.#numbered ? text : withoutPlainNumbers(text);
    return this.#finish(applyEdits(text, this.#editsOf([text], inPieces, place)[0]!));
  }

  /** A value that `JSON.stringify` can write: canonical requests, replies, frames. Replaced in a copy. */
  value<Value>(value: Value, place: string): Value {
    const text = JSON.stringify(value);
    if (text === undefined) return value;
    const redacted = this.json(text, place);
    return redacted === text ? value : (JSON.parse(redacted) as Value);
  }

  /** Credentials by the header's name, all other values as text. */
  headers<Headers extends Readonly<Record<string, string | string[] | undefined>>>(
    headers: Headers,
    place: string,
  ): Headers {
    let changed = false;
    const redacted = Object.entries(headers).map(([name, value]) => {
      const one = (text: string) => this.#header(name, text, place);
      const after = Array.isArray(value) ? value.map(one) : value === undefined ? value : one(value);
      changed ||= Array.isArray(value) ? value.some((text, at) => text !== after?.[at]) : after !== value;
      return [name, after];
    });
    return changed ? (Object.fromEntries(redacted) as Headers) : headers;
  }

  /** What was replaced so far that could be no word of any text, and by what. Never to be shown. */
  get replaced(): [secret: string, replacement: string][] {
    return [...this.#replacements.entries()].filter(([secret]) => isTelling(secret));
  }

  /** A URI, whole or from its path, or a form's body; what is put in is percent-encoded. */
  uri(uri: string, place: string): string {
    const [, query = ""] = /\?([^#]*)/.exec(uri) ?? [];
    for (const [name, value] of new URLSearchParams(query))
      if (isCredentialParameter(name)) this.#known.add(value, "query-credential");
    return this.#finish(applyEdits(uri, this.#uriEdits(uri, place)));
  }

  /** A complete body, decompressed. JSON, forms, multipart and other text by content type; what is binary stays. */
  body(bytes: Uint8Array, contentType: string | undefined, place: string): Uint8Array {
    return this.chunks([bytes], contentType, place)[0]!;
  }

  /** The deltas of one channel (a text, one tool call's arguments) in order: as many come back, joined they are the redacted text. */
  pieces(pieces: readonly string[], place: string): string[] {
    const edits = this.#textEdits(pieces.join(""), place);
    const split = splitEdits(
      pieces.map((piece) => piece.length),
      edits,
    );
    return pieces.map((piece, at) => this.#finish(applyEdits(piece, split[at]!)));
  }

  /** The payloads of a stream's events in order (SSE data, lines of NDJSON, messages of an event stream): as many come back. */
  events(payloads: readonly string[], place: string): string[] {
    const edits = this.#eventEdits(payloads, place);
    return payloads.map((payload, at) => this.#finish(applyEdits(payload, edits[at]!)));
  }

  /**
   * A streamed body as it came in chunks, decompressed, framing by content type (SSE, NDJSON, AWS event stream, a JSON
   * array, multipart, plain text): as many chunks come back, each with what was in it.
   */
  chunks(chunks: readonly Uint8Array[], contentType: string | undefined, place: string): Uint8Array[] {
    const bytes = chunks.length === 1 ? Buffer.from(chunks[0]!) : Buffer.concat(chunks);
    const framed = framedTexts(bytes, contentType);
    const edits = framed.toByteEdits({
      events: this.#eventEdits(framed.events, place),
      texts: framed.texts.map((text) =>
        this.#scope?.text === false ? [] : framed.isForm ? this.#uriEdits(text, place) : this.#textEdits(text, place),
      ),
    });
    if (edits.length === 0) return [...chunks];
    const split = splitEdits(
      chunks.map((chunk) => chunk.byteLength),
      edits,
    );
    return chunks.map((chunk, at) =>
      split[at]!.length === 0
        ? chunk
        : Buffer.from(applyEdits(Buffer.from(chunk).toString("latin1"), split[at]!), "latin1"),
    );
  }

  #isClean(text: string): boolean {
    return this.#pointers.length === 0 && this.#finder.isClean(text) && !this.#known.areIn(text);
  }

  #finish(text: string): string {
    return this.#numbered ? text : withoutNumbers(text);
  }

  #textEdits(text: string, place: string): Edit[] {
    return this.#finder.find(text, this.#known.list).map((found) => this.#edit(found, place));
  }

  #uriEdits(uri: string, place: string): Edit[] {
    return this.#textEdits(uri, place).map((edit) => ({ ...edit, text: encodeURIComponent(edit.text) }));
  }

  /** The edit that takes a secret away, after it was noted in the findings. */
  #edit(found: Found, place: string, pointer?: string): Edit {
    const { start, end, detector, secret, base64 } = found;
    if (base64 !== undefined) {
      const inner = base64.found.map((one) => this.#edit({ ...one, base64: one.base64 }, place, pointer));
      return { start, end, text: base64.in.encode(applyEdits(base64.in.text, inner)) };
    }
    const text = this.#replacements.of(detector, secret);
    // Found by what stands before it, as it need not elsewhere.
    if (detector.family === "credential") this.#known.add(secret, detector.name);
    this.findings.push({
      detector: detector.name,
      place,
      ...(pointer !== undefined && { pointer }),
      offset: start,
      replacement: text,
    });
    return { start, end, text };
  }

  #header(name: string, value: string, place: string): string {
    const named = detectorOfHeader(name);
    if (named === undefined || isReplaced(value)) return this.text(value, `${place}, ${name}`);
    const { start, end } = secretPartOf(named, value);
    const secret = value.slice(start, end);
    if (secret === "" || isReplaced(secret)) return this.#finish(value);
    if (this.#finder.allows(secret)) return this.text(value, `${place}, ${name}`);
    const edit = this.#edit({ start, end, secret, detector: this.#known.named(secret, named) }, `${place}, ${name}`);
    this.#known.add(secret, /^basic\s/i.test(value) ? "basic-credential" : named);
    return this.#finish(applyEdits(value, [edit]));
  }

  /** Events of which each wraps another one in base64 (Bedrock's invoke streams) are looked into. */
  #eventEdits(payloads: readonly string[], place: string): Edit[][] {
    const events = payloads.map(unwrapped);
    const edits = this.#documentEdits(
      events.map(({ text }) => text),
      place,
    );
    return events.map(({ toPayload }, at) => toPayload(edits[at]!));
  }

  /** Edits of JSON texts that belong together: one document, or a stream's events. */
  #documentEdits(texts: readonly string[], place: string): Edit[][] {
    const inPieces = texts.length > 1 || SPLIT.test(texts[0] ?? "");
    if (!inPieces && this.#isClean(texts[0] ?? "")) return texts.map(() => []);
    return this.#editsOf(texts, inPieces, place);
  }

  #editsOf(texts: readonly string[], inPieces: boolean, place: string): Edit[][] {
    const edits: Edit[][] = texts.map((text, document) => this.#pointerEdits(text, document, texts.length, place));
    for (const strings of stringsOf(texts, inPieces)) {
      if (this.#scope?.leaf(strings[0]!.leaf) === false) continue;
      for (const { document, edit } of this.#stringEdits(strings, texts, place)) edits[document]!.push(edit);
    }
    return edits.map(inOrder);
  }

  /** What the user's pointers name, whatever it is. */
  #pointerEdits(text: string, document: number, documents: number, place: string): Edit[] {
    if (this.#pointers.length === 0 || !isJson(text)) return [];
    return this.#pointers.flatMap((pattern) =>
      pointedAt(text, pattern).flatMap(({ pointer: at, ...span }) => {
        const secret = text.slice(span.start, span.end);
        const plain = secret.startsWith('"') ? (JSON.parse(secret) as string) : secret;
        if (isReplaced(secret) || this.#finder.allows(plain)) return [];
        const pointer = `${documents > 1 ? `/${document}` : ""}${this.#shownPointer(parsePointer(at))}`;
        const edit = this.#edit({ ...span, detector: POINTER, secret }, place, pointer);
        return [{ ...edit, text: JSON.stringify(edit.text) }];
      }),
    );
  }

  #stringEdits(
    strings: readonly JsonString[],
    texts: readonly string[],
    place: string,
  ): { document: number; edit: Edit }[] {
    const first = strings[0]!;
    const found = this.#foundIn(strings);
    if (found.length === 0) return [];
    const prefix = texts.length > 1 ? `/${first.document}` : "";
    const pointer = this.#shownPointer(stepsTo(first.leaf));
    // What is only compared is written nowhere, and a call that was recorded has no secret there.
    if (this.#numbered && isWhole(first.leaf))
      throw new WholeFieldError(found[0]!.detector.name, place, prefix + pointer);
    const edits = found.map((one) => this.#edit(one, place, prefix + pointer));
    const split = splitEdits(
      strings.map(({ value }) => value.length),
      edits,
    );
    return strings.flatMap((string, at) => {
      const { document, leaf } = string;
      const own = split[at]!.map((edit) =>
        string.toDocument(leaf.kind === "number" ? { ...edit, text: JSON.stringify(edit.text) } : edit),
      );
      return [...own, ...(own.length > 0 ? besideToken(leaf, texts[document]!) : [])].map((edit) => ({
        document,
        edit,
      }));
    });
  }

  /** A pointer is shown in reports, and a key may be a secret. */
  #shownPointer(steps: readonly (string | number)[]): string {
    const shown = (step: string): string => {
      const found = this.#finder.find(step, this.#known.list);
      return applyEdits(
        step,
        found.map(({ start, end, detector, secret }) => ({
          start,
          end,
          text: this.#replacements.of(detector, secret),
        })),
      );
    };
    return formatPointer(steps.map((step) => (typeof step === "number" ? String(step) : shown(step))));
  }

  #foundIn(strings: readonly JsonString[]): Found[] {
    const { leaf, value } = strings[0]!;
    if (leaf.kind === "number") {
      return this.#finder
        .find(value)
        .filter(({ start, end, base64 }) => start === 0 && end === value.length && !base64);
    }
    const text = strings.map((string) => string.value).join("");
    if (leaf.kind === "string" && isSecretName(String(leaf.step)) && text !== "" && !isReplaced(text)) {
      const detector = this.#known.named(text, "secret");
      const withoutScheme = text.slice(secretPartOf("secret", text).start);
      if (this.#finder.has("secret") && ![text, withoutScheme].some((one) => this.#finder.allows(one))) {
        this.#known.add(text, "secret");
        return [{ start: 0, end: text.length, secret: text, detector }];
      }
    }
    return this.#finder.find(text, this.#known.list);
  }
}

/** A document in which a text may be in pieces, of which none need be a secret. */
export const SPLIT = /^\s*\[|"(?:logprob|logProbability|parts)"/;

/** What else says what a token was: its bytes, and the tokens that could have been. */
export function besideToken(leaf: Leaf, text: string): Edit[] {
  if (!isToken(leaf.holder) || leaf.step !== "token") return [];
  return Object.entries({ bytes: "null", top_logprobs: "[]" }).flatMap(([name, instead]) => {
    const member = memberAt(text, leaf.holder.start, name);
    return member ? [{ start: member.start, end: member.end, text: instead }] : [];
  });
}

/** The outer ones win where edits hold one another. */
export function inOrder(edits: Edit[]): Edit[] {
  const sorted = edits.sort((a, b) => a.start - b.start || b.end - a.end);
  let end = -1;
  return sorted.filter((edit) => {
    if (edit.start < end) return false;
    end = Math.max(end, edit.end);
    return true;
  });
}
