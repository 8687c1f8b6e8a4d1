import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { StuntDouble } from "../src/index.ts";
import { fetchOverHttp2 } from "./support/fetch-over-http2.ts";

let double: StuntDouble;
beforeEach(async () => {
  double = await StuntDouble.start();
});
afterEach(() => double.stop());

const weatherTool: OpenAI.ChatCompletionTool = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

/** The same answers must come over each of them. */
const ways: [string, () => OpenAI][] = [
  ["a socket", () => new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 })],
  ["HTTP/2", () => new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0, fetch: fetchOverHttp2 })],
  [
    "double.fetch",
    () => new OpenAI({ baseURL: "http://anywhere/v1", fetch: double.fetch, apiKey: "x", maxRetries: 0 }),
  ],
];

describe.each(ways)("OpenAI chat over %s", (_, makeClient) => {
  const ask = (content: string, more: object = {}) => ({
    model: "gpt-4o",
    messages: [{ role: "user" as const, content }],
    ...more,
  });

  it("answers text", async () => {
    double.onMessage("hello", { content: "Hi there, how are you doing today?" });
    const reply = await makeClient().chat.completions.create(ask("hello"));
    expect(reply.object).toBe("chat.completion");
    expect(reply.id).toMatch(/^chatcmpl-[0-9A-Za-z]{24}$/);
    expect(reply.model).toBe("gpt-4o");
    expect(reply.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hi there, how are you doing today?", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
    expect(reply.usage).toEqual({ prompt_tokens: 2, completion_tokens: 9, total_tokens: 11 });
  });

  it("streams text in chunks of one id, and usage only where it is asked for", async () => {
    double.onMessage("hello", { content: "Hi there, how are you doing today?" });
    const client = makeClient();
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({ ...ask("hello"), stream: true }))
      chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]!.delta.content)).toEqual([
      "",
      "Hi there, how are yo",
      "u doing today?",
      undefined,
    ]);
    expect(chunks[0]!.choices[0]!.delta.role).toBe("assistant");
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("stop");
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);

    const counted: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({
      ...ask("hello"),
      stream: true,
      stream_options: { include_usage: true },
    })) {
      counted.push(chunk);
    }
    expect(counted.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 9, total_tokens: 11 },
    });
    expect(counted.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it.each([false, true])("calls tools, several at once (stream: %s)", async (stream) => {
    double.onMessage("weather", {
      toolCalls: [
        { id: "call_sf", name: "get_weather", arguments: { city: "San Francisco" } },
        { name: "get_weather", arguments: '{"city":"Paris"}' },
      ],
    });
    const client = makeClient();
    const body = ask("weather", { tools: [weatherTool] });
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const choice = completion.choices[0]!;
    expect(choice.finish_reason).toBe("tool_calls");
    expect(choice.message.content).toBeNull();
    const [first, second] = choice.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    expect(first).toMatchObject({
      id: "call_sf",
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"San Francisco"}' },
    });
    expect(second!.function.arguments).toBe('{"city":"Paris"}');
    expect(second!.id).toMatch(/^call_/);
  });

  it.each([false, true])("answers JSON by a schema (stream: %s)", async (stream) => {
    double.on({ userMessage: "entities", responseFormat: "json_schema" }, { content: { name: "Acme" } });
    const body = ask("entities", {
      response_format: {
        type: "json_schema",
        json_schema: { name: "entity", strict: true, schema: { type: "object" } },
      },
    });
    const client = makeClient();
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.parse(body);
    expect(JSON.parse(completion.choices[0]!.message.content!)).toEqual({ name: "Acme" });
  });

  it.each([false, true])("reasons (stream: %s)", async (stream) => {
    double.onMessage("think", { reasoning: "First, I consider the question.", content: "42" });
    const client = makeClient();
    let reasoning = "";
    let content = "";
    if (stream) {
      for await (const chunk of await client.chat.completions.create({ ...ask("think"), stream: true })) {
        const delta = chunk.choices[0]!.delta as { content?: string | null; reasoning_content?: string };
        reasoning += delta.reasoning_content ?? "";
        content += delta.content ?? "";
      }
    } else {
      const { message } = (await client.chat.completions.create(ask("think"))).choices[0]!;
      reasoning = (message as unknown as { reasoning_content: string }).reasoning_content;
      content = message.content!;
    }
    expect({ reasoning, content }).toEqual({ reasoning: "First, I consider the question.", content: "42" });
  });

  it.each([false, true])("refuses (stream: %s)", async (stream) => {
    double.onMessage("forbidden", { refusal: "I can't help with that request." });
    const client = makeClient();
    const completion = stream
      ? await client.chat.completions.stream(ask("forbidden")).finalChatCompletion()
      : await client.chat.completions.create(ask("forbidden"));
    expect(completion.choices[0]!.message).toMatchObject({ content: null, refusal: "I can't help with that request." });
  });

  it.each([false, true])("gives as many choices as were asked for (stream: %s)", async (stream) => {
    double.onMessage("hello", { content: "Hi!" });
    const client = makeClient();
    const completion = stream
      ? await client.chat.completions.stream(ask("hello", { n: 3 })).finalChatCompletion()
      : await client.chat.completions.create(ask("hello", { n: 3 }));
    expect(completion.choices.map((choice) => [choice.index, choice.message.content])).toEqual([
      [0, "Hi!"],
      [1, "Hi!"],
      [2, "Hi!"],
    ]);
  });

  it.each([false, true])("gives log probabilities that a fixture has (stream: %s)", async (stream) => {
    const content = ["Hel", "lo"].map((token) => ({ token, logprob: -0.5, bytes: null, top_logprobs: [] }));
    double.onMessage("hello", { content: "Hello", logprobs: { content, refusal: null } });
    const client = makeClient();
    const body = ask("hello", { logprobs: true });
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    expect(completion.choices[0]!.logprobs!.content).toEqual(content);
    expect(completion.choices[0]!.message.content).toBe("Hello");
  });

  it("overrides the envelope", async () => {
    double.onMessage("hello", {
      content: "Hi!",
      id: "chatcmpl-custom",
      created: 1_700_000_000,
      model: "gpt-4-turbo-2024-04-09",
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      systemFingerprint: "fp_abc123",
      finishReason: "length",
    });
    expect(await makeClient().chat.completions.create(ask("hello"))).toMatchObject({
      id: "chatcmpl-custom",
      created: 1_700_000_000,
      model: "gpt-4-turbo-2024-04-09",
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      system_fingerprint: "fp_abc123",
      choices: [{ finish_reason: "length" }],
    });
  });

  it("says of an error what is written", async () => {
    const error = { message: "As written", type: "some_type", code: "some_code", param: "some_param" };
    double.onMessage("fail", { error, status: 400 });
    await expect(makeClient().chat.completions.create(ask("fail"))).rejects.toMatchObject({ status: 400, error });
  });

  it("names the call in a miss", async () => {
    const error = await makeClient()
      .chat.completions.create(ask("nobody knows"))
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error.code).toBe("no_fixture_match");
  });

  it("embeds: made vectors are unit length, the same for the same text, of the dimensions asked for", async () => {
    const client = makeClient();
    const embed = async (input: string | string[], more: object = {}) =>
      (await client.embeddings.create({ model: "text-embedding-3-small", input, ...more })).data.map(
        (item) => item.embedding,
      );
    const [one] = await embed("a text");
    const [again, other] = await embed(["a text", "another text"]);
    expect(one).toHaveLength(1536);
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    expect(Math.hypot(...one!)).toBeCloseTo(1, 5);
    const [short] = await embed("a text", { dimensions: 256 });
    expect(short).toHaveLength(256);
    const [floats] = await embed("a text", { encoding_format: "float" });
    floats!.forEach((value, index) => {
      expect(value).toBeCloseTo(one![index]!, 6);
    });
  });

  it("embeds by a fixture", async () => {
    double.onEmbedding("search query", { embedding: [0.5, -0.25, 1] });
    const reply = await makeClient().embeddings.create({
      model: "text-embedding-3-small",
      input: ["search query", "x"],
    });
    expect(reply.data.map((item) => item.embedding)).toEqual([
      [0.5, -0.25, 1],
      [0.5, -0.25, 1],
    ]);
    expect(reply.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  });

  it.each([false, true])("completes a prompt (stream: %s)", async (stream) => {
    double.onMessage("Once upon", { content: "a time, there was a mock." });
    const client = makeClient();
    const body = { model: "gpt-3.5-turbo-instruct", prompt: "Once upon" };
    let text = "";
    let finish: string | null = null;
    if (stream) {
      for await (const chunk of await client.completions.create({ ...body, stream: true })) {
        text += chunk.choices[0]!.text;
        finish = chunk.choices[0]!.finish_reason;
      }
    } else {
      const reply = await client.completions.create(body);
      text = reply.choices[0]!.text;
      finish = reply.choices[0]!.finish_reason;
    }
    expect({ text, finish }).toEqual({ text: "a time, there was a mock.", finish: "stop" });
  });

  it("lists models and finds one", async () => {
    const client = makeClient();
    const models = (await client.models.list()).data.map((model) => model.id);
    expect(models).toContain("gpt-4o");
    expect((await client.models.retrieve("gpt-4o")).id).toBe("gpt-4o");
    await expect(client.models.retrieve("gpt-0")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("stops when the client aborts in mid-stream, and the journal says so", async () => {
    double.onMessage("story", { content: "word ".repeat(10_000) }, { latency: 5 });
    const stream = await makeClient().chat.completions.create({ ...ask("story"), stream: true });
    let seen = 0;
    for await (const _ of stream) {
      if (++seen === 3) break;
    }
    expect(seen).toBe(3);
    await expect
      .poll(() => double.lastCall()?.response, { interval: 1 })
      .toMatchObject({ interrupted: true, interruptReason: "client gone" });
  });

  it("breaks the connection after so many chunks", async () => {
    double.onMessage("long", { content: "word ".repeat(50) }, { truncateAfterChunks: 3 });
    const stream = await makeClient().chat.completions.create({ ...ask("long"), stream: true });
    let seen = 0;
    const reading = (async () => {
      for await (const _ of stream) seen++;
    })();
    await expect(reading).rejects.toThrow();
    expect(seen).toBe(3);
    expect(double.lastCall()!.response).toMatchObject({
      status: 200,
      interrupted: true,
      interruptReason: "truncateAfterChunks",
    });
  });
});

describe("OpenAI chat", () => {
  it("breaks the connection at a moment, before anything is sent", async () => {
    double.onMessage("cut", { content: "never seen" }, { latency: 60_000, disconnectAfterMs: 1 });
    const client = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 });
    const asked = client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: "cut" }] });
    await expect(asked).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
    expect(double.lastCall()!.response).toMatchObject({ interruptReason: "disconnectAfterMs" });
  });

  it.each([false, true])("carries a tool loop of Vercel's ai (stream: %s)", async () => {
    double.on(
      { userMessage: "weather", hasToolResult: false },
      { toolCalls: [{ name: "get_weather", arguments: { city: "SF" } }] },
    );
    double.on({ userMessage: "weather", hasToolResult: true }, { content: "It is 72°F." });
    const openai = createOpenAI({ baseURL: `${double.url}/v1`, apiKey: "x" });
    const asked: unknown[] = [];
    const result = await generateText({
      model: openai.chat("gpt-4o"),
      prompt: "weather in SF?",
      stopWhen: stepCountIs(3),
      tools: {
        get_weather: tool({
          description: "weather",
          inputSchema: z.object({ city: z.string() }),
          execute: async (input) => {
            asked.push(input);
            return { fahrenheit: 72 };
          },
        }),
      },
    });
    expect(result.text).toBe("It is 72°F.");
    expect(result.steps).toHaveLength(2);
    expect(asked).toEqual([{ city: "SF" }]);
  });

  it("gives the same bytes for the same seed", async () => {
    const ids = async (): Promise<unknown[]> => {
      const seeded = new StuntDouble({
        seed: 7,
        fixtures: [{ match: {}, response: { toolCalls: [{ name: "f", arguments: {} }] } }],
      });
      const answers: unknown[] = [];
      for (let call = 0; call < 3; call++) {
        const response = await seeded.fetch("http://x/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
        });
        answers.push(await response.text());
      }
      return answers;
    };
    const first = await ids();
    expect(await ids()).toEqual(first);
    expect(new Set(first).size).toBe(3);
  });
});
