import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { StuntDouble, type StuntDoubleOptions } from "../../src/index.ts";
import { folder, listening, onCleanup } from "./support.ts";

const URL_OF_PROVIDER = "wss://api.openai.com/v1/realtime?model=gpt-realtime";

/** Poses as OpenAI's realtime API: greets, and says again what it is told. */
async function provider(): Promise<{ url: string; asked: IncomingMessage[]; sockets: WebSocket[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server, path: "/v1/realtime" });
  const open: WebSocket[] = [];
  sockets.on("connection", (socket, request) => {
    asked.push(request);
    open.push(socket);
    socket.on("error", () => {});
    socket.send("session.created");
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return { url: await listening(server), asked, sockets: open };
}

interface Started {
  double: StuntDouble;
  ca: string;
  warnings: string[];
}

async function started(options: StuntDoubleOptions): Promise<Started> {
  const ca = folder();
  const warnings: string[] = [];
  const double = await StuntDouble.start({
    proxy: { ca },
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  onCleanup(() => double.stop().catch(() => {}));
  return { double, ca, warnings };
}

/** A connection to the provider's host through the proxy, as HTTP clients make it. */
async function tunnel({ double, ca }: Started): Promise<Duplex> {
  const socket = connect(double.port, "127.0.0.1");
  socket.write("CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n");
  const [head] = await once(socket, "data");
  expect(String(head)).toBe("HTTP/1.1 200 Connection Established\r\n\r\n");
  const secure = connectTls({ socket, servername: "api.openai.com", ca: readFileSync(join(ca, "ca.pem")) });
  await once(secure, "secureConnect");
  return secure;
}

/** Its first message is waited for from the beginning: it may come with the handshake. */
async function dial(started: Started, headers: Record<string, string> = {}) {
  const connection = await tunnel(started);
  const socket = new WebSocket(URL_OF_PROVIDER, "realtime", { createConnection: () => connection as never, headers });
  const messages: [text: string, isBinary: boolean][] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (data, isBinary) => {
    messages.push([String(data), isBinary]);
    waiting.shift()?.();
  });
  const next = async (): Promise<[text: string, isBinary: boolean]> => {
    if (messages.length === 0) await new Promise<void>((done) => waiting.push(done));
    return messages.shift()!;
  };
  return { socket, next };
}

/** The reply to a WebSocket that was refused. */
async function refusal(socket: WebSocket): Promise<{ status: number | undefined; body: string }> {
  const reply = await new Promise<IncomingMessage>((done) => socket.on("unexpected-response", (_, it) => done(it)));
  let body = "";
  for await (const chunk of reply) body += chunk;
  return { status: reply.statusCode, body };
}

describe("a WebSocket through the proxy", () => {
  it("passes to its provider as it is, and is not recorded", async () => {
    const { url, asked } = await provider();
    const fixturePath = folder();
    const one = await started({ record: { providers: { openai: url }, fixturePath } });
    const { socket, next } = await dial(one, { authorization: "Bearer key", "x-test-id": "one" });
    expect(await next()).toEqual(["session.created", false]);
    expect(socket.protocol).toBe("realtime");
    for (const [data, isBinary] of [
      ["hello", false],
      ["x".repeat(300_000), true],
    ] as const) {
      socket.send(isBinary ? Buffer.from(data) : data);
      expect(await next()).toEqual([data, isBinary]);
    }
    const [{ url: path, headers } = {} as IncomingMessage] = asked;
    expect([path, headers.authorization, headers["x-test-id"]]).toEqual([
      "/v1/realtime?model=gpt-realtime",
      "Bearer key",
      undefined,
    ]);
    socket.close(1000, "done");
    expect((await once(socket, "close"))[0]).toBe(1000);
    const { double, warnings } = one;
    await double.stop();
    expect(warnings).toEqual(["A WebSocket to openai passes as it is (GET /v1/realtime): it is not recorded."]);
    expect(double.lastCall()).toMatchObject({
      path: "/v1/realtime?model=gpt-realtime",
      testId: "one",
      response: { status: 101, source: "upstream", fixture: "openai" },
    });
    expect(readdirSync(fixturePath)).toEqual([]);
  });

  it("ends when either side ends, and when the double stops", async () => {
    const { url, sockets } = await provider();
    const one = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const [first, second, third] = [await dial(one), await dial(one), await dial(one)];
    for (const { next } of [first, second, third]) await next();
    const gone = once(sockets[0]!, "close");
    first.socket.terminate();
    await gone;
    sockets[1]!.terminate();
    expect((await once(second.socket, "close"))[0]).toBe(1006);
    const closed = once(third.socket, "close");
    third.socket.on("error", () => {});
    await one.double.stop();
    await closed;
  });

  it("shows what the provider says where it refuses one", async () => {
    const url = await listening(
      createServer((_, response) => response.writeHead(401, { "x-own": "kept" }).end("no such key")),
    );
    const { socket } = await dial(await started({ record: { providers: { openai: url }, proxyOnly: true } }));
    expect(await refusal(socket)).toEqual({ status: 401, body: "no such key" });
  });

  it("is told when its provider cannot be reached", async () => {
    const { socket } = await dial(
      await started({ record: { providers: { openai: "http://127.0.0.1:1" }, proxyOnly: true } }),
    );
    const { status, body } = await refusal(socket);
    expect(status).toBe(502);
    expect(JSON.parse(body).error.message).toContain("The provider could not be reached");
  });

  const passing = { record: { proxyOnly: true } };
  const refused: Record<string, { options: StuntDoubleOptions; headers?: Record<string, string>; why: string }> = {
    "while nothing is passed on": { options: {}, why: "nothing is passed on in this mode" },
    "in strict mode": { options: { ...passing, strict: true }, why: "strict mode is on" },
    "that asks for strict mode": {
      options: passing,
      headers: { "x-stuntdouble-strict": "true" },
      why: "strict mode is on",
    },
    "behind guardrails": {
      options: { ...passing, guard: { rules: [] } },
      why: "guardrails could not see what it says",
    },
    "while cassettes answer": {
      options: { cassettes: { mode: "replay", folder: "test/nowhere" } },
      why: "nothing is passed on in this mode",
    },
  };
  it.each(Object.entries(refused))("is refused %s, in words", async (_, { options, headers, why }) => {
    const { socket } = await dial(await started(options), headers);
    const { status, body } = await refusal(socket);
    expect(status).toBe(501);
    expect(JSON.parse(body).error).toMatchObject({
      code: "websocket_not_supported",
      message: `No tape answers on a WebSocket, and this one does not pass to its provider: ${why}. See docs/proxy.md.`,
    });
  });

  it("is refused without a key of the double's", async () => {
    const { socket } = await dial(await started({ ...passing, auth: { apiKeys: ["own"] } }), {
      authorization: "Bearer other",
    });
    expect((await refusal(socket)).status).toBe(401);
  });
});

it("a connection that was opened is closed when its first request does not arrive in time", async () => {
  const connection = await tunnel(await started({ headersTimeoutMs: 200 }));
  // A connection that is broken off may say so.
  connection.on("error", () => {});
  const closed = new Promise<void>((done) => connection.on("close", () => done()));
  connection.write("GET / HTTP/1.1\r\nx: ");
  // Each piece is in time.
  const trickle = setInterval(() => connection.write("a"), 20);
  onCleanup(() => clearInterval(trickle));
  await closed;
});

it("a WebSocket to the double itself is refused, and no call to its provider", async () => {
  const asked: string[] = [];
  const url = await listening(createServer((request) => asked.push(request.url!)));
  const { double } = await started({ record: { providers: { openai: url }, proxyOnly: true } });
  const { status, body } = await refusal(new WebSocket(`${double.url.replace("http", "ws")}/v1/realtime`));
  expect(status).toBe(501);
  expect(JSON.parse(body).error.message).toContain("only those that come through `stuntdouble proxy` do");
  expect(asked).toEqual([]);
});

it("an offer of HTTP/2 by the way is no WebSocket", async () => {
  const { double } = await started({});
  double.onMessage("hi", { content: "Hi!" });
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" };
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const lines = Object.entries({ ...headers, host: "x", "content-length": body.length }).map((line) => line.join(": "));
  const socket = connect(double.port, "127.0.0.1");
  onCleanup(() => socket.destroy());
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
  const [reply] = await once(socket, "data");
  expect(String(reply)).toContain("HTTP/1.1 200 OK");
});
