import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { StuntDouble, StuntDoubleOptions } from "../../src/index.ts";
import { chat, completion, folder, onCleanup, post, provider, started } from "./support.ts";

const CHAT = chat("hello");

describe("the relay", () => {
  it("passes status, headers and body on as they are, and the request less what is ours", async () => {
    const seen: IncomingMessage[] = [];
    const url = await provider((request, response) => {
      seen.push(request);
      response.writeHead(429, { "content-type": "application/json", "retry-after": "7", "x-extra": "1" });
      response.end('{ "error" : {"message":"slow down"} }');
    });
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const reply = await post(`${double.url}/v1/chat/completions?a=1&testId=x`, CHAT, {
      headers: {
        authorization: "Bearer sk-mine",
        "x-test-id": "x",
        "x-aimock-context": "c",
        cookie: "a=b",
        "x-own": "1",
      },
    });
    expect(reply.status).toBe(429);
    expect(reply.headers.get("retry-after")).toBe("7");
    expect(reply.headers.get("x-extra")).toBe("1");
    expect(await reply.text()).toBe('{ "error" : {"message":"slow down"} }');
    expect(seen[0]!.url).toBe("/v1/chat/completions?a=1");
    expect(seen[0]!.headers).toMatchObject({ authorization: "Bearer sk-mine", "x-own": "1" });
    expect(Object.keys(seen[0]!.headers)).not.toEqual(expect.arrayContaining(["cookie"]));
    expect(Object.keys(seen[0]!.headers).filter((name) => /^x-(test|aimock)/.test(name))).toEqual([]);
    expect(double.lastCall()?.response).toMatchObject({ status: 429, source: "upstream" });
  });

  it("has the first bytes with the client before the provider sends its second chunk", async () => {
    let goOn = (): void => {};
    const url = await provider((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"n":1}\n\n');
      goOn = () => response.end('data: {"n":2}\n\n');
    });
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const reply = await post(`${double.url}/v1/chat/completions`, { ...CHAT, stream: true });
    const reader = reply.body!.getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value!).toString()).toBe('data: {"n":1}\n\n');
    goOn();
    const second = await reader.read();
    expect(Buffer.from(second.value!).toString()).toBe('data: {"n":2}\n\n');
    expect((await reader.read()).done).toBe(true);
  });

  it.each([
    { body: "a short one", fields: { "content-length": "11" }, framing: { "content-length": "11" } },
    { body: "x".repeat(100_000), fields: { "content-length": "100000" }, framing: { "content-length": "100000" } },
    { body: "", fields: { "content-length": "0" }, framing: { "content-length": "0" } },
    { body: "without a length", fields: {}, framing: { "transfer-encoding": "chunked" } },
  ])("frames a reply as its provider did, and the next one on the connection is read right", async (reply) => {
    const url = await provider((_, response) => {
      response.writeHead(200, reply.fields);
      response.end(reply.body);
    });
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onCleanup(() => agent.destroy());
    for (const count of [1, 2, 3]) {
      const { headers, text } = await over(agent, `${double.url}/v1/chat/completions`, JSON.stringify(CHAT));
      expect(text).toBe(reply.body);
      expect(headers).toMatchObject(reply.framing);
      expect(double.calls()).toHaveLength(count);
    }
  });

  it("notes a call in the journal before its caller in the same process goes on", async () => {
    const url = await provider((_, response) => response.end("{}"));
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const reply = await double.fetch("http://double/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(CHAT),
    });
    expect(reply.status).toBe(200);
    expect(double.lastCall()?.response.source).toBe("upstream");
  });

  it("puts a key in where there is none or a placeholder, and leaves a real one", async () => {
    const keys: (string | undefined)[] = [];
    const url = await provider((request, response) => {
      keys.push(request.headers["x-api-key"] as string);
      response.end("{}");
    });
    process.env["STUNTDOUBLE_PROVIDER_ANTHROPIC_KEY"] = "sk-ant-real";
    onCleanup(() => delete process.env["STUNTDOUBLE_PROVIDER_ANTHROPIC_KEY"]);
    const double = await started({ record: { providers: { anthropic: url }, proxyOnly: true } });
    for (const headers of [{}, { "x-api-key": "sk-aimock-1" }, { "x-api-key": "sk-ant-own" }] as Record<
      string,
      string
    >[]) {
      await (await post(`${double.url}/v1/messages`, { model: "m" }, { headers })).text();
    }
    expect(keys).toEqual(["sk-ant-real", "sk-ant-real", "sk-ant-own"]);
  });

  it("keeps the path of a base URL, without doubling what the request repeats of it", async () => {
    const paths: string[] = [];
    const url = await provider((request, response) => {
      paths.push(request.url!);
      response.end("{}");
    });
    const double = await started({
      record: { providers: { openai: `${url}/gateway/v1`, groq: `${url}/openai` }, proxyOnly: true },
    });
    for (const path of [
      "/v1/chat/completions",
      "/openai/v1/files",
      "/@checkout/v1/files?limit=2",
      "/groq/v1/models",
      "/openai/v1/models",
    ]) {
      await (await fetch(double.url + path)).text();
    }
    await (await post(`${double.url}/v1/chat/completions`, CHAT)).text();
    expect(paths).toEqual([
      "/gateway/v1/chat/completions",
      "/gateway/v1/files",
      "/gateway/v1/files?limit=2",
      "/openai/v1/models",
      "/gateway/v1/models",
      "/gateway/v1/chat/completions",
    ]);
  });

  it("ends the call upstream when the client goes, before the head and after it", async () => {
    let closed = (): void => {};
    let arrived = (): void => {};
    const url = await provider((request, response, body) => {
      response.on("close", () => closed());
      if (JSON.parse(body).stream)
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      arrived();
      request.resume();
    });
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    for (const stream of [false, true]) {
      const abort = new AbortController();
      const gone = new Promise<void>((done) => (closed = done));
      const there = new Promise<void>((done) => (arrived = done));
      const call = post(`${double.url}/v1/chat/completions`, { ...CHAT, stream }, { signal: abort.signal });
      call.catch(() => {});
      await there;
      if (stream) await (await call).body!.getReader().read();
      abort.abort();
      await gone;
      if (!stream) await expect(call).rejects.toThrow();
    }
  });

  it("breaks the client's connection where the provider's broke", async () => {
    const url = await provider((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write('{"half":');
      setImmediate(() => response.destroy());
    });
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    const reply = await post(`${double.url}/v1/chat/completions`, CHAT);
    await expect(reply.text()).rejects.toThrow();
    const inProcess = await double.fetch("http://any/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(CHAT),
    });
    await expect(inProcess.text()).rejects.toThrow("terminated");
  });

  it("tells who could not be reached, in the caller's own shape", async () => {
    const double = await started({ record: { providers: { anthropic: "http://127.0.0.1:1" }, proxyOnly: true } });
    const reply = await post(`${double.url}/v1/messages`, {
      model: "m",
      max_tokens: 1,
      messages: [{ role: "user", content: "x" }],
    });
    expect(reply.status).toBe(502);
    expect(await reply.json()).toMatchObject({
      type: "error",
      error: { message: expect.stringContaining("anthropic at http://127.0.0.1:1") },
    });
  });

  it("gives up a provider that does not begin, or stalls, after its limits", async () => {
    const url = await provider((_, response, body) => {
      if (JSON.parse(body).stream)
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    });
    const record = { providers: { openai: url }, proxyOnly: true, upstreamTimeoutMs: 20, bodyTimeoutMs: 20 };
    const double = await started({ record });
    expect((await post(`${double.url}/v1/chat/completions`, CHAT)).status).toBe(504);
    const reply = await post(`${double.url}/v1/chat/completions`, { ...CHAT, stream: true });
    await expect(reply.text()).rejects.toThrow();
  });

  it("forwards what its own operation refuses, and paths that no operation has", async () => {
    const url = await provider((request, response) => response.end(`${request.method} ${request.url}`));
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    expect(await (await post(`${double.url}/v1/chat/completions`, { strange: true })).text()).toBe(
      "POST /v1/chat/completions",
    );
    expect(await (await fetch(`${double.url}/v1/vector_stores/vs_1`, { method: "DELETE" })).text()).toBe(
      "DELETE /v1/vector_stores/vs_1",
    );
  });

  it("forwards nothing when it is strict", async () => {
    const url = await provider((_, response) => response.end("{}"));
    const double = await started({ record: { providers: { openai: url }, proxyOnly: true } });
    for (const path of ["/v1/chat/completions", "/v1/vector_stores"]) {
      const reply = await post(double.url + path, CHAT, { headers: { "x-stuntdouble-strict": "true" } });
      expect(reply.status, path).toBeGreaterThanOrEqual(400);
    }
  });
});

/** Posts over a connection that is kept. */
function over(agent: Agent, url: string, body: string): Promise<{ headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", agent, headers: { "content-length": body.length } }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk));
      reply.on("end", () => resolve({ headers: reply.headers, text: Buffer.concat(chunks).toString() }));
    });
    call.on("error", reject);
    call.end(body);
  });
}

describe("recording", () => {
  it("replays the same request's answers one after another, and then as it is told", async () => {
    let count = 0;
    const url = await provider((_, response) => {
      count++;
      response.writeHead(200, { "content-type": "application/json" }).end(completion(`answer ${count}`));
    });
    const fixturePath = folder();
    const recording = await started({ record: { providers: { openai: url }, fixturePath } });
    const live: string[] = [];
    for (let index = 0; index < 3; index++)
      live.push(await (await post(`${recording.url}/v1/chat/completions`, CHAT)).text());
    await recording.stop();
    expect(readdirSync(fixturePath)).toHaveLength(3);
    for (const [repeat, fourth] of [
      ["last", 2],
      ["cycle", 0],
    ] as const) {
      const replaying = await started({ repeat });
      replaying.load(fixturePath);
      const replayed: string[] = [];
      for (let index = 0; index < 4; index++)
        replayed.push(await (await post(`${replaying.url}/v1/chat/completions`, CHAT)).text());
      expect(replayed).toEqual([...live, live[fourth]]);
    }
    const missing = await started({ repeat: "miss" });
    missing.load(fixturePath);
    const statuses: number[] = [];
    for (let index = 0; index < 4; index++)
      statuses.push((await post(`${missing.url}/v1/chat/completions`, CHAT)).status);
    expect(statuses).toEqual([200, 200, 200, 404]);
    expect(count).toBe(3);
  });

  const plain = Buffer.from(completion("hi"));
  it.each([
    ["gzip", gzipSync(plain)],
    ["deflate", deflateSync(plain)],
    // As some servers send it, without zlib's head.
    ["deflate", deflateRawSync(plain)],
    ["br", brotliCompressSync(plain)],
    ["gzip, br", brotliCompressSync(gzipSync(plain))],
  ])("keeps answers compressed for the client, and plain on the tape: %s", async (coding, bytes) => {
    const url = await provider((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": coding }).end(bytes);
    });
    const fixturePath = folder();
    const double = await started({ record: { providers: { openai: url }, fixturePath } });
    const raw = await double.fetch("http://any/v1/chat/completions", { method: "POST", body: JSON.stringify(CHAT) });
    expect(Buffer.from(await raw.arrayBuffer())).toEqual(bytes);
    await double.stop();
    const [file] = readdirSync(fixturePath);
    const { fixtures } = JSON.parse(readFileSync(join(fixturePath, file!), "utf8"));
    expect(fixtures[0].response).toMatchObject({ content: "hi", model: "gpt-5-2026-01-01" });
    expect(fixtures[0].recording.reply.body).toBe(completion("hi"));
    expect(fixtures[0].match).toMatchObject({
      userMessage: "hello",
      model: "gpt-5",
      turnIndex: 0,
      hasToolResult: false,
      endpoint: "chat",
      sequenceIndex: 0,
    });
  });

  it("asks for no coding that it cannot look into, unless nothing is recorded", async () => {
    const asked: unknown[] = [];
    const url = await provider((request, response) => {
      asked.push(request.headers["accept-encoding"]);
      response.writeHead(200, { "content-type": "application/json" }).end(completion("hi"));
    });
    const providers = { openai: url };
    const recording = await started({ record: { providers, fixturePath: folder() } });
    const passing = await started({ record: { providers, proxyOnly: true } });
    for (const double of [recording, passing]) {
      for (const accepted of ["zstd, gzip;q=0.5, br", "zstd", "*", "identity"]) {
        const headers = { "content-type": "application/json", "accept-encoding": accepted };
        await (await post(`${double.url}/v1/chat/completions`, chat(accepted), { headers })).text();
      }
    }
    expect(asked).toEqual([
      ...["gzip;q=0.5, br", "identity", "identity", "identity"],
      ...["zstd, gzip;q=0.5, br", "zstd", "*", "identity"],
    ]);
  });

  it.each<[string, (path: string) => StuntDoubleOptions]>([
    ["fixture", (fixturePath) => ({ record: { fixturePath } })],
    ["cassette", (path) => ({ cassettes: { mode: "record", folder: path } })],
  ])("writes nothing of a coding that it cannot look into, and says so: %s", async (_, options) => {
    const url = await provider((_, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "zstd" }).end("(\xb5/\xfd"),
    );
    const path = folder();
    const { record, ...more } = options(path);
    const double = await started({ record: { ...record, providers: { openai: url } }, ...more });
    const reply = await post("http://any/v1/chat/completions", CHAT, {}, double.fetch);
    expect(await reply.text()).toBe("(\xb5/\xfd");
    await expect(double.stop()).rejects.toThrow("could not be written: The reply's Content-Encoding is zstd,");
    expect(readdirSync(path, { recursive: true })).toEqual([]);
  });

  it("asks for the head of a reply alone where its client does, and replays it as that", async () => {
    const seen: (string | undefined)[] = [];
    const url = await provider((request, response) => {
      seen.push(request.method);
      const body = '{"object":"file"}';
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length, "x-own": "1" });
      response.end(body);
    });
    const fixturePath = folder();
    const recording = await started({ record: { providers: { openai: url }, fixturePath } });
    const ask = async (double: StuntDouble, method: string): Promise<unknown[]> => {
      const { status, headers } = await fetch(`${double.url}/v1/files/1`, { method });
      return [status, headers.get("content-length"), headers.get("x-own")];
    };
    const told = await ask(recording, "HEAD");
    expect(told).toEqual([200, "17", "1"]);
    await recording.stop();
    expect(seen).toEqual(["HEAD"]);
    const replay = await started({});
    replay.load(fixturePath);
    expect(await ask(replay, "HEAD")).toEqual(told);
    expect((await ask(replay, "GET"))[0]).toBe(404);
  });
});
