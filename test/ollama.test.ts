import { Ollama } from "ollama";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: Ollama;
beforeAll(() => {
  client = new Ollama({ host: double.url });
});

const ask = (content: string) => ({ model: "llama3.2", messages: [{ role: "user", content }] });

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

describe("chat", () => {
  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const reply = await client.chat(ask("well, hello"));
    expect(reply).toMatchObject({
      model: "llama3.2",
      message: { role: "assistant", content: "Hi! 👋" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 3,
      eval_count: 2,
    });
    const { total_duration, load_duration, prompt_eval_duration, eval_duration } = reply;
    expect(total_duration).toBe(load_duration + prompt_eval_duration + eval_duration);
    expect(String(reply.created_at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
  });

  it("streamed, as lines of JSON", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" }, { chunkSize: 4 });
    const lines = await all(await client.chat({ ...ask("hello"), stream: true }));
    expect(lines.map(({ message }) => message.content)).toEqual(["Hi, ", "nice", " to ", "meet", " you", "!", ""]);
    expect(lines.map(({ done }) => done)).toEqual([false, false, false, false, false, false, true]);
    expect(lines.at(-1)).toMatchObject({ done_reason: "stop", prompt_eval_count: 2, eval_count: 6 });
  });

  it("streams to whoever does not ask it not to", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const post = async (body: object) => {
      const response = await double.fetch("http://double/api/chat", { method: "POST", body: JSON.stringify(body) });
      return [response.headers.get("content-type"), (await response.text()).trim().split("\n").length];
    };
    expect(await post(ask("hello"))).toEqual(["application/x-ndjson", 2]);
    expect(await post({ ...ask("hello"), stream: false })).toEqual(["application/json", 1]);
  });

  it("thinks and calls tools, in parallel too, with objects for arguments, and matches their results", async () => {
    double.on({ toolResultContains: "12:00" }, { content: "20 °C and noon." });
    double.onMessage("weather", {
      reasoning: "Two tools.",
      content: "Let me see.",
      toolCalls: [
        { id: "call_1", name: "weather", arguments: { city: "Bern" } },
        { name: "time", arguments: {} },
      ],
    });
    const tools = [
      { type: "function", function: { name: "weather", description: "", parameters: { type: "object" } } },
    ];
    const calls = [
      { id: "call_1", function: { index: 0, name: "weather", arguments: { city: "Bern" } } },
      { id: expect.stringMatching(/^call_/), function: { index: 1, name: "time", arguments: {} } },
    ];
    const { message, done_reason } = await client.chat({ ...ask("weather and time?"), tools, think: true });
    expect([message, done_reason]).toEqual([
      { role: "assistant", thinking: "Two tools.", content: "Let me see.", tool_calls: calls },
      "stop",
    ]);
    const lines = await all(await client.chat({ ...ask("weather and time?"), tools, stream: true }));
    expect(lines.map((line) => line.message.thinking ?? "").join("")).toBe("Two tools.");
    expect(lines.map((line) => line.message.content).join("")).toBe("Let me see.");
    expect(lines.flatMap((line) => line.message.tool_calls ?? [])).toEqual(calls);
    const answer = await client.chat({
      model: "llama3.2",
      messages: [
        { role: "user", content: "weather and time?" },
        message,
        { role: "tool", tool_name: "weather", content: "20 °C" },
        { role: "tool", tool_name: "time", content: "12:00" },
      ],
    });
    expect(answer.message.content).toBe("20 °C and noon.");
  });

  it("keeps the order of blocks as far as lines tell it", async () => {
    double.onMessage("hello", {
      blocks: [
        { type: "text", text: "one" },
        { type: "toolCall", name: "a", arguments: {} },
        { type: "text", text: "two" },
      ],
    });
    const lines = await all(await client.chat({ ...ask("hello"), stream: true }));
    const kinds = lines.map(({ message }) => message.tool_calls?.[0]?.function.name ?? message.content);
    expect(kinds).toEqual(["one", "a", "two", ""]);
  });

  it("matched by system prompt, tool, turn and format like those of any provider", async () => {
    double.on(
      { systemMessage: "pirate", userMessage: "name", turnIndex: 1, responseFormat: "json_schema" },
      { content: { name: "Arr" } },
    );
    const { message } = await client.chat({
      model: "llama3.2",
      format: { type: "object", properties: { name: { type: "string" } } },
      messages: [
        { role: "system", content: "You are a pirate." },
        { role: "user", content: "hi" },
        { role: "assistant", content: "yo" },
        { role: "user", content: "What's your name?", images: ["aGk="] },
      ],
      options: { temperature: 0.5, num_predict: 9 },
    });
    expect(JSON.parse(message.content)).toEqual({ name: "Arr" });
    expect(double.lastCall()?.body).toMatchObject({ temperature: 0.5, max_tokens: 9 });
  });

  it("takes what a fixture says of the reply", async () => {
    double.onMessage("hello", {
      content: "x",
      finishReason: "length",
      model: "other",
      created: 1_700_000_000,
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    });
    expect(await client.chat(ask("hello"))).toMatchObject({
      model: "other",
      created_at: "2023-11-14T22:13:20.000Z",
      done_reason: "length",
      prompt_eval_count: 10,
      eval_count: 5,
    });
  });

  it("stops in mid-stream when the client goes", async () => {
    double.onMessage(
      "hello",
      { content: "one two three" },
      { chunkSize: 4, streamingProfile: { ttft: 0, tps: 0.001 } },
    );
    const stream = await client.chat({ ...ask("hello"), stream: true });
    const read = (async () => {
      for await (const _ of stream) stream.abort();
    })();
    await expect(read).rejects.toThrow(/abort/i);
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });
});

describe("generate", () => {
  it("whole and streamed, with a system prompt", async () => {
    double.on(
      { systemMessage: "pirate", userMessage: "hello" },
      { reasoning: "Hm.", content: "Arr, hello!" },
      { chunkSize: 5 },
    );
    const request = { model: "llama3.2", system: "A pirate.", prompt: "hello" };
    expect(await client.generate({ ...request, system: "A pirate: pirate." })).toMatchObject({
      response: "Arr, hello!",
      thinking: "Hm.",
      done: true,
    });
    const lines = await all(await client.generate({ ...request, system: "A pirate.", stream: true }));
    expect(lines.map(({ response }) => response)).toEqual(["", "Arr, ", "hello", "!", ""]);
    expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "stop" });
  });

  it("loads a model that is asked nothing, and lets it go", async () => {
    const { response, done_reason } = await client.generate({ model: "llama3.2", prompt: "" });
    expect([response, done_reason]).toEqual(["", "load"]);
    const { message, done_reason: reason } = await client.chat({ model: "llama3.2", messages: [], keep_alive: 0 });
    expect([message.content, reason]).toEqual(["", "unload"]);
  });
});

it("makes embeddings", async () => {
  double.onEmbedding("fixed", { embedding: [0.5, -0.5] });
  const { embeddings } = await client.embed({ model: "nomic-embed-text", input: ["a", "b", "a"] });
  expect(embeddings.map((vector) => vector.length)).toEqual([768, 768, 768]);
  expect(embeddings[0]).toEqual(embeddings[2]);
  expect(embeddings[0]).not.toEqual(embeddings[1]);
  expect((await client.embed({ model: "any", input: "a", dimensions: 12 })).embeddings[0]).toHaveLength(12);
  expect((await client.embed({ model: "any", input: "fixed" })).embeddings).toEqual([[0.5, -0.5]]);
  expect(await client.embeddings({ model: "any", prompt: "fixed" })).toEqual({ embedding: [0.5, -0.5] });
});

it("lists models and tells of each", async () => {
  expect((await client.list()).models.map(({ name }) => name)).toContain("llama3.2:latest");
  expect(await client.ps()).toEqual({ models: [] });
  expect((await client.version()).version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(await client.show({ model: "qwen3:8b" })).toMatchObject({
    details: { family: "qwen" },
    capabilities: ["completion", "tools", "thinking", "vision"],
  });
});

describe("errors", () => {
  it("where nothing matches", async () => {
    await expect(client.chat(ask("nobody answers"))).rejects.toMatchObject({ status_code: 404 });
  });

  it.each([
    ["null", "null"],
    ["a list", "[]"],
    ["a number", "3"],
    ["broken", "{"],
    ["empty", ""],
    ["too deep", `{"messages":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["without a model", '{"messages":[{"role":"user","content":"x"}],"prompt":"x"}'],
    ["with a number for a text", '{"model":"m","messages":[{"role":"user","content":3}],"prompt":3}'],
    [
      "with an image that is no base64",
      '{"model":"m","messages":[{"role":"user","images":["?"]}],"prompt":"x","images":["?"]}',
    ],
    ["of a strange format", '{"model":"m","messages":[{"role":"user"}],"prompt":"x","format":"xml"}'],
  ])("a body that is %s", async (_, body) => {
    for (const path of ["/api/chat", "/api/generate"]) {
      const response = await double.fetch(`http://double${path}`, { method: "POST", body });
      expect([path, response.status]).toEqual([path, 400]);
      expect(await response.json()).toEqual({ error: expect.any(String) });
    }
  });

  it.each([
    ["an unknown role", { role: "robot", content: "x" }],
    ["no role", { content: "x" }],
    ["arguments that are a text", { role: "assistant", tool_calls: [{ function: { name: "a", arguments: "{}" } }] }],
    ["a call without a function", { role: "assistant", tool_calls: [{}] }],
  ])("%s", async (_, message) => {
    await expect(client.chat({ model: "m", messages: [message as never] })).rejects.toMatchObject({ status_code: 400 });
  });
});
