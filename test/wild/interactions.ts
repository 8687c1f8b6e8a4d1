import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { randomOf } from "../../src/chat/random.ts";
import type { Redactor } from "../../src/guard/redact.ts";

/** A request that was really made, and what its provider answered. */
export interface Interaction {
  request: { method: string; path: string; body?: unknown };
  response: { status: number; content_type?: string; body?: unknown };
}

/** Real recordings as the provider behind the relay. `npm run test:wild` says where they are. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");

const KEY = "x-wild-interaction";

/** Names and files. */
export const recordings: readonly (readonly [name: string, file: string])[] = readdirSync(join(root, "http"), {
  recursive: true,
  withFileTypes: true,
})
  .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
  .map((file) => [file.slice(root.length + 1), file] as const);

export function interactionsIn(file: string): { segment: string; interactions: Interaction[] } {
  const { provider, interactions } = JSON.parse(readFileSync(file, "utf8")) as {
    provider: string;
    interactions: Interaction[];
  };
  return { segment: provider === "vertex" ? "vertexai" : provider, interactions };
}

/** A provider that answers as it did, in pieces that end anywhere, also inside a character. */
export class RecordedProvider {
  readonly #answers = new Map<string, Interaction["response"]>();
  readonly #random = randomOf(6);
  readonly #server = createServer((request, response) => {
    const answer = this.#answers.get(String(request.headers[KEY]))!;
    const bytes = bytesOf(answer.body);
    request.resume();
    response.writeHead(answer.status, answer.content_type ? { "content-type": answer.content_type } : {});
    const send = (from: number): void => {
      if (from >= bytes.length) return void response.end();
      const to = Math.min(bytes.length, from + 1 + Math.floor(this.#random() * this.#random() * 4000));
      response.write(bytes.subarray(from, to), () => setImmediate(send, to));
    };
    send(0);
  });

  /** @returns its URL */
  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** @param key names the answer to a request that is sent with it */
  answer(key: string, response: Interaction["response"]): void {
    this.#answers.set(key, response);
  }
}

export function bytesOf(body: unknown): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (typeof body === "string") return Buffer.from(body);
  return isBase64(body) ? Buffer.from(body.base64, "base64") : Buffer.from(JSON.stringify(body));
}

export function isBase64(body: unknown): body is { base64: string } {
  return typeof body === "object" && body !== null && typeof (body as { base64?: unknown }).base64 === "string";
}

/** Named by its segment, since a recording's folder may hold calls to other providers. */
export function pathOf({ path }: Interaction["request"], segment: string): string {
  return `/${segment}${path.startsWith("/") ? path : `/${path}`}`;
}

export function init({ method, body }: Interaction["request"], key = ""): RequestInit {
  const sends = body !== undefined && body !== null && method !== "GET";
  return {
    method,
    headers: { ...(key !== "" && { [KEY]: key }), ...(sends && { "content-type": "application/json" }) },
    ...(sends && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
}

/** What is kept of a body, with `«email»` instead of `«email:1»`. */
export function redacted(redactor: Redactor, bytes: Buffer, type: string): Buffer {
  const redaction = redactor.match();
  const isStream = /event-stream|ndjson/.test(type);
  const result = isStream
    ? redaction.chunks([bytes], type, "body")[0]!
    : redaction.body(bytes, type || undefined, "body");
  return Buffer.from(result);
}
