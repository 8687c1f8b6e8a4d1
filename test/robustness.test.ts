import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StuntDouble } from "../src/index.ts";

let double: StuntDouble;
beforeAll(async () => {
  double = await StuntDouble.start({ fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }] });
});
afterAll(() => double.stop());

const PATHS = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/messages",
  "/v1/messages/count_tokens",
];

const post = (path: string, body: string | Uint8Array): Promise<Response> =>
  fetch(double.url + path, { method: "POST", body: body as BodyInit, headers: { "content-type": "application/json" } });

async function answersHello(): Promise<void> {
  const reply = await post(PATHS[0]!, JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }));
  expect(((await reply.json()) as { choices: { message: object }[] }).choices[0]!.message).toMatchObject({
    content: "Hi!",
  });
}

it.each(PATHS)("%s takes lone surrogates and NULs inside strings", async (path) => {
  const content = "hello \ud800 \0 \udc00";
  const body = { model: "m", max_tokens: 1, messages: [{ role: "user", content }], prompt: content, input: content };
  expect((await post(path, JSON.stringify(body))).status).toBe(200);
});

describe("bad clients", () => {
  it("are answered 413 for 200 MB, and the double goes on", async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(0x61);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (sent++ === 200) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const outcome = await fetch(`${double.url}/v1/messages`, init).catch((error: Error) => error);
    if (outcome instanceof Response) {
      expect(outcome.status).toBe(413);
      expect(await outcome.json()).toMatchObject({ type: "error", error: { type: "request_too_large" } });
    } else throw outcome;
    await answersHello();
  });

  it("may open 10,000 connections and leave", async () => {
    const port = double.port;
    // A connection takes two descriptors here, and not every machine allows twenty thousand: in batches.
    for (let batch = 0; batch < 20; batch++) {
      const sockets = Array.from({ length: 500 }, (_, index) => {
        const socket = connect(port, "127.0.0.1");
        socket.on("error", () => {});
        if (index % 2 === 0) socket.write("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{");
        return socket;
      });
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
      for (const socket of sockets) socket.destroy();
      await turn();
    }
    await answersHello();
  });

  it("that read nothing hold no more than their socket takes", async () => {
    const own = await StuntDouble.start({
      fixtures: [{ match: {}, response: { content: "word ".repeat(4_000_000) }, streamingProfile: { tps: 1000 } }],
      chunkSize: 100_000,
    });
    const socket: Socket = connect(own.port, "127.0.0.1");
    const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "x" }] });
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await once(socket, "readable");
    socket.pause();
    await turn();
    // The reply is 20 MB, more than the kernel takes: the rest waits until the socket drains, which it never does.
    const other = await fetch(`${own.url}/health`);
    expect(other.status).toBe(200);
    expect(own.lastCall()!.response.interrupted).toBeUndefined();
    socket.destroy();
    await expect.poll(() => own.lastCall()!.response.interruptReason, { interval: 1 }).toBe("client gone");
    await own.stop();
  });

  it("may send half a request and go", async () => {
    const socket = connect(double.port, "127.0.0.1");
    socket.end('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"model": ');
    socket.resume();
    await once(socket, "close");
    await answersHello();
  });
});
