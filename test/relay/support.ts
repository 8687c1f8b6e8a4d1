import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach } from "vitest";
import { loadFixtures, StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";
import { providerNames } from "../../src/upstream/providers.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export function onCleanup(clean: () => unknown): void {
  cleanups.push(clean);
}

/** A provider that answers as it is told. */
export async function provider(
  handler: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => handler(request, response, Buffer.concat(chunks).toString()));
  });
  return listening(server);
}

/** @returns the URL of a server that has begun to listen, until the end of the test */
export async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onCleanup(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A double that poses as every provider, each at its own segment. */
export const everyProvider = (url: string): Record<string, string> =>
  Object.fromEntries(providerNames.map((name) => [name, `${url}/${name}`]));

/** For one test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "stuntdouble-relay-"));
  onCleanup(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** For all tests of a file. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "stuntdouble-relay-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function started(options: StuntDoubleOptions): Promise<StuntDouble> {
  const double = await StuntDouble.start({ onWarning: () => {}, ...options });
  onCleanup(() => double.stop().catch(() => {}));
  return double;
}

/** A double that has nothing but what a folder holds, and is in no hurry to be slow. */
export function replaying(path: string, options: StuntDoubleOptions = {}): StuntDouble {
  return new StuntDouble({ replaySpeed: 1000, ...options }).addFixtures(loadFixtures(path));
}

export const post = (
  url: string,
  body: unknown,
  init: RequestInit = {},
  send: typeof fetch = fetch,
): Promise<Response> =>
  send(url, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" }, ...init });

export const completion = (content: string): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-5-2026-01-01",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  });

export const chat = (content: string, more: object = {}): Record<string, unknown> => ({
  model: "gpt-5",
  messages: [{ role: "user", content }],
  ...more,
});
