import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { generateText, jsonSchema, Output, tool } from "ai";
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { wholeAndStreamed } from "./support/ai-sdk.ts";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: OpenAI;
let openrouter: ReturnType<typeof createOpenRouter>;
beforeAll(() => {
  const baseURL = `${double.url}/api/v1`;
  client = new OpenAI({ baseURL, apiKey: "x", maxRetries: 0 });
  openrouter = createOpenRouter({ baseURL, apiKey: "x" });
});

const ask = (content: string, more: object = {}) => ({
  model: "openai/gpt-4o",
  messages: [{ role: "user" as const, content }],
  ...more,
});
/** The client knows OpenAI's members only. */
const complete = async (content: string, more: object = {}) =>
  (await client.chat.completions.create(ask(content, more))) as OpenAI.ChatCompletion & Record<string, unknown>;

async function chunksOf(content: string) {
  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ ...ask(content), stream: true })) chunks.push(chunk);
  return chunks as (OpenAI.ChatCompletionChunk & Record<string, unknown>)[];
}

describe("the envelope", () => {
  it("has a gen- id, the author of the model as its provider, and null where nothing is known", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const completion = await complete("hello");
    expect(completion).toEqual({
      id: expect.stringMatching(/^gen-[0-9A-Za-z]{24}$/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "openai/gpt-4o",
      provider: "openai",
      system_fingerprint: null,
      service_tier: null,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hi!", refusal: null, reasoning: null },
          logprobs: null,
          finish_reason: "stop",
          native_finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    });
  });

  it("is the same in a stream, which ends with its usage though nobody asked", async () => {
    double.onMessage("hello", { content: "Hi there, you!", reasoning: "A greeting." });
    const chunks = await chunksOf("hello");
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ provider: "openai", system_fingerprint: null, service_tier: null });
      expect(chunk.id).toMatch(/^gen-/);
    }
    const deltas = chunks.map((chunk) => chunk.choices[0]?.delta as Record<string, unknown> | undefined);
    expect(deltas.map((delta) => delta?.["reasoning"] ?? "").join("")).toBe("A greeting.");
    expect(deltas.map((delta) => delta?.["content"] ?? "").join("")).toBe("Hi there, you!");
    const finishes = chunks.map((chunk) => chunk.choices[0] as unknown as Record<string, unknown>);
    const native = finishes.map((choice) => choice["native_finish_reason"]);
    expect(native).toEqual([...native.slice(2).map(() => null), "stop", "stop"]);
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 2, completion_tokens: 7, total_tokens: 9 });
  });

  it("says who served, in whose words it ended, and what it cost, where the fixture does", async () => {
    double.onMessage("hello", {
      content: "Hi!",
      reasoning: "A greeting.",
      provider: "Amazon Bedrock",
      nativeFinishReason: "end_turn",
      model: "anthropic/claude-sonnet-4.5",
      systemFingerprint: "fp_1",
      serviceTier: "default",
      usage: {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        cost: 0.0021,
        is_byok: true,
        completion_tokens_details: { image_tokens: 0 },
      },
    });
    const expected = {
      model: "anthropic/claude-sonnet-4.5",
      provider: "Amazon Bedrock",
      system_fingerprint: "fp_1",
      service_tier: "default",
      usage: {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        cost: 0.0021,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_prompt_cost: 0,
          upstream_inference_completions_cost: 0,
        },
        is_byok: true,
        completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
      },
    };
    const completion = await complete("hello");
    expect(completion).toMatchObject(expected);
    expect(completion.choices[0]).toMatchObject({
      native_finish_reason: "end_turn",
      finish_reason: "stop",
      message: { reasoning: "A greeting." },
    });
    const chunks = await chunksOf("hello");
    expect(chunks.at(-1)).toMatchObject(expected);
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ native_finish_reason: "end_turn", finish_reason: "stop" });
  });

  it("makes up no cost", async () => {
    double.onMessage("hello", { content: "Hi!", usage: { prompt_tokens: 1, completion_tokens: 1, is_byok: false } });
    expect((await complete("hello")).usage).toEqual({
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      is_byok: false,
    });
  });

  it("is OpenAI's on OpenAI's path", async () => {
    double.onMessage(
      "hello",
      { content: "Hi!", provider: "X", nativeFinishReason: "Y", usage: { cost: 1 } },
      { openRouterProcessing: true },
    );
    const openai = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x" });
    const completion = await openai.chat.completions.create(ask("hello"));
    expect(completion.id).toMatch(/^chatcmpl-/);
    expect(completion).not.toHaveProperty("provider");
    expect(completion.choices[0]).not.toHaveProperty("native_finish_reason");
    expect(completion.usage).toEqual({ prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 });
    const response = await double.fetch("http://double/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(ask("hello", { stream: true })),
    });
    expect(await response.text()).toMatch(/^data: /);
  });
});

describe("failover", () => {
  const models = ["openai/gpt-4o", "anthropic/claude-sonnet-4.5", "google/gemini-2.5-flash"];
  const busy = { error: { message: "rate limited" }, status: 429 };

  it("serves the first model that does not fail, and says which", async () => {
    double.on({ model: "openai/gpt-4o" }, busy);
    double.on({ model: "anthropic/claude-sonnet-4.5" }, { ...busy, status: 503 });
    double.on({ model: "google/gemini-2.5-flash" }, { content: "Here." });
    const completion = await complete("route", { models });
    expect(completion).toMatchObject({ model: "google/gemini-2.5-flash", provider: "google" });
    expect(double.calls()).toHaveLength(1);
  });

  it("passes over models that no fixture knows, and functions that fail late", async () => {
    double.on({ model: "anthropic/claude-sonnet-4.5" }, async () => busy);
    double.on({ model: "google/gemini-2.5-flash" }, async () => ({ content: "Here." }));
    expect((await complete("route", { models })).model).toBe("google/gemini-2.5-flash");
  });

  it("takes the first of `models` where there is no model", async () => {
    double.on({ model: "anthropic/claude-sonnet-4.5" }, { content: "Here." });
    const completion = await complete("route", { model: undefined, models: models.slice(1) });
    expect(completion.model).toBe("anthropic/claude-sonnet-4.5");
  });

  it("gives the last failure where all fail, and a miss where there is no fixture at all", async () => {
    await expect(complete("route", { models })).rejects.toMatchObject({ status: 404 });
    double.on({ model: "openai/gpt-4o" }, busy);
    double.on({ model: "anthropic/claude-sonnet-4.5" }, { error: { message: "down" }, status: 503 });
    await expect(complete("route", { models })).rejects.toMatchObject({
      status: 503,
      error: { message: "down", code: 503 },
    });
  });

  it("stops at an error that says so, and where fallbacks are not allowed", async () => {
    double.on({ model: "google/gemini-2.5-flash" }, { content: "Here." });
    double.on({ model: "openai/gpt-4o" }, { error: { message: "budget exceeded" }, status: 403, fallthrough: false });
    await expect(complete("route", { models })).rejects.toMatchObject({ status: 403 });
    double.prependFixture({ match: { model: "openai/gpt-4o" }, response: busy });
    expect((await complete("route", { models, provider: { allow_fallbacks: true } })).model).toBe(models[2]);
    await expect(complete("route", { models, provider: { allow_fallbacks: false } })).rejects.toMatchObject({
      status: 429,
    });
  });

  it("is no way around an error that befalls the next call", async () => {
    double.onMessage("route", { content: "Here." });
    double.nextRequestError(500);
    await expect(complete("route", { models })).rejects.toMatchObject({ status: 500 });
    expect((await complete("route", { models })).model).toBe("openai/gpt-4o");
  });
});

it("keeps the connection open with a comment, if asked", async () => {
  double.onMessage("hello", { content: "Hi!" }, { openRouterProcessing: true });
  const response = await double.fetch("http://double/api/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify(ask("hello", { stream: true })),
  });
  const text = await response.text();
  expect(text).toMatch(/^: OPENROUTER PROCESSING\n\ndata: \{/);
  expect(text.match(/OPENROUTER/g)).toHaveLength(1);
  expect((await chunksOf("hello")).length).toBeGreaterThan(2);
});

describe("errors", () => {
  it("have what the provider behind it says", async () => {
    const metadata = { provider_name: "Google", raw: "…" };
    double.onMessage("fail", { error: { message: "No.", type: "of_openai", metadata }, status: 502 });
    await expect(complete("fail")).rejects.toHaveProperty("error", { message: "No.", code: 502, metadata });
  });

  it.each([
    ["no messages", { model: "a/b" }],
    ["no model", { messages: [] }],
    ["models that are no list", { models: "a/b" }],
    ["models that are no texts", { models: [3] }],
    ["a provider that is no object", { model: "a/b", provider: "x", messages: [{ role: "user", content: "x" }] }],
    ["null", null],
    ["a list", []],
    ["a number", 3],
  ])("refuses %s", async (_, body) => {
    const response = await double.fetch("http://double/api/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400, message: expect.any(String) } });
  });
});

describe("the account", () => {
  const get = async (path: string) => (await double.fetch(`http://double/api/v1/${path}`)).json();

  it("has models, a key and credits", async () => {
    expect(await get("models")).toMatchObject({
      data: [{ id: "openai/gpt-4o", pricing: { prompt: "0.0000025" } }, {}, {}],
    });
    expect(await get("key")).toMatchObject({ data: { limit: null, usage: 0, is_free_tier: false } });
    expect(await get("credits")).toEqual({ data: { total_credits: 0, total_usage: 0 } });
    for await (const { id } of client.models.list()) expect(id).toContain("/");
  });
});

describe("responses", () => {
  it("have the ids, the costs and the failover of OpenRouter", async () => {
    double.on({ model: "openai/gpt-4o" }, { error: { message: "busy" }, status: 429 });
    double.onMessage("hello", { content: "Hi!", usage: { input_tokens: 5, output_tokens: 2, cost: 0.5 } });
    const request = { model: "openai/gpt-4o", models: ["a/b"], input: "hello" };
    const response = await client.responses.create(request);
    const expected = { model: "a/b", usage: { input_tokens: 5, output_tokens: 2, cost: 0.5, cost_details: {} } };
    expect(response).toMatchObject({ output_text: "Hi!", ...expected });
    expect(response.id).toMatch(/^gen-/);
    const events = [];
    for await (const event of await client.responses.create({ ...request, stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: expected });
    await expect(client.responses.create({ model: "openai/gpt-4o", input: "hello" })).rejects.toMatchObject({
      error: { code: 429, message: "busy" },
    });
  });
});

describe("a stream of responses", () => {
  it.each([
    ["stop", "completed"],
    ["length", "incomplete"],
    ["content_filter", "failed"],
  ] as const)("has its cost at the end where the reason is %s", async (finishReason, status) => {
    double.onMessage("hello", { content: "Hi!", finishReason, usage: { output_tokens: 2, cost: 0.5, is_byok: true } });
    const request = { model: "openai/gpt-4o", input: "hello" };
    const events = [];
    for await (const event of await client.responses.create({ ...request, stream: true })) events.push(event);
    const usage = { output_tokens: 2, cost: 0.5, is_byok: true, cost_details: { upstream_inference_cost: null } };
    expect(events.at(-1)).toMatchObject({ type: `response.${status}`, response: { status, usage } });
    expect(await client.responses.create(request)).toMatchObject({ status, usage });
    expect(events[0]).toMatchObject({ type: "response.created", response: { usage: null } });
  });

  it("begins with a comment, if asked", async () => {
    double.onMessage("hello", { content: "Hi!" }, { openRouterProcessing: true });
    const body = JSON.stringify({ model: "openai/gpt-4o", input: "hello", stream: true });
    const text = await (await double.fetch("http://double/api/v1/responses", { method: "POST", body })).text();
    expect(text).toMatch(/^: OPENROUTER PROCESSING\n\nevent: response\.created\n/);
    expect(text.match(/OPENROUTER/g)).toHaveLength(1);
    const stream = client.responses.stream({ model: "openai/gpt-4o", input: "hello" });
    expect((await stream.finalResponse()).output_text).toBe("Hi!");
  });
});

describe("the official provider of the AI SDK", () => {
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
    }),
  };

  it("takes text, reasoning, calls, finish and cost, whole and streamed", async () => {
    double.onMessage("weather", {
      content: "Let me see.",
      reasoning: "Two cities.",
      toolCalls: [
        { id: "call_a", name: "weather", arguments: { city: "Bern" } },
        { id: "call_b", name: "weather", arguments: { city: "Basel" } },
      ],
      provider: "OpenAI",
      usage: { prompt_tokens: 7, completion_tokens: 9, cost: 0.25 },
    });
    const call = { model: openrouter("openai/gpt-4o"), prompt: "weather?", tools };
    for (const result of await wholeAndStreamed(call)) {
      expect(result.text).toBe("Let me see.");
      expect(result.reasoningText).toBe("Two cities.");
      expect(result.toolCalls).toMatchObject([
        { toolCallId: "call_a", toolName: "weather", input: { city: "Bern" } },
        { toolCallId: "call_b", toolName: "weather", input: { city: "Basel" } },
      ]);
      expect(result.finishReason).toBe("tool-calls");
      expect(result.usage).toMatchObject({ inputTokens: 7, outputTokens: 9, totalTokens: 16 });
      expect(result.providerMetadata?.["openrouter"]).toMatchObject({ provider: "OpenAI", usage: { cost: 0.25 } });
    }
  });

  it("takes objects", async () => {
    double.on({ responseFormat: "json_schema" }, { content: { capital: "Bern" } });
    const schema = jsonSchema<{ capital: string }>({ type: "object", properties: { capital: { type: "string" } } });
    const { output } = await generateText({
      model: openrouter("openai/gpt-4o"),
      prompt: "Capital?",
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ capital: "Bern" });
  });
});
