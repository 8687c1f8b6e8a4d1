import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadFixtures } from "../../src/index.ts";
import { makeCertificate } from "../../src/server/certificate.ts";
import { type RecorderProcess, startRecorder } from "../support/recorder-process.ts";
import { chat, completion, folder, listening, onCleanup, post, temporaryFolder } from "./support.ts";

const PATH = "/v1/chat/completions";
const JSON_TYPE = { "content-type": "application/json" };
const STREAM_TYPE = { "content-type": "text/event-stream" };

let certificate: { key: string; cert: string };
let caFile: string;
const certificates = temporaryFolder();
beforeAll(async () => {
  certificate = await makeCertificate();
  caFile = join(certificates, "ca.pem");
  writeFileSync(caFile, certificate.cert);
});

/** Variables of the process that the tests run in, which would send it elsewhere. */
const NO_PROXIES = { HTTP_PROXY: "", HTTPS_PROXY: "", NO_PROXY: "", http_proxy: "", https_proxy: "", no_proxy: "" };

/** Node reads its authorities and undici its proxies when they begin, so each test has a process. */
async function recorder(
  upstream: string,
  environment: Record<string, string> = {},
  record: object = {},
): Promise<RecorderProcess & { fixturePath: string }> {
  const fixturePath = folder();
  const options = { record: { providers: { openai: upstream }, fixturePath, ...record } };
  const started = await startRecorder(options, { ...NO_PROXIES, ...environment });
  onCleanup(() => started.kill());
  return Object.assign(started, { fixturePath });
}

const secure = (url: string): string => url.replace("http://127.0.0.1", "https://localhost");

describe("an upstream that speaks HTTP/2", () => {
  /** @param answer given the stream, its body and its head */
  async function upstream(
    answer: (stream: ServerHttp2Stream, body: string, headers: IncomingHttpHeaders) => void,
  ): Promise<string> {
    const server: Http2SecureServer = createSecureServer({ ...certificate, allowHTTP1: false });
    server.on("sessionError", () => {});
    server.on("stream", (stream, headers) => {
      let body = "";
      stream.on("error", () => {});
      stream.setEncoding("utf8");
      stream.on("data", (text) => (body += text));
      stream.on("end", () => answer(stream, body, headers));
    });
    return secure(await listening(server));
  }
  const trusting = (): Record<string, string> => ({ NODE_EXTRA_CA_CERTS: caFile });

  it("answers many calls at once, each its own", async () => {
    const url = await upstream((stream, body) => {
      stream.respond({ ":status": 200, ...JSON_TYPE, "x-own": "kept" });
      stream.end(completion(body));
    });
    const relay = await recorder(url, trusting());
    const bodies = Array.from({ length: 20 }, (_, index) => chat(`question ${index}`));
    const ask = async (body: object): Promise<void> => {
      const reply = await post(relay.url + PATH, body);
      expect([reply.status, reply.headers.get("x-own"), await reply.text()]).toEqual([
        ...[200, "kept"],
        completion(JSON.stringify(body)),
      ]);
    };
    // The first one finds out what is spoken.
    await ask(bodies[0]!);
    await Promise.all(bodies.slice(1).map(ask));
    expect(await relay.stop()).toMatchObject({ warnings: [] });
    expect(loadFixtures(relay.fixturePath)).toHaveLength(20);
  });

  it("has its first bytes with the client before it sends more, and its end when it ends", async () => {
    let goOn = (): void => {};
    const url = await upstream((stream) => {
      stream.additionalHeaders({ ":status": 103, link: "</x>" });
      stream.respond({ ":status": 200, ...STREAM_TYPE });
      stream.write("data: 1\n\n");
      goOn = () => stream.end("data: [DONE]\n\n");
    });
    const relay = await recorder(url, trusting());
    const reader = (await post(relay.url + PATH, chat("hi", { stream: true }))).body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: 1\n\n");
    goOn();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: [DONE]\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  it("that resets a stream breaks off that call, and the others go on", async () => {
    let other = (): void => {};
    const url = await upstream((stream, body) => {
      stream.respond({ ":status": 200, ...STREAM_TYPE });
      stream.write("data: 1\n\n");
      if (body.includes("reset")) setImmediate(() => stream.destroy(new Error("lost")));
      else other = () => stream.end("data: [DONE]\n\n");
    });
    const relay = await recorder(url, trusting());
    const going = await post(relay.url + PATH, chat("goes on", { stream: true }));
    await expect((await post(relay.url + PATH, chat("reset", { stream: true }))).text()).rejects.toThrow();
    other();
    expect(await going.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
    await relay.stop();
    const endings = loadFixtures(relay.fixturePath).map(({ match, recording }) => [
      match.userMessage,
      recording?.ending,
    ]);
    expect(Object.fromEntries(endings)).toEqual({ "goes on": undefined, reset: "truncated" });
  });

  it("that refuses a stream before its head is an error in the caller's shape", async () => {
    const relay = await recorder(await upstream((stream) => stream.close(7)), trusting());
    const reply = await post(relay.url + PATH, chat("hi"));
    expect(reply.status).toBe(502);
    expect((await reply.json()).error.code).toBe("upstream_unreachable");
  });

  it("that begins no answer is given up after its limit", async () => {
    const relay = await recorder(await upstream(() => {}), trusting(), { upstreamTimeoutMs: 50 });
    const reply = await post(relay.url + PATH, chat("hi"));
    expect(reply.status).toBe(504);
    expect((await reply.json()).error.code).toBe("upstream_timeout");
  });

  it("that stalls in mid-stream is given up after its limit, and its tape breaks off there", async () => {
    const url = await upstream((stream) => {
      stream.respond({ ":status": 200, ...STREAM_TYPE });
      stream.write("data: 1\n\n");
    });
    const relay = await recorder(url, trusting(), { bodyTimeoutMs: 50 });
    await expect((await post(relay.url + PATH, chat("hi", { stream: true }))).text()).rejects.toThrow();
    await relay.stop();
    expect(loadFixtures(relay.fixturePath).map(({ recording }) => recording?.ending)).toEqual(["truncated"]);
  });

  it("is asked for the head of a reply alone where its client does", async () => {
    const methods: unknown[] = [];
    const url = await upstream((stream, _, headers) => {
      methods.push(headers[":method"]);
      stream.respond({ ":status": 200, ...JSON_TYPE, "content-length": 17 }, { endStream: true });
    });
    const relay = await recorder(url, trusting());
    const reply = await fetch(`${relay.url}/v1/files/1`, { method: "HEAD" });
    expect([reply.status, reply.headers.get("content-length")]).toEqual([200, "17"]);
    expect(await relay.stop()).toMatchObject({ warnings: [] });
    expect(methods).toEqual(["HEAD"]);
    expect(loadFixtures(relay.fixturePath).map(({ recording }) => recording?.ending)).toEqual([undefined]);
  });

  it("is told when the client goes away", async () => {
    let closed = (): void => {};
    const gone = new Promise<void>((done) => (closed = done));
    const url = await upstream((stream) => {
      stream.on("close", () => closed());
      stream.respond({ ":status": 200, ...STREAM_TYPE });
      stream.write("data: 1\n\n");
    });
    const relay = await recorder(url, trusting());
    const abort = new AbortController();
    const reply = await post(relay.url + PATH, chat("hi", { stream: true }), { signal: abort.signal });
    await reply.body!.getReader().read();
    abort.abort();
    await gone;
  });
});

describe("an authority of one's own", () => {
  const upstream = async (): Promise<string> =>
    secure(
      await listening(
        createTlsServer(certificate, (_, response) => response.writeHead(200, JSON_TYPE).end(completion("safe"))),
      ),
    );

  it("is trusted when NODE_EXTRA_CA_CERTS names it", async () => {
    const relay = await recorder(await upstream(), { NODE_EXTRA_CA_CERTS: caFile });
    expect(await (await post(relay.url + PATH, chat("hi"))).text()).toBe(completion("safe"));
  });

  it("is not trusted otherwise, and the error says what to do", async () => {
    const relay = await recorder(await upstream());
    const reply = await post(relay.url + PATH, chat("hi"));
    expect(reply.status).toBe(502);
    expect((await reply.json()).error.message).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
  });
});

describe("a proxy from the environment", () => {
  /** A proxy for tunnels, with all that it was asked for. */
  async function proxy(): Promise<{ url: string; asked: string[]; authorization: (string | undefined)[] }> {
    const asked: string[] = [];
    const authorization: (string | undefined)[] = [];
    const server = createServer((_, response) => void response.writeHead(405).end());
    server.on("connect", (request: IncomingMessage, socket, head) => {
      asked.push(request.url!);
      authorization.push(request.headers["proxy-authorization"]);
      socket.on("error", () => {});
      if (request.url!.startsWith("refused")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      const [, port] = request.url!.split(":");
      const onward = connect(Number(port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        onward.write(head);
        onward.pipe(socket).pipe(onward);
      });
      onward.on("error", () => socket.destroy());
    });
    return { url: await listening(server), asked, authorization };
  }
  const answer: RequestListener = (request, response) => {
    response.writeHead(200, JSON_TYPE).end(completion(`HTTP/${request.httpVersion}`));
  };
  const overTls = async (): Promise<string> => secure(await listening(createTlsServer(certificate, answer)));
  const plain = async (): Promise<string> => (await listening(createServer(answer))).replace("127.0.0.1", "localhost");
  const text = async ({ url }: RecorderProcess): Promise<string> => (await post(url + PATH, chat("hi"))).text();

  it.each(["HTTPS_PROXY", "https_proxy"])(
    "carries calls to https providers (%s), with its own credentials",
    async (name) => {
      const [upstream, { url, asked, authorization }] = await Promise.all([overTls(), proxy()]);
      const environment = { [name]: url.replace("//", "//ada:p%40ss@"), NODE_EXTRA_CA_CERTS: caFile };
      const relay = await recorder(upstream, environment);
      expect(await text(relay)).toBe(completion("HTTP/1.1"));
      expect(asked).toEqual([upstream.replace("https://", "")]);
      expect(authorization).toEqual([`Basic ${Buffer.from("ada:p@ss").toString("base64")}`]);
    },
  );

  it("carries HTTP/2 too", async () => {
    const server = createSecureServer({ ...certificate, allowHTTP1: false }, (request, response) =>
      answer(request as never, response as never),
    );
    const [upstream, { url, asked }] = [secure(await listening(server)), await proxy()];
    const relay = await recorder(upstream, { HTTPS_PROXY: url, NODE_EXTRA_CA_CERTS: caFile });
    expect(await text(relay)).toBe(completion("HTTP/2.0"));
    expect(asked).toHaveLength(1);
  });

  it.each(["HTTP_PROXY", "http_proxy"])("carries calls to http providers (%s)", async (name) => {
    const [upstream, { url, asked }] = await Promise.all([plain(), proxy()]);
    const relay = await recorder(upstream, { [name]: url });
    expect(await text(relay)).toBe(completion("HTTP/1.1"));
    expect(asked).toEqual([upstream.replace("http://", "")]);
  });

  it.each(["localhost", ".localhost", "other.test,localhost", "*"])(
    "is left aside where NO_PROXY says so: %s",
    async (none) => {
      const [upstream, { url, asked }] = await Promise.all([overTls(), proxy()]);
      const environment = { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: none, NODE_EXTRA_CA_CERTS: caFile };
      const relay = await recorder(upstream, environment);
      expect(await text(relay)).toBe(completion("HTTP/1.1"));
      expect(asked).toEqual([]);
    },
  );

  it("is not left aside for hosts that NO_PROXY does not name", async () => {
    const [upstream, { url, asked }] = await Promise.all([overTls(), proxy()]);
    const relay = await recorder(upstream, { HTTPS_PROXY: url, NO_PROXY: "other.test", NODE_EXTRA_CA_CERTS: caFile });
    expect(await text(relay)).toBe(completion("HTTP/1.1"));
    expect(asked).toHaveLength(1);
  });

  it("that refuses is an error in the caller's shape, without its password", async () => {
    const { url } = await proxy();
    const relay = await recorder("https://refused.test", { HTTPS_PROXY: url.replace("//", "//ada:secret-word@") });
    const reply = await post(relay.url + PATH, chat("hi"));
    expect(reply.status).toBe(502);
    const { error } = await reply.json();
    expect(error.code).toBe("upstream_unreachable");
    expect(error.message).not.toContain("secret-word");
  });

  it("that never answers is given up after the time for a connection", async () => {
    const silent = await listening(createTcpServer(() => {}));
    const relay = await recorder("https://never.test", { HTTPS_PROXY: silent }, { connectTimeoutMs: 50 });
    expect((await post(relay.url + PATH, chat("hi"))).status).toBe(504);
  });
});
