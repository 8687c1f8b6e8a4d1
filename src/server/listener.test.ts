import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { ApiError } from "../dialects/api-error.ts";
import { encodeOpenAIError } from "../dialects/openai-chat/errors.ts";
import { SystemClock } from "../state/clock.ts";
import { Listener, type ListenerOptions } from "./listener.ts";
import type { Outcome } from "./outcome.ts";

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

/** Answers each request with what it was, unless told otherwise. */
function makeListener(options: Partial<ListenerOptions> = {}): Listener {
  return new Listener({
    host: "127.0.0.1",
    port: 0,
    bodyLimit: 1000,
    headersTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    clock: new SystemClock(),
    handle: (raw) => plain(`${raw.method} ${raw.url} ${raw.text}`),
    refuse: (_, fault) => ({ ...plain(String(encodeOpenAIError(new ApiError(fault)).body)), status: fault.status }),
    ...options,
  });
}

async function listen(options?: Partial<ListenerOptions>): Promise<number> {
  const listener = makeListener(options);
  open.push({ stop: () => listener.stop(50) });
  return listener.listen();
}

const plain = (body: string): Outcome => ({ status: 200, headers: [], body, streamed: false });

function socketTo(port: number): Socket & { all(): Promise<string>; until(text: string): Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  return Object.assign(socket, {
    all: async () => {
      if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
      return received;
    },
    until: async (text: string) => {
      while (!received.includes(text)) await once(socket, "data");
      return received;
    },
  });
}

describe("HTTP/1.1", () => {
  it("answers pipelined requests in their order on one connection", async () => {
    const socket = socketTo(await listen());
    socket.write("GET /one HTTP/1.1\r\nHost: x\r\n\r\nPOST /two HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    socket.write("GET /three HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const received = await socket.all();
    expect(received.match(/(GET|POST) \/\w+ (hi)?/g)).toEqual(["GET /one ", "POST /two hi", "GET /three "]);
  });

  it("takes a request a byte at a time", async () => {
    const socket = socketTo(await listen());
    for (const byte of "POST /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc") {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await socket.all()).toContain("POST /slow abc");
  });

  it("asks for the body only if it is not too long", async () => {
    const socket = socketTo(await listen());
    socket.write("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    await socket.until("100 Continue");
    socket.write("abc");
    await socket.until("POST /a abc");
    socket.write("POST /b HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
    const received = await socket.all();
    expect(received.match(/100 Continue/g)).toHaveLength(1);
    expect(received).toContain("413 Payload Too Large");
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("reads a body that is compressed with %s", async (coding, compress) => {
    const port = await listen();
    expect(await post(port, compress("héllo"), { "content-encoding": coding })).toMatchObject({ body: "POST / héllo" });
  });

  it("reads a body that was compressed twice", async () => {
    const port = await listen();
    const body = brotliCompressSync(gzipSync("twice"));
    expect(await post(port, body, { "content-encoding": "gzip, br" })).toMatchObject({ body: "POST / twice" });
  });

  it("refuses a body that is longer than the limit once it is decompressed", async () => {
    const port = await listen();
    expect(await post(port, gzipSync("a".repeat(1001)), { "content-encoding": "gzip" })).toMatchObject({ status: 413 });
  });

  it("refuses broken and unknown compression", async () => {
    const port = await listen();
    const broken = await post(port, Buffer.from("no gzip"), { "content-encoding": "gzip" });
    expect(broken.status).toBe(400);
    expect(broken.body).toContain("is no valid gzip");
    expect(await post(port, Buffer.from("x"), { "content-encoding": "lzma" })).toMatchObject({ status: 415 });
  });

  it("answers 413 to a body of unknown length that grows too long, and reads on so that the answer arrives", async () => {
    const socket = socketTo(await listen());
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (let sent = 0; sent < 20; sent++) socket.write(`64\r\n${"x".repeat(100)}\r\n`);
    socket.write("0\r\n\r\n");
    expect(await socket.all()).toContain("413 Payload Too Large");
  });

  it("says what is wrong with what is no HTTP", async () => {
    const socket = socketTo(await listen());
    socket.write("hello there\r\n\r\n");
    expect(await socket.all()).toMatch(/^HTTP\/1.1 400 Bad Request[\s\S]*no valid HTTP request/);
  });

  it("answers 431 to headers that are too long", async () => {
    const socket = socketTo(await listen());
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(await socket.all()).toContain("431 Request Header Fields Too Large");
  });

  it("ends a request whose headers do not come", async () => {
    const socket = socketTo(await listen({ headersTimeoutMs: 20 }));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n");
    expect(await socket.all()).toContain("408 Request Timeout");
  });

  it("ends a connection on which nothing comes", async () => {
    const socket = socketTo(await listen({ headersTimeoutMs: 20 }));
    expect(await socket.all()).toBe("");
  });

  it("goes on when a client leaves in the middle of its request", async () => {
    const port = await listen();
    const socket = socketTo(port);
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    expect(await post(port, Buffer.from("next"))).toMatchObject({ status: 200, body: "POST / next" });
  });

  it("sends no body to HEAD", async () => {
    const socket = socketTo(await listen());
    socket.write("HEAD /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(await socket.all()).toMatch(/content-length: 8\r\n[\s\S]*\r\n\r\n$/);
  });
});

describe("HTTP/2 on the same port", () => {
  it("serves it without TLS, many requests on a connection", async () => {
    const client = connectHttp2(`http://127.0.0.1:${await listen()}`);
    const answers = await Promise.all(
      ["/a", "/b", "/c"].map(async (path) => {
        const stream = client.request({ ":method": "POST", ":path": path });
        stream.end("body");
        let text = "";
        for await (const chunk of stream) text += chunk;
        return text;
      }),
    );
    client.close();
    expect(answers).toEqual(["POST /a body", "POST /b body", "POST /c body"]);
  });

  it("tells it by first bytes that come one at a time", async () => {
    const port = await listen();
    const socket = socketTo(port);
    for (const byte of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    // The server's own SETTINGS frame.
    const [first] = (await once(socket, "data")) as [string];
    expect(first.charCodeAt(3)).toBe(4);
    socket.destroy();
  });

  it("ends a session on which no request comes", async () => {
    const client = connectHttp2(`http://127.0.0.1:${await listen({ headersTimeoutMs: 20 })}`);
    client.on("error", () => {});
    await once(client, "close");
    expect(client.destroyed).toBe(true);
  });

  it("ends a session whose request's headers never end", async () => {
    const socket = socketTo(await listen({ headersTimeoutMs: 30 }));
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    // HEADERS for stream 1 without END_HEADERS, holding `:method: GET`.
    socket.write(Buffer.from([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]));
    await once(socket, "close");
    expect(socket.destroyed).toBe(true);
  });

  it("refuses a body that is too long", async () => {
    const client = connectHttp2(`http://127.0.0.1:${await listen()}`);
    const stream = client.request({ ":method": "POST", ":path": "/" });
    stream.end("x".repeat(2000));
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(413);
    client.destroy();
  });
});

describe("stopping", () => {
  it("lets a call under way end, and closes idle connections at once", async () => {
    let release: (outcome: Outcome) => void = () => {};
    let asked: () => void = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const listener = makeListener({
      handle: () => {
        asked();
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    const port = await listener.listen();
    const idle = socketTo(port);
    await once(idle, "connect");
    const answer = post(port, Buffer.from(""));
    await arrived;
    const stopped = listener.stop(60_000);
    await idle.all();
    release(plain("late"));
    expect(await answer).toMatchObject({ status: 200, body: "late" });
    await stopped;
  });

  it("breaks off what does not end in time", async () => {
    const listener = makeListener({
      handle: () => new Promise(() => {}),
    });
    const port = await listener.listen();
    const socket = socketTo(port);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => setImmediate(resolve));
    await listener.stop(10);
    expect(await socket.all()).toBe("");
  });
});

function post(
  port: number,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}
