import { createCohere } from "@ai-sdk/cohere";
import { embedMany, generateText, stepCountIs, streamText, tool } from "ai";
import { type Cohere, CohereClient } from "cohere-ai";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: CohereClient;
beforeAll(() => {
  client = new CohereClient({ environment: double.url, token: "x" });
});

const ask = (content: string) => ({ model: "command-a-03-2025", messages: [{ role: "user" as const, content }] });

async function streamed(content: string): Promise<Cohere.V2ChatStreamResponse[]> {
  const events: Cohere.V2ChatStreamResponse[] = [];
  for await (const event of await client.v2.chatStream(ask(content))) events.push(event);
  return events;
}

describe("chat", () => {
  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const { id, message, finishReason, usage } = await client.v2.chat(ask("well, hello"));
    expect(id).toMatch(/^[0-9A-Za-z]{24}$/);
    expect(message).toEqual({ role: "assistant", content: [{ type: "text", text: "Hi! 👋" }] });
    expect(finishReason).toBe("COMPLETE");
    const tokens = { inputTokens: 3, outputTokens: 2 };
    expect(usage).toEqual({ billedUnits: tokens, tokens });
  });

  it("streamed", async () => {
    double.onMessage("hello", { content: "Hi, you!" }, { chunkSize: 4 });
    const events = await streamed("hello");
    expect(events.map(({ type }) => type)).toEqual([
      "message-start",
      "content-start",
      "content-delta",
      "content-delta",
      "content-end",
      "message-end",
    ]);
    expect(events[2]).toMatchObject({ index: 0, delta: { message: { content: { text: "Hi, " } } } });
    expect(events.at(-1)).toMatchObject({
      delta: { finishReason: "COMPLETE", usage: { tokens: { outputTokens: 2 } } },
    });
  });

  it("thinks and calls tools, in parallel too, and matches their results", async () => {
    double.onToolResult("call_2", { content: "20 °C and noon." });
    double.onMessage("weather", {
      reasoning: "Two tools.",
      content: "Let me see.",
      toolCalls: [
        { id: "call_1", name: "weather", arguments: { city: "Bern" } },
        { id: "call_2", name: "time", arguments: {} },
      ],
    });
    const toolCalls = [
      { id: "call_1", type: "function" as const, function: { name: "weather", arguments: '{"city":"Bern"}' } },
      { id: "call_2", type: "function" as const, function: { name: "time", arguments: "{}" } },
    ];
    const { message, finishReason } = await client.v2.chat(ask("weather and time?"));
    expect([message, finishReason]).toEqual([
      {
        role: "assistant",
        toolCalls,
        content: [
          { type: "thinking", thinking: "Two tools." },
          { type: "text", text: "Let me see." },
        ],
      },
      "TOOL_CALL",
    ]);
    const events = await streamed("weather and time?");
    const starts = events.flatMap((event) =>
      event.type === "tool-call-start" ? [event.delta?.message?.toolCalls] : [],
    );
    expect(starts.map((call) => [call?.id, call?.function?.name])).toEqual([
      ["call_1", "weather"],
      ["call_2", "time"],
    ]);
    const pieces = events.flatMap((event) =>
      event.type === "tool-call-delta" ? [event.delta?.message?.toolCalls?.function?.arguments] : [],
    );
    expect(pieces.join("")).toBe('{"city":"Bern"}{}');
    const answer = await client.v2.chat({
      model: "command-a-03-2025",
      messages: [
        { role: "user", content: "weather and time?" },
        { role: "assistant", toolCalls, toolPlan: "I will ask." },
        { role: "tool", toolCallId: "call_1", content: "20 °C" },
        { role: "tool", toolCallId: "call_2", content: [{ type: "document", document: { data: { time: "12:00" } } }] },
      ],
    });
    expect(answer.message.content).toEqual([{ type: "text", text: "20 °C and noon." }]);
  });

  it("matched by system prompt, the result of a tool, and format like those of any provider", async () => {
    double.on({ toolResultContains: '"time":"12:00"', responseFormat: "json_object" }, { content: { noon: true } });
    const { message } = await client.v2.chat({
      model: "command-a-03-2025",
      responseFormat: { type: "json_object" },
      messages: [
        { role: "system", content: "You know." },
        { role: "user", content: [{ type: "text", text: "time?" }] },
        { role: "assistant", toolCalls: [{ id: "1", type: "function", function: { name: "time", arguments: "{}" } }] },
        { role: "tool", toolCallId: "1", content: [{ type: "document", document: { data: { time: "12:00" } } }] },
      ],
    });
    expect(message.content).toEqual([{ type: "text", text: '{"noon":true}' }]);
  });

  it("takes what a fixture says of the reply", async () => {
    double.onMessage("hello", {
      content: "x",
      finishReason: "length",
      id: "given",
      usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
    });
    double.onMessage("bomb", { refusal: "I can't help with that." });
    const tokens = { inputTokens: 10, outputTokens: 5 };
    expect(await client.v2.chat(ask("hello"))).toMatchObject({
      id: "given",
      finishReason: "MAX_TOKENS",
      usage: { tokens, billedUnits: tokens, cachedTokens: 4 },
    });
    const [start] = await streamed("hello");
    expect(start).toMatchObject({ id: "given" });
    expect((await client.v2.chat(ask("bomb"))).message.content).toEqual([
      { type: "text", text: "I can't help with that." },
    ]);
  });

  it("stops in mid-stream when the client goes", async () => {
    double.onMessage("hello", { content: "one two three" }, { streamingProfile: { ttft: 0, tps: 0.001 } });
    const abort = new AbortController();
    const stream = await client.v2.chatStream(ask("hello"), { abortSignal: abort.signal });
    const read = (async () => {
      for await (const event of stream) {
        expect(event.type).toBe("message-start");
        abort.abort();
      }
    })();
    await read.catch((error: unknown) => expect(String(error)).toMatch(/abort/i));
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });
});

describe("embed", () => {
  const request = { model: "embed-v4.0", texts: ["fixed", "other"], inputType: "search_query" as const };

  it("in every form", async () => {
    double.on({ inputText: "fixed", endpoint: "embedding" }, { embedding: [1, -1, 0.5, -0.5, 1, -1, 1, -1, 1] });
    const embeddingTypes = ["float", "int8", "uint8", "binary", "ubinary", "base64"] as const;
    const { embeddings, texts } = await client.v2.embed({ ...request, embeddingTypes: [...embeddingTypes] });
    expect(texts).toEqual(["fixed", "other"]);
    expect(embeddings.float?.[0]).toEqual([1, -1, 0.5, -0.5, 1, -1, 1, -1, 1]);
    expect(embeddings.int8?.[0]).toEqual([127, -127, 64, -63, 127, -127, 127, -127, 127]);
    expect(embeddings.uint8?.[0]).toEqual([255, 1, 192, 65, 255, 1, 255, 1, 255]);
    expect(embeddings.ubinary?.[0]).toEqual([0b10101010, 0b10000000]);
    expect(embeddings.binary?.[0]).toEqual([0b10101010 - 128, 0]);
    const bytes = Buffer.from(embeddings.base64?.[0] ?? "", "base64");
    expect([bytes.length, bytes.readFloatLE(8)]).toEqual([36, 0.5]);
  });

  it("made of the text alone", async () => {
    const one = (await client.v2.embed({ ...request, outputDimension: 256 })).embeddings.float;
    expect(one?.map((vector) => vector.length)).toEqual([256, 256]);
    expect((await client.v2.embed({ ...request, outputDimension: 256 })).embeddings.float).toEqual(one);
  });

  it("in the first version of the API", async () => {
    double.onEmbedding("fixed", { embedding: [0.5, -0.5] });
    const { responseType, embeddings } = await client.embed({ model: "embed-english-v3.0", texts: ["fixed"] });
    expect([responseType, embeddings]).toEqual(["embeddings_floats", [[0.5, -0.5]]]);
    const typed = await client.embed({ model: "embed-english-v3.0", texts: ["fixed"], embeddingTypes: ["float"] });
    expect([typed.responseType, typed.embeddings]).toEqual(["embeddings_by_type", { float: [[0.5, -0.5]] }]);
  });
});

describe("ai", () => {
  const provider = () => createCohere({ baseURL: `${double.url}/v2`, apiKey: "x" });

  it("goes through a tool loop of two steps", async () => {
    double.onToolResult("call_1", { content: "It is sunny in Bern." });
    double.onMessage("weather", { toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }] });
    const { text, steps } = await generateText({
      model: provider()("command-a-03-2025"),
      prompt: "How is the weather in Bern?",
      stopWhen: stepCountIs(3),
      tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => "sunny" }) },
    });
    expect([text, steps.length]).toEqual(["It is sunny in Bern.", 2]);
  });

  it("streams, and embeds", async () => {
    double.onMessage("hello", { reasoning: "Hm.", content: "Hi, nice to meet you!" });
    const result = streamText({ model: provider()("command-a-03-2025"), prompt: "hello" });
    expect([await result.text, await result.reasoningText]).toEqual(["Hi, nice to meet you!", "Hm."]);
    const { embeddings } = await embedMany({ model: provider().embedding("embed-v4.0"), values: ["a", "b"] });
    expect(embeddings.map((vector) => vector.length)).toEqual([1536, 1536]);
  });
});

describe("errors", () => {
  it.each([
    ["null", "null"],
    ["a list", "[]"],
    ["a number", "3"],
    ["broken", "{"],
    ["empty", ""],
    ["too deep", `{"messages":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["without a model", '{"messages":[{"role":"user","content":"x"}],"texts":["x"],"input_type":"image"}'],
    ["of numbers", '{"model":3,"messages":[3],"texts":[3],"input_type":3}'],
    ["without anything to say", '{"model":"m"}'],
  ])("a body that is %s", async (_, body) => {
    for (const path of ["/v2/chat", "/v2/embed", "/v1/embed"]) {
      const response = await double.fetch(`http://double${path}`, { method: "POST", body });
      expect([path, response.status]).toEqual([path, 400]);
      expect(await response.json()).toEqual({ id: expect.any(String), message: expect.any(String) });
    }
  });

  it.each([
    ["an unknown role", { role: "robot", content: "x" }],
    ["no role", { content: "x" }],
    ["no content", { role: "user" }],
    ["a number for content", { role: "user", content: 3 }],
    ["a result without its call", { role: "tool", content: "x" }],
    ["a call without a function", { role: "assistant", tool_calls: [{ id: "1" }] }],
    [
      "an image that is no base64",
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,?" } }] },
    ],
  ])("%s", async (_, message) => {
    const body = JSON.stringify({ model: "m", messages: [message] });
    const response = await double.fetch("http://double/v2/chat", { method: "POST", body });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { message: expect.stringContaining("messages[0]") },
    ]);
  });
});
