import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomOf } from "../../src/chat/random.ts";
import { createRedactor, type Redactor, withoutNumbers } from "../../src/guard/redact.ts";
import { StuntDouble } from "../../src/index.ts";

interface Interaction {
  request: { method: string; path: string; body?: unknown };
  response: { status: number; content_type?: string; body?: unknown };
}

/** Real recordings as the provider behind the relay. `npm run test:wild` says where they are. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");

const KEY = "x-wild-interaction";
const files = readdirSync(join(root, "http"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const random = randomOf(6);
const answers = new Map<string, Interaction["response"]>();

let server: Server;
let url: string;
let redactor: Redactor;
beforeAll(async () => {
  redactor = await createRedactor();
  // Cuts bodies anywhere, also inside a character.
  server = createServer((request, response) => {
    const answer = answers.get(String(request.headers[KEY]))!;
    const bytes = bytesOf(answer.body);
    request.resume();
    response.writeHead(answer.status, answer.content_type ? { "content-type": answer.content_type } : {});
    const send = (from: number): void => {
      if (from >= bytes.length) return void response.end();
      const to = Math.min(bytes.length, from + 1 + Math.floor(random() * random() * 4000));
      response.write(bytes.subarray(from, to), () => setImmediate(send, to));
    };
    send(0);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.each(files.map((file) => [file.slice(root.length + 1), file] as const))("%s", (name, file) => {
  const { provider, interactions } = JSON.parse(readFileSync(file, "utf8")) as {
    provider: string;
    interactions: Interaction[];
  };

  test("passes through unharmed, and is replayed after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stuntdouble-wild-relay-"));
    try {
      const segment = segmentOf(provider);
      const recording = await StuntDouble.start({ record: { providers: { [segment]: url }, fixturePath: folder } });
      for (const [index, { request, response }] of interactions.entries()) {
        const key = `${name} ${index}`;
        answers.set(key, response);
        const live = await fetch(recording.url + pathOf(request, segment), init(request, key));
        expect(live.status).toBe(response.status);
        expect(Buffer.from(await live.arrayBuffer()).equals(bytesOf(response.body)), `live ${index}`).toBe(true);
      }
      await recording.stop();
      const replaying = new StuntDouble({ replaySpeed: 1000, repeat: "miss" });
      replaying.load(folder);
      for (const [index, { request, response }] of interactions.entries()) {
        const replayed = await replaying.fetch(`http://double${pathOf(request, segment)}`, init(request, ""));
        expect(replayed.status, `replayed ${index}`).toBe(response.status);
        expect(replayed.headers.get("content-type") ?? "").toBe(response.content_type ?? "");
        const bytes = Buffer.from(await replayed.arrayBuffer());
        const original = redacted(bytesOf(response.body), response.content_type ?? "");
        if (typeof response.body === "string" || !isBase64(response.body)) {
          expect(withoutNumbers(bytes.toString())).toBe(withoutNumbers(original.toString()));
        } else expect(bytes.equals(original), `replayed ${index}`).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("there are recordings", () => {
  expect(files.length).toBeGreaterThan(100);
});

function redacted(bytes: Buffer, type: string): Buffer {
  const redaction = redactor.match();
  const isStream = /event-stream|ndjson/.test(type);
  const result = isStream
    ? redaction.chunks([bytes], type, "body")[0]!
    : redaction.body(bytes, type || undefined, "body");
  return Buffer.from(result);
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (typeof body === "string") return Buffer.from(body);
  return isBase64(body) ? Buffer.from(body.base64, "base64") : Buffer.from(JSON.stringify(body));
}

function isBase64(body: unknown): body is { base64: string } {
  return typeof body === "object" && body !== null && typeof (body as { base64?: unknown }).base64 === "string";
}

function segmentOf(provider: string): string {
  return provider === "vertex" ? "vertexai" : provider;
}

/** Named by its segment, since a recording's folder may hold calls to other providers. */
function pathOf({ path }: Interaction["request"], segment: string): string {
  return `/${segment}${path.startsWith("/") ? path : `/${path}`}`;
}

function init({ method, body }: Interaction["request"], key: string): RequestInit {
  const sends = body !== undefined && body !== null && method !== "GET";
  return {
    method,
    headers: { ...(key !== "" && { [KEY]: key }), ...(sends && { "content-type": "application/json" }) },
    ...(sends && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
}
