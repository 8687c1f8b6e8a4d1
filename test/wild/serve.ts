import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Answer } from "../../src/dialects/answer.ts";
import { Engine } from "../../src/server/engine.ts";
import { Listener } from "../../src/server/listener.ts";
import { Router } from "../../src/server/router.ts";
import { dialects } from "../../src/services/registry.ts";
import { SystemClock } from "../../src/state/clock.ts";
import { Journal } from "../../src/state/journal.ts";
import { LocalMemory } from "../../src/state/memory.ts";
import { SeededStamps } from "../../src/state/stamps.ts";
import type { Exchange } from "./corpus.ts";

/** Names the recording that a request is for. */
export const KEY_HEADER = "x-test-id";

export interface Served<Reply> {
  url: string;
  replies: Map<string, Reply>;
  stop(): Promise<unknown>;
}

/** Serves the bytes of recordings as they are, on any path. */
export async function serveOriginals(): Promise<Served<Exchange>> {
  const replies = new Map<string, Exchange>();
  const server = createServer((request, response) => {
    const exchange = replies.get(String(request.headers[KEY_HEADER]));
    request.resume();
    response.writeHead(exchange?.status ?? 404, {
      "content-type": exchange?.contentType ?? "text/plain",
      // Headers were not recorded, and AWS names the kind of an error in one.
      ...(exchange?.folder === "bedrock" && exchange.status === 400 && { "x-amzn-errortype": "ValidationException" }),
    });
    response.end(exchange?.bytes);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    replies,
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

/** Serves replies as the product does: its router, engine and listener, with these replies as the only answers. */
export async function serveReplies(): Promise<Served<Answer>> {
  const replies = new Map<string, Answer>();
  const clock = new SystemClock();
  const engine = new Engine({
    router: new Router(dialects),
    answerers: [(call) => replies.get(call.testId)],
    journal: new Journal(10),
    stamps: new SeededStamps("wild"),
    memory: new LocalMemory(),
    clock,
  });
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    bodyLimit: 10_000_000,
    headersTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    clock,
    handle: (raw) => engine.handle(raw),
    refuse: (raw, fault) => {
      throw new Error(`refused ${raw.path}: ${JSON.stringify(fault)}`);
    },
  });
  const port = await listener.listen();
  return { url: `http://127.0.0.1:${port}`, replies, stop: () => listener.stop(0) };
}
