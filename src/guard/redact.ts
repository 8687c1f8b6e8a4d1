import type { Finding } from "./finding.ts";

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
  /** Texts that are no secrets although a detector takes them for one. */
  allow?: readonly string[];
}

/**
 * Makes a redactor. Asynchronous because the engine for the user's own patterns is loaded only where there are any.
 * @throws {RedactionOptionsError} for an unknown detector, or a pattern or pointer that is none
 */
export async function createRedactor(_options: RedactionOptions = {}): Promise<Redactor> {
  return new Redactor();
}

/** What there is to look for, ready for use by any number of calls. */
export class Redactor {
  /** For one call that is to be recorded: request, response, headers, raw and canonical, in this order. */
  call(): Redaction {
    return new Redaction();
  }

  /**
   * For one incoming call that is to be matched with redacted tapes: `«email»` instead of `«email:1»`. Texts of the
   * tape go through `withoutNumbers` to be compared.
   */
  match(): Redaction {
    return new Redaction();
  }
}

/**
 * The redaction of one call. The same secret gets the same replacement in all that goes through it. Each method gives
 * back its argument itself when there is nothing to replace; all but `findings` throw `WholeFieldError` when a secret
 * stands in a field that must stay whole (then nothing of the call may be written).
 *
 * `place` says in findings and errors what the text is: `request body`, `response headers`.
 */
export class Redaction {
  /** What was replaced so far, never the secrets themselves. */
  readonly findings: Finding[] = [];

  /** Plain text: also sees through JSON escapes, percent-encoding and base64 in it. */
  text(text: string, _place: string): string {
    return text;
  }

  /** A JSON document as text: all but the secrets stays as it was written. What is no JSON is treated as plain text. */
  json(text: string, _place: string): string {
    return text;
  }

  /** A value that `JSON.stringify` can write: canonical requests, replies, frames. */
  value<Value>(value: Value, _place: string): Value {
    return value;
  }

  /** Credentials by the header's name, all other values as text. */
  headers<Headers extends Readonly<Record<string, string | string[] | undefined>>>(
    headers: Headers,
    _place: string,
  ): Headers {
    return headers;
  }

  /** A URI, whole or from its path; what is put in is percent-encoded. */
  uri(uri: string, _place: string): string {
    return uri;
  }

  /** A complete body, decompressed. JSON, forms, multipart and other text by content type; what is binary stays. */
  body(bytes: Uint8Array, _contentType: string | undefined, _place: string): Uint8Array {
    return bytes;
  }

  /** The deltas of one channel (a text, one tool call's arguments) in order: as many come back, joined they are the redacted text. */
  pieces(pieces: readonly string[], _place: string): string[] {
    return [...pieces];
  }

  /** The payloads of a stream's events in order (SSE data, lines of NDJSON, messages of an event stream): as many come back. */
  events(payloads: readonly string[], _place: string): string[] {
    return [...payloads];
  }

  /**
   * A streamed body as it came in chunks, decompressed, framing by content type (SSE, NDJSON, AWS event stream, a JSON
   * array, plain text): as many chunks come back, each with what was in it.
   */
  chunks(chunks: readonly Uint8Array[], _contentType: string | undefined, _place: string): Uint8Array[] {
    return [...chunks];
  }
}

/** A text of a redacted tape in the form that `Redactor.match` gives: `«email:1»` as `«email»`. */
export function withoutNumbers(text: string): string {
  return text;
}
