import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { parseCassette } from "../../src/cassettes/damage.ts";
import type { Cassette, Trace } from "../../src/cassettes/types.ts";
import { StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;
export type Cassettes = NonNullable<StuntDoubleOptions["cassettes"]>;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A provider that answers as it is told. */
export async function provider(handler: Handler): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => handler(request, response, Buffer.concat(chunks).toString()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "stuntdouble-cassettes-"));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function started(options: StuntDoubleOptions): Promise<StuntDouble> {
  const double = await StuntDouble.start(options);
  cleanups.push(() => double.stop().catch(() => {}));
  return double;
}

export const recording = (url: string, cassettes: Omit<Cassettes, "mode">, mode: Cassettes["mode"] = "record") =>
  started({ record: { providers: { openai: url, anthropic: url } }, cassettes: { ...cassettes, mode } });
export const replaying = (cassettes: Omit<Cassettes, "mode">, more: StuntDoubleOptions = {}) =>
  started({ ...more, cassettes: { ...cassettes, mode: "replay" } });

export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
export const read = (folder: string, name: string): Cassette =>
  parseCassette(readFileSync(join(folder, name), "utf8"), name);
export const latest = (cassette: Cassette): Trace => cassette.traces[cassette.latest_trace_id]!;

export const CHAT = { model: "gpt-5", messages: [{ role: "user" as const, content: "Weather in Paris?" }] };
export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

export const completion = (content: string): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-5-2026-01-01",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
  });
const piece = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-2", object: "chat.completion.chunk", created: 1, model: "gpt-5", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
export const STREAM = [
  piece({ role: "assistant", content: "" }),
  piece({ content: "Sunny, " }),
  piece({ content: "18 °C" }),
  piece({}, "stop"),
  "data: [DONE]\n\n",
];

export const json =
  (text: string): Handler =>
  (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(text);
  };
export const stream: Handler = (_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of STREAM) response.write(chunk);
  response.end();
};
