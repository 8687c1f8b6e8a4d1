import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { type APIError } from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { StuntDouble, type StuntDoubleOptions } from "../src/index.ts";

const running: StuntDouble[] = [];
async function start(options: StuntDoubleOptions = {}): Promise<StuntDouble> {
  const double = await StuntDouble.start(options);
  running.push(double);
  return double;
}
afterEach(() => Promise.all(running.splice(0).map((double) => double.stop())));

type Headers = Record<string, string>;
const openai = (double: StuntDouble, defaultHeaders: Headers = {}, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries, defaultHeaders });
const anthropic = (double: StuntDouble, defaultHeaders: Headers = {}): Anthropic =>
  new Anthropic({ baseURL: double.url, apiKey: "x", maxRetries: 0, defaultHeaders });

const say = (content: string, more: object = {}) => ({
  model: "gpt-4o",
  messages: [{ role: "user" as const, content }],
  ...more,
});
const sayToClaude = (content: string) => ({
  model: "claude-opus-4-7",
  max_tokens: 100,
  messages: [{ role: "user" as const, content }],
});
const text = async (client: OpenAI, content: string): Promise<string | null> =>
  (await client.chat.completions.create(say(content))).choices[0]!.message.content;

describe("chaos, as the official clients see it", () => {
  it("is an error of the server when a call is dropped", async () => {
    const double = (await start({ chaos: { dropRate: 1 } })).onMessage("hello", { content: "Hi" });
    const failed = openai(double).chat.completions.create(say("hello"));
    await expect(failed).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    await expect(failed).rejects.toMatchObject({ status: 500, code: "chaos_drop" });
    await expect(anthropic(double).messages.create(sayToClaude("hello"))).rejects.toBeInstanceOf(
      Anthropic.InternalServerError,
    );
    expect(double.lastCall()!.response).toMatchObject({ status: 500, source: "fixture", chaosAction: "drop" });
  });

  it("is a body that does not parse", async () => {
    const double = (await start({ chaos: { malformedRate: 1 } })).onMessage("hello", { content: "Hi" });
    await expect(openai(double).chat.completions.create(say("hello"))).rejects.toBeInstanceOf(SyntaxError);
    await expect(anthropic(double).messages.create(sayToClaude("hello"))).rejects.toBeInstanceOf(SyntaxError);
    expect(double.lastCall()!.response).toMatchObject({ status: 200, chaosAction: "malformed" });
  });

  it("is an event that does not parse, in a stream", async () => {
    const double = (await start({ chaos: { malformedRate: 1 } })).onMessage("hello", { content: "Hi" });
    const read = async (stream: AsyncIterable<unknown>): Promise<void> => {
      for await (const _ of stream);
    };
    const fromOpenAI = await openai(double).chat.completions.create({ ...say("hello"), stream: true });
    await expect(read(fromOpenAI)).rejects.toBeInstanceOf(SyntaxError);
    const fromAnthropic = await anthropic(double).messages.create({ ...sayToClaude("hello"), stream: true });
    await expect(read(fromAnthropic)).rejects.toBeInstanceOf(SyntaxError);
    const gemini = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: double.url } });
    const fromGemini = gemini.models.generateContentStream({ model: "gemini-2.0-flash", contents: "hello" });
    await expect(fromGemini.then(read)).rejects.toThrow();
  });

  it("is a connection that breaks before there is a status", async () => {
    const double = (await start({ chaos: { disconnectRate: 1 } })).onMessage("hello", { content: "Hi" });
    await expect(openai(double).chat.completions.create(say("hello"))).rejects.toBeInstanceOf(
      OpenAI.APIConnectionError,
    );
    const stream = openai(double).chat.completions.create({ ...say("hello"), stream: true });
    await expect(stream).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
    await expect(double.fetch("http://x/v1/models")).rejects.toBeInstanceOf(TypeError);
    expect(double.calls().map(({ response }) => [response.status, response.chaosAction])).toEqual([
      [0, "disconnect"],
      [0, "disconnect"],
      [0, "disconnect"],
    ]);
  });

  it("is 429 that a client may try again", async () => {
    const double = (await start()).onMessage("hello", { content: "Hi" }, { chaos: { rateLimitRate: 1 } });
    const failed = openai(double).chat.completions.create(say("hello"));
    await expect(failed).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    await expect(failed).rejects.toMatchObject({ code: "chaos_ratelimit" });
    const lenient = openai(double, { "x-aimock-chaos-ratelimit": "0" });
    expect(await text(lenient, "hello")).toBe("Hi");
  });

  it("leaves embeddings that are made, and lists of models, no exception", async () => {
    const double = await start({ chaos: { dropRate: 1 } });
    await expect(openai(double).embeddings.create({ model: "e", input: "x" })).rejects.toMatchObject({ status: 500 });
    await expect(openai(double).models.list()).rejects.toMatchObject({ status: 500 });
    expect((await fetch(`${double.url}/health`)).status).toBe(200);
  });
});

describe("one-shot errors and rate limits", () => {
  it("are tried again by the official client, as the header says", async () => {
    const double = (await start()).onMessage("hello", { content: "Hi" });
    double.nextRequestError(429, { message: "Slow down", retryAfter: 0 });
    double.nextRequestError(500, { message: "Once more", retryAfter: 0 });
    expect(await text(openai(double, {}, 2), "hello")).toBe("Hi");
    expect(double.calls().map(({ response }) => response.status)).toEqual([429, 500, 200]);
  });

  it("say how much is left on 429, with the author's own retryAfter, and elsewhere when asked to", async () => {
    const double = (await start()).onMessage("hello", { content: "Hi" });
    const headersOf = async (asked: StuntDouble): Promise<globalThis.Headers> =>
      (await fetch(`${asked.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(say("hello")) })).headers;
    double.nextRequestError(429);
    const limited = await headersOf(double);
    expect(limited.get("retry-after")).toBe("1");
    expect(limited.get("x-ratelimit-remaining-requests")).toBe("0");
    double.nextRequestError(429, { retryAfter: 7 });
    expect((await headersOf(double)).get("retry-after")).toBe("7");
    expect((await headersOf(double)).get("x-ratelimit-limit-requests")).toBeNull();
    const open = await headersOf((await start({ rateLimitHeaders: true })).onMessage("hello", { content: "Hi" }));
    expect(open.get("x-ratelimit-remaining-requests")).toBe("59");
    expect(open.get("retry-after")).toBeNull();
  });
});

describe("strict mode", () => {
  const miss = async (double: StuntDouble, headers: Headers = {}): Promise<APIError> =>
    openai(double, headers)
      .chat.completions.create(say("nobody knows"))
      .then(
        () => expect.fail("it was answered"),
        (error) => error,
      );

  it("is 503 with the same code, and says so", async () => {
    const error = await miss(await start({ strict: true }));
    expect(error.status).toBe(503);
    expect(error.code).toBe("no_fixture_match");
    expect(error.message).toContain("Strict mode: no fixture matched");
    expect((await miss(await start())).status).toBe(404);
  });

  it.each(["X-StuntDouble-Strict", "X-AIMock-Strict"])("is switched on and off by %s", async (name) => {
    const lenient = await start();
    const strict = await start({ strict: true });
    for (const value of ["true", "1"]) expect((await miss(lenient, { [name]: value })).status).toBe(503);
    for (const value of ["false", "0"]) expect((await miss(strict, { [name]: value })).status).toBe(404);
    expect((await miss(strict, { [name]: "maybe" })).status).toBe(503);
  });

  it("makes no embeddings that no fixture has, but lists models and answers what a fixture has", async () => {
    const double = (await start({ strict: true })).onMessage("hello", { content: "Hi" });
    await expect(openai(double).embeddings.create({ model: "e", input: "x" })).rejects.toMatchObject({ status: 503 });
    expect((await openai(double).models.list()).data.length).toBeGreaterThan(0);
    expect(await text(openai(double), "hello")).toBe("Hi");
  });

  it("passes nothing on to a provider", async () => {
    const provider = (await start()).onMessage(/./, { content: "the real thing" });
    const record = { proxyOnly: true, providers: { openai: provider.url } };
    const strict = await start({ strict: true, record });
    expect((await miss(strict)).status).toBe(503);
    expect(provider.calls()).toEqual([]);
    expect(await text(openai(strict, { "x-stuntdouble-strict": "false" }), "anything")).toBe("the real thing");
    const dropping = await start({ chaos: { dropRate: 1 }, record });
    expect((await miss(dropping)).status).toBe(500);
    expect(provider.calls()).toHaveLength(1);
  });
});

describe("keys", () => {
  it("are asked for in the provider's own shape", async () => {
    const double = (await start({ auth: { apiKeys: ["known"] } })).onMessage("hello", { content: "Hi" });
    await expect(openai(double).chat.completions.create(say("hello"))).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(anthropic(double).messages.create(sayToClaude("hello"))).rejects.toMatchObject({
      status: 401,
      error: { type: "error", error: { type: "authentication_error" } },
    });
    expect(double.lastCall()!.response).toMatchObject({ status: 401, source: "refused" });
    const knownToOpenAI = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "known" });
    expect(await text(knownToOpenAI, "hello")).toBe("Hi");
    const knownToClaude = new Anthropic({ baseURL: double.url, apiKey: "known" });
    expect((await knownToClaude.messages.create(sayToClaude("hello"))).content).toMatchObject([{ text: "Hi" }]);
    const gemini = new GoogleGenAI({ apiKey: "known", httpOptions: { baseUrl: double.url } });
    expect((await gemini.models.generateContent({ model: "gemini-2.0-flash", contents: "hello" })).text).toBe("Hi");
  });

  it("guard the control API, and leave health, ready, metrics and preflight open", async () => {
    const double = await start({ auth: { apiKeys: ["known"] }, metrics: true });
    const status = async (path: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(double.url + path, init)).status;
    for (const path of ["/health", "/ready", "/metrics", "/__aimock/health", "/__stuntdouble/health"]) {
      expect(await status(path)).toBe(200);
    }
    expect(await status("/v1/chat/completions", { method: "OPTIONS" })).toBe(204);
    for (const path of ["/__aimock/journal", "/__stuntdouble/journal", "/v1/_requests", "/v1/models", "/nowhere"]) {
      expect(await status(path)).toBe(401);
    }
    expect(await status("/__stuntdouble/journal", { headers: { "x-api-key": "known" } })).toBe(200);
    expect(await status("/v1/models", { headers: { authorization: "Bearer known", "x-api-key": "no" } })).toBe(401);
  });
});

describe("a request transform", () => {
  const options: StuntDoubleOptions = {
    requestTransform: (request) => {
      for (const message of request.messages) {
        if (typeof message.content === "string") message.content = message.content.replace(/\d{4}-\d\d-\d\d/g, "DATE");
      }
      return request;
    },
  };

  it("makes requests comparable, and texts then have to be equal", async () => {
    const double = await start(options);
    double.onMessage("What happened on DATE?", { content: "Much" });
    double.onMessage(/happened/, { content: "a pattern still finds" });
    expect(await text(openai(double), "What happened on 2026-03-01?")).toBe("Much");
    expect(await text(openai(double), "Tell me: What happened on 2026-03-01?")).toBe("a pattern still finds");
  });

  it("shows predicates, functions and the journal the request as it was", async () => {
    const double = await start(options);
    const seen: unknown[] = [];
    double.on(
      {
        userMessage: "on DATE",
        predicate: (request) => seen.push(request.messages[0]!.content) > 0,
      },
      (request) => ({ content: String(request.messages[0]!.content) }),
    );
    expect(await text(openai(double), "on 2026-03-01")).toBe("on 2026-03-01");
    expect(seen).toEqual(["on 2026-03-01"]);
    expect(double.lastCall()!.body).toMatchObject({ messages: [{ content: "on 2026-03-01" }] });
  });

  it("transforms what is to be embedded too", async () => {
    const double = await start({
      requestTransform: (request) => ({ ...request, inputs: (request["inputs"] as string[]).map((one) => one.trim()) }),
    });
    double.onEmbedding("text", { embedding: [1, 0] });
    const reply = await openai(double).embeddings.create({ model: "e", input: "  text ", encoding_format: "float" });
    expect(reply.data[0]!.embedding).toEqual([1, 0]);
  });

  it("that fails says so to the caller", async () => {
    const broken = await start({
      requestTransform: () => {
        throw new Error("out of order");
      },
    });
    broken.onMessage("hello", { content: "Hi" });
    await expect(openai(broken).chat.completions.create(say("hello"))).rejects.toThrow(
      "requestTransform failed: out of order",
    );
  });
});

describe("context", () => {
  it.each(["X-StuntDouble-Context", "X-AIMock-Context"])(
    "is told by %s; a fixture without it serves all",
    async (name) => {
      const double = await start();
      double.on({ userMessage: "hello", context: "shop" }, { content: "in the shop" });
      double.on({ userMessage: "hello" }, { content: "anywhere" });
      expect(await text(openai(double, { [name]: "shop" }), "hello")).toBe("in the shop");
      expect(await text(openai(double, { [name]: "office" }), "hello")).toBe("anywhere");
      expect(await text(openai(double), "hello")).toBe("anywhere");
    },
  );
});

describe("turnIndex", () => {
  it("is relaxed with one warning, or a hard gate", async () => {
    const warnings: string[] = [];
    const ask = async (options: StuntDoubleOptions): Promise<string | null> => {
      const double = await start({ onWarning: (message) => void warnings.push(message), ...options });
      double.on({ userMessage: "go", turnIndex: 3 }, { content: "the third" }).onMessage("go", { content: "plain" });
      double.on({ userMessage: "alone", turnIndex: 2 }, { content: "the second" });
      await text(openai(double), "alone").catch(() => undefined);
      return text(openai(double), "alone").catch((error: APIError) => String(error.status));
    };
    expect(await ask({})).toBe("the second");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("is for turn 2, but served turn 0");
    expect(await ask({ strictTurnIndex: true })).toBe("404");
  });
});

describe("two doubles in one process", () => {
  it("share nothing", async () => {
    const [one, two] = [await start({ metrics: true }), await start({ metrics: true })];
    const sequence = [0, 1].map((sequenceIndex) => ({
      match: { userMessage: "count", sequenceIndex },
      response: { content: `number ${sequenceIndex}` },
    }));
    for (const double of [one, two]) double.addFixtures(sequence);
    expect(await text(openai(one), "count")).toBe("number 0");
    expect(await text(openai(two), "count")).toBe("number 0");
    expect(await text(openai(one), "count")).toBe("number 1");
    one.nextRequestError(500).setChaos({ dropRate: 1 });
    expect(await text(openai(two), "count")).toBe("number 1");
    expect([one.calls().length, two.calls().length]).toEqual([2, 2]);
    const metrics = await (await fetch(`${two.url}/metrics`)).text();
    expect(metrics).toContain('stuntdouble_requests_total{method="POST",path="/v1/chat/completions",status="200"} 2');
    const stored = await openai(one, { "x-stuntdouble-chaos-drop": "0" })
      .responses.create({ model: "gpt-4o", input: "count" })
      .catch((error: APIError) => error.status);
    expect(stored).toBe(500);
    one.reset();
    expect(two.fixtures).toHaveLength(2);
    expect(two.calls()).toHaveLength(2);
  });

  it("do not know each other's responses", async () => {
    const [one, two] = [await start(), await start()];
    one.onMessage("hello", { content: "Hi" });
    const { id } = await openai(one).responses.create({ model: "gpt-4o", input: "hello" });
    expect((await openai(one).responses.retrieve(id)).id).toBe(id);
    await expect(openai(two).responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});
