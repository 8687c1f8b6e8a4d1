import { badRequest } from "./api-error.ts";

/** Objects and arrays may be nested this deep; beyond it a body is refused, as providers do. */
export const MAX_DEPTH = 500;

const NO_BYTES = new Uint8Array();

export type JsonObject = Record<string, unknown>;

/** A request as it came, before any dialect has looked at it. The body is complete and decompressed. */
export class RawRequest {
  readonly method: string;
  /** Without the query, and without the scenario or provider segment that led to the route. */
  path: string;
  /** As it was received. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
  /** What the route's path took from the URL. */
  params: Readonly<Record<string, string | undefined>> = {};
  /** The route's path, as it was registered (`/v1/models/:id`). */
  route: string | undefined = undefined;
  /** Set by whoever works on the answer in the background; called when the client goes before there is one. */
  gone: (() => void) | undefined = undefined;
  #query: URLSearchParams | undefined;
  #text: string | undefined;
  #json: unknown;
  #parsed = false;

  constructor(
    method: string,
    url: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Uint8Array,
  ) {
    this.method = method;
    this.url = url;
    const mark = url.indexOf("?");
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.headers = headers;
    this.body = body;
  }

  /** That of its route: `HEAD` asks for what `GET` would, without its body. */
  get routedMethod(): string {
    return this.method === "HEAD" ? "GET" : this.method;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  get query(): URLSearchParams {
    if (this.#query === undefined) {
      const mark = this.url.indexOf("?");
      this.#query = new URLSearchParams(mark < 0 ? "" : this.url.slice(mark + 1));
    }
    return this.#query;
  }

  /** The body as text, decoded once: the journal keeps this string, not the bytes behind it. */
  get text(): string {
    if (this.#text === undefined) {
      const { buffer, byteOffset, byteLength } = this.body;
      this.#text = Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
    }
    return this.#text;
  }

  /**
   * The body as JSON, parsed once.
   * @throws {SyntaxError} if it is not JSON
   */
  get json(): unknown {
    if (!this.#parsed) {
      this.#json = JSON.parse(this.text);
      this.#parsed = true;
    }
    return this.#json;
  }

  /** The body as JSON if somebody has parsed it, else undefined. */
  get parsed(): unknown {
    return this.#json;
  }

  /** The same request for who keeps it long: of its body there is only what has been parsed. */
  withoutBytes(): RawRequest {
    return this.#copy(NO_BYTES, this.#json);
  }

  /** The same request with another body; whoever gives this one up gives that one up. */
  withBody(body: Uint8Array): RawRequest {
    const copy = new RawRequest(this.method, this.url, this.headers, body);
    copy.path = this.path;
    copy.params = this.params;
    copy.route = this.route;
    this.gone = () => copy.gone?.();
    return copy;
  }

  /** The same request with another value for its body, where a path says what the body says elsewhere. */
  withJson(json: unknown): RawRequest {
    return this.#copy(this.body, json);
  }

  #copy(body: Uint8Array, json: unknown): RawRequest {
    const copy = new RawRequest(this.method, this.url, this.headers, body);
    copy.path = this.path;
    copy.params = this.params;
    copy.route = this.route;
    copy.#json = json;
    copy.#parsed = true;
    return copy;
  }
}

/**
 * The body as a JSON object.
 * @throws {ApiError} 400 when it is empty, no JSON, no object, or nested too deep
 */
export function jsonObject(raw: RawRequest): JsonObject {
  if (raw.body.length === 0) throw badRequest("The request has no body. Send a JSON object.");
  let value: unknown;
  try {
    value = raw.json;
  } catch (error) {
    throw badRequest(`We could not parse the JSON body of your request: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest(`The body must be a JSON object, but it is ${kindOf(value)}.`);
  // A body this short cannot be nested too deep, which spares the common request the walk.
  if (raw.body.length > MAX_DEPTH && isDeeperThan(value, MAX_DEPTH)) {
    throw badRequest(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  return value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For messages: `null`, `an array`, `a string` … */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Whether objects and arrays are nested more than so many levels deep. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeperThan((value as JsonObject)[key], levels - 1)) return true;
  return false;
}
