import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createXai } from "@ai-sdk/xai";
import { Mistral } from "@mistralai/mistralai";
import { generateText, jsonSchema, type LanguageModel, Output, tool } from "ai";
import Groq from "groq-sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { wholeAndStreamed } from "./support/ai-sdk.ts";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();

const messages = (content: string) => [{ role: "user" as const, content }];

const WEATHER = {
  content: "Let me see.",
  reasoning: "Two cities, so two calls.",
  toolCalls: [
    { id: "call_aaaa", name: "weather", arguments: { city: "Bern" } },
    { id: "call_bbbb", name: "weather", arguments: { city: "Basel" } },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 },
};

describe("mistral", () => {
  const mistral = () => new Mistral({ serverURL: double.url, apiKey: "x", retryConfig: { strategy: "none" } });

  it("is known by its client, and thinks in parts of the content", async () => {
    double.onMessage("weather", WEATHER);
    const completion = await mistral().chat.complete({
      model: "magistral-medium-latest",
      messages: messages("weather?"),
    });
    expect(completion.choices?.[0]).toMatchObject({
      finishReason: "tool_calls",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: [{ type: "text", text: WEATHER.reasoning }] },
          { type: "text", text: "Let me see." },
        ],
        toolCalls: [
          { id: "call_aaaa", function: { name: "weather", arguments: '{"city":"Bern"}' } },
          { id: "call_bbbb", function: { name: "weather", arguments: '{"city":"Basel"}' } },
        ],
      },
    });
    expect(completion.usage).toMatchObject({ promptTokens: 7, completionTokens: 9, totalTokens: 16 });
    expect(completion.id).toMatch(/^[0-9A-Za-z]{24}$/);
  });

  it("streams, with its usage in the chunk that finishes", async () => {
    double.onMessage("why", { reasoning: "Because of the sky.", content: "It is blue up there." }, { chunkSize: 8 });
    const stream = await mistral().chat.stream({ model: "magistral-medium-latest", messages: messages("why?") });
    const seen = { text: "", thought: "" };
    let last: unknown;
    for await (const { data } of stream) {
      const content = data.choices[0]?.delta.content;
      if (typeof content === "string") seen.text += content;
      else
        for (const part of content ?? [])
          if (part.type === "thinking")
            for (const { text } of part.thinking as { text: string }[]) seen.thought += text;
      last = data;
    }
    expect(seen).toEqual({ text: "It is blue up there.", thought: "Because of the sky." });
    expect(last).toMatchObject({ choices: [{ finishReason: "stop" }], usage: { totalTokens: expect.any(Number) } });
  });

  it("is found by its segment too", async () => {
    double.onMessage("hello", { content: "Hi!", reasoning: "Hm." });
    const openai = new OpenAI({ baseURL: `${double.url}/mistral/v1`, apiKey: "x" });
    const completion = await openai.chat.completions.create({ model: "m", messages: messages("hello") });
    expect(completion.choices[0]?.message.content).toMatchObject([{ type: "thinking" }, { type: "text", text: "Hi!" }]);
  });
});

describe("groq", () => {
  const groq = () => new Groq({ baseURL: double.url, apiKey: "x", maxRetries: 0 });

  it("has its reasoning, and its own member", async () => {
    double.onMessage("weather", WEATHER);
    const completion = await groq().chat.completions.create({
      model: "openai/gpt-oss-120b",
      messages: messages("weather?"),
    });
    expect(completion).toMatchObject({
      x_groq: { id: expect.stringMatching(/^req_/) },
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "Let me see.",
            reasoning: WEATHER.reasoning,
            tool_calls: [{ id: "call_aaaa" }, { id: "call_bbbb" }],
          },
        },
      ],
      usage: WEATHER.usage,
    });
    expect(completion.choices[0]?.message).not.toHaveProperty("reasoning_content");
  });

  it("streams, with that member in the first chunk and, with the usage, in the last", async () => {
    double.onMessage("weather", WEATHER);
    const chunks = [];
    const stream = await groq().chat.completions.create({ model: "m", messages: messages("weather?"), stream: true });
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning ?? "").join("")).toBe(WEATHER.reasoning);
    expect(chunks.at(0)?.x_groq).toEqual({ id: expect.stringMatching(/^req_/) });
    expect(chunks.at(1)).not.toHaveProperty("x_groq");
    expect(chunks.at(-1)?.x_groq).toEqual({ id: chunks.at(0)?.x_groq?.id, usage: WEATHER.usage });
  });

  it("is told apart from OpenAI behind its segment", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const openai = new OpenAI({ baseURL: `${double.url}/openai/v1`, apiKey: "x" });
    expect(await openai.chat.completions.create({ model: "m", messages: messages("hello") })).not.toHaveProperty(
      "x_groq",
    );
    const behind = new OpenAI({ baseURL: `${double.url}/groq/openai/v1`, apiKey: "x" });
    expect(await behind.chat.completions.create({ model: "m", messages: messages("hello") })).toHaveProperty("x_groq");
  });
});

describe.each([
  ["deepseek", "", "deepseek-reasoner", "reasoning_content"],
  ["deepseek", "/deepseek/v1", "deepseek-reasoner", "reasoning_content"],
  ["xai", "/xai/v1", "grok-4", "reasoning_content"],
  ["perplexity", "", "sonar", "reasoning_content"],
  ["perplexity", "/perplexity", "sonar", "reasoning_content"],
  ["zai", "/api/paas/v4", "glm-5", "reasoning_content"],
  ["zai", "/api/coding/paas/v4", "glm-5", "reasoning_content"],
  ["cerebras", "/cerebras/v1", "gpt-oss-120b", "reasoning"],
  ["together", "/together/v1", "deepseek-ai/DeepSeek-R1", "reasoning"],
  ["huggingface", "/huggingface/v1", "deepseek-ai/DeepSeek-R1", "reasoning"],
  ["ollama", "/ollama/v1", "gpt-oss:20b", "reasoning"],
])("%s at '%s'", (name, path, model, reasoning) => {
  const OWN: Record<string, object> = {
    deepseek: { usage: { ...WEATHER.usage, prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 7 } },
    xai: {},
    perplexity: { citations: [], search_results: [] },
    cerebras: { time_info: { total_time: 0 } },
    together: { prompt: [] },
    huggingface: {},
    ollama: { system_fingerprint: "fp_ollama" },
  };
  const client = () => new OpenAI({ baseURL: double.url + path, apiKey: "x", maxRetries: 0 });

  it("answers whole, with what it adds", async () => {
    double.onMessage("weather", WEATHER);
    const completion = await client().chat.completions.create({ model, messages: messages("weather?") });
    expect(completion).toMatchObject({
      model,
      choices: [{ message: { content: "Let me see.", [reasoning]: WEATHER.reasoning, tool_calls: [{}, {}] } }],
      usage: WEATHER.usage,
      ...OWN[name],
    });
    expect(completion.id).toMatch(name === "cerebras" || name === "ollama" ? /^chatcmpl-/ : /^[0-9A-Za-z]{24}$/);
  });

  it("streams the same", async () => {
    double.onMessage("weather", WEATHER);
    const chunks = [];
    const asked = { stream: true, stream_options: { include_usage: true } } as const;
    for await (const chunk of await client().chat.completions.create({
      model,
      messages: messages("weather?"),
      ...asked,
    })) {
      chunks.push(chunk as OpenAI.ChatCompletionChunk & { choices: { delta: Record<string, unknown> }[] });
    }
    expect(chunks.map((chunk) => chunk.choices[0]?.delta[reasoning] ?? "").join("")).toBe(WEATHER.reasoning);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Let me see.");
    expect(chunks.at(-1)).toMatchObject({ usage: WEATHER.usage, ...OWN[name] });
  });
});

it("has Cerebras' errors without a member around them", async () => {
  double.onMessage("fail", { error: { message: "Too fast." }, status: 429 });
  const body = JSON.stringify({ model: "m", messages: messages("fail") });
  const response = await double.fetch("http://double/cerebras/v1/chat/completions", { method: "POST", body });
  expect(await response.json()).toEqual({
    message: "Too fast.",
    type: "rate_limit_error",
    param: null,
    code: "rate_limit_exceeded",
  });
});

it("leaves what no provider claims to OpenAI, and bad bodies to be told", async () => {
  double.onMessage("hello", { content: "Hi!" });
  const openai = new OpenAI({ baseURL: double.url, apiKey: "x", maxRetries: 0 });
  const completion = await openai.chat.completions.create({ model: "gpt-5", messages: messages("hello") });
  expect(completion.id).toMatch(/^chatcmpl-/);
  for (const path of [
    "/chat/completions",
    "/api/paas/v4/chat/completions",
    "/mistral/v1/chat/completions",
    "/openai/v1/chat/completions",
  ]) {
    for (const body of ["", "{", "null", "[]", "3", `${"[".repeat(10_000)}${"]".repeat(10_000)}`]) {
      const response = await double.fetch(`http://double${path}`, { method: "POST", body });
      expect(response.status).toBe(400);
    }
  }
});

// The AI SDK gives all its providers one user agent: they are known by their segment.
describe.each<[string, (url: string) => LanguageModel]>([
  ["mistral", (url) => createMistral({ baseURL: `${url}/mistral/v1`, apiKey: "x" })("magistral-medium-latest")],
  ["groq", (url) => createGroq({ baseURL: `${url}/groq/openai/v1`, apiKey: "x" })("openai/gpt-oss-120b")],
  ["xai", (url) => createXai({ baseURL: `${url}/xai/v1`, apiKey: "x" }).chat("grok-4")],
  [
    "openai-compatible",
    (url) =>
      createOpenAICompatible({ name: "together", baseURL: `${url}/together/v1`, supportsStructuredOutputs: true })("m"),
  ],
])("@ai-sdk/%s", (_, modelAt) => {
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
    }),
  };

  it("takes text, reasoning, calls, finish and usage, whole and streamed", async () => {
    double.onMessage("weather", WEATHER);
    const call = { model: modelAt(double.url), prompt: "weather?", tools };
    for (const result of await wholeAndStreamed(call)) {
      expect(result.text).toBe("Let me see.");
      expect(result.reasoningText).toBe(WEATHER.reasoning);
      expect(result.toolCalls).toMatchObject([
        { toolCallId: "call_aaaa", toolName: "weather", input: { city: "Bern" } },
        { toolCallId: "call_bbbb", toolName: "weather", input: { city: "Basel" } },
      ]);
      expect(result.finishReason).toBe("tool-calls");
      expect(result.usage).toMatchObject({ inputTokens: 7, outputTokens: 9 });
    }
  });

  it("takes objects", async () => {
    double.on({ userMessage: "capital" }, { content: { capital: "Bern" } });
    const schema = jsonSchema<{ capital: string }>({ type: "object", properties: { capital: { type: "string" } } });
    const { output } = await generateText({
      model: modelAt(double.url),
      prompt: "capital?",
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ capital: "Bern" });
    expect(double.lastCall()?.body).toMatchObject({ response_format: { type: "json_schema" } });
  });
});
