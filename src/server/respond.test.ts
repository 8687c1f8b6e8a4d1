import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { StuntDouble } from "./double.ts";

let double: StuntDouble | undefined;
afterEach(() => double?.stop());

// More than the buffers of a connection hold, so that part of it waits here.
const LONG = "ä and a long answer ".repeat(400_000);
const REQUEST = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "hello" }] });

async function ask(socket: Socket, times = 1): Promise<void> {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${REQUEST.length}\r\n\r\n`;
  socket.write(`${head}${REQUEST}`.repeat(times));
}

/** Reads replies until there are so many. */
async function replies(socket: Socket, count: number): Promise<{ id: string; content: string }[]> {
  let bytes = Buffer.alloc(0);
  const found: { id: string; content: string }[] = [];
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const end = bytes.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(bytes.toString("latin1", 0, Math.max(0, end)))?.[1]);
      if (end < 0 || bytes.length < end + 4 + length) break;
      const body = JSON.parse(bytes.toString("utf8", end + 4, end + 4 + length));
      found.push({ id: body.id, content: body.choices[0].message.content });
      bytes = bytes.subarray(end + 4 + length);
    }
    if (found.length === count) return found;
  }
  throw new Error(`the connection ended after ${found.length} replies`);
}

describe("an answer that its client is slow to take", () => {
  it("keeps its own ids while others get the same answer", async () => {
    double = await StuntDouble.start({ seed: 1 });
    double.onMessage("hello", { content: LONG });
    const slow = connect(double.port, "127.0.0.1").pause();
    await once(slow, "connect");
    await ask(slow, 2);
    while (double.calls().length < 1) await new Promise(setImmediate);
    const others = [];
    for (let round = 0; round < 3; round++) {
      const quick = connect(double.port, "127.0.0.1");
      await ask(quick);
      others.push(...(await replies(quick, 1)));
      quick.destroy();
    }
    const late = await replies(slow, 2);
    slow.destroy();
    for (const { content } of [...others, ...late]) expect(content).toBe(LONG);
    expect(new Set([...others, ...late].map(({ id }) => id)).size).toBe(5);
  });
});

describe("what HTTP does not have", () => {
  it.each([204, 304])("a body of a %i does not get in the way of the next reply", async (status) => {
    double = await StuntDouble.start();
    double.on({ userMessage: "hello", sequenceIndex: 0 }, { error: { message: "not sent" }, status });
    double.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "Hi!" });
    const socket = connect(double.port, "127.0.0.1").setEncoding("latin1");
    ask(socket, 2);
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes("Hi!")) break;
    }
    const [, first, second] = text.split("HTTP/1.1 ");
    expect(first).toMatch(new RegExp(`^${status} [^]*\\r\\n\\r\\n$`));
    expect(second).toMatch(/^200 OK/);
  });

  it.each([0, 1000])("the status %i fails its own call, and the next one is answered", async (status) => {
    double = await StuntDouble.start();
    double.on({ userMessage: "hello", sequenceIndex: 0 }, { error: { message: "no" }, status });
    double.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "Hi!" });
    const call = () => fetch(`${double!.url}/v1/chat/completions`, { method: "POST", body: REQUEST });
    const failed = await call();
    expect(failed.status).toBe(500);
    expect(await failed.json()).toMatchObject({
      error: { message: expect.stringMatching(/^The reply cannot be sent: /) },
    });
    expect((await call()).status).toBe(200);
  });

  it.each([0, 1000])("the status %i breaks its own call off where its reply takes its time", async (status) => {
    double = await StuntDouble.start();
    double.on({ userMessage: "hello", sequenceIndex: 0 }, { error: { message: "no" }, status }, { latency: 1 });
    double.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "Hi!" });
    const call = () => fetch(`${double!.url}/v1/chat/completions`, { method: "POST", body: REQUEST });
    await expect(call()).rejects.toThrow();
    expect((await call()).status).toBe(200);
  });
});
