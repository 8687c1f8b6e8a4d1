import { STATUS_CODES } from "node:http";
import { type DispatchController, type DispatchHandler, newerHandler, type OlderHandler } from "./dispatch-handler.ts";
import { undiciError } from "./errors.ts";
import type { VcrScope } from "./scope.ts";

export interface DispatchOptions {
  origin?: string | URL | null;
  path: string;
  method: string;
  headers?: unknown;
  body?: unknown;
}

/** A call that undici was to send. */
export class CaughtDispatch implements DispatchController {
  aborted = false;
  paused = false;
  reason: unknown;
  rawHeaders: Buffer[] = [];
  readonly rawTrailers: Buffer[] = [];
  readonly #handler: DispatchHandler;
  readonly #gone = new AbortController();
  #resumed: (() => void) | undefined;

  constructor(handler: DispatchHandler | OlderHandler) {
    this.#handler = newerHandler(handler);
  }

  abort(reason: unknown = abortedError()): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#gone.abort(reason);
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#resumed?.();
  }

  /** Never rejects: what goes wrong is told to the handler. */
  async answer(scope: VcrScope, url: URL, options: DispatchOptions): Promise<void> {
    const handler = this.#handler;
    try {
      const body = await bodyOf(options.body);
      handler.onRequestStart(this, {});
      const { signal } = this.#gone;
      const response = await scope.answer({
        url,
        method: options.method,
        headers: headersOf(options.headers),
        body,
        signal,
      });
      const { status } = response;
      this.rawHeaders = [...response.headers].flat().map((text) => Buffer.from(text, "latin1"));
      handler.onResponseStart?.(this, status, fieldsOf(response.headers), STATUS_CODES[status] ?? "");
      const reader = response.body?.getReader();
      for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
        await this.#ready();
        signal.throwIfAborted();
        handler.onResponseData?.(this, Buffer.from(piece.value));
      }
      await this.#ready();
      signal.throwIfAborted();
      handler.onResponseEnd?.(this, {});
    } catch (error) {
      const { aborted, reason } = this;
      this.#gone.abort(error);
      handler.onResponseError?.(this, aborted ? reason : undiciError(error));
    }
  }

  /** When what was given has been taken. */
  #ready(): Promise<void> | undefined {
    if (!this.paused) return undefined;
    return new Promise((done) => {
      this.#resumed = done;
    });
  }
}

function abortedError(): Error {
  const error = new Error("Request aborted");
  error.name = "AbortError";
  return Object.assign(error, { code: "UND_ERR_ABORTED", [Symbol.for("undici.error.UND_ERR_ABORTED")]: true });
}

/** Of all that undici takes for a body. */
async function bodyOf(body: unknown): Promise<Uint8Array | FormData | undefined> {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (isFormData(body)) return formDataOf(body);
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer());
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<string | Uint8Array>) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The package undici has a class of its own. */
function isFormData(body: object): body is FormData {
  return (body as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] === "FormData";
}

function formDataOf(body: FormData): FormData {
  if (body instanceof FormData) return body;
  const copy = new FormData();
  for (const [name, value] of body as FormData) {
    if (typeof value === "string") copy.append(name, value);
    else copy.append(name, value, value.name);
  }
  return copy;
}

/** Of names and values by turns, of pairs, or of an object. */
function headersOf(given: unknown): Headers {
  const headers = new Headers();
  if (given === undefined || given === null) return headers;
  const pairs: Iterable<[string, unknown]> = Array.isArray(given)
    ? pairsOf(given)
    : Symbol.iterator in (given as object)
      ? (given as Iterable<[string, unknown]>)
      : Object.entries(given as object);
  for (const [name, value] of pairs) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, String(one));
  }
  return headers;
}

function pairsOf(list: readonly unknown[]): [string, unknown][] {
  if (Array.isArray(list[0])) return list as [string, unknown][];
  return list.flatMap((name, index) => (index % 2 === 0 ? [[String(name), list[index + 1]]] : []));
}

/** As undici gives them: a list where there are several of a name. */
function fieldsOf(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { "set-cookie": cookies }) };
}
