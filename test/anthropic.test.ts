import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, stepCountIs, tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { sharedDouble } from "./support/double.ts";
import { fetchOverHttp2 } from "./support/fetch-over-http2.ts";

const double = sharedDouble();
let client: Anthropic;

const ask = (content: string) => ({
  model: "claude-sonnet-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content }],
});
/** The same answer whole and streamed. */
const bothWays = async (content: string) => [
  await client.messages.create(ask(content)),
  await client.messages.stream(ask(content)).finalMessage(),
];

/** The same answers must come over each of them. */
const ways: [string, () => Anthropic][] = [
  ["a socket", () => new Anthropic({ baseURL: double.url, apiKey: "x" })],
  ["HTTP/2", () => new Anthropic({ baseURL: double.url, apiKey: "x", fetch: fetchOverHttp2 })],
  ["double.fetch", () => new Anthropic({ baseURL: "http://anywhere", apiKey: "x", fetch: double.fetch })],
];

describe.each(ways)("messages over %s", (_, makeClient) => {
  beforeEach(() => {
    client = makeClient();
  });

  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const { data, request_id } = await client.messages.create(ask("well, hello")).withResponse();
    expect(data).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5",
      content: [{ type: "text", text: "Hi! 👋" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(data.id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(request_id).toMatch(/^req_/);
  });

  it("streamed", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" }, { chunkSize: 4 });
    const pieces: string[] = [];
    const stream = client.messages.stream(ask("hello")).on("text", (text) => pieces.push(text));
    expect(await stream.finalText()).toBe("Hi, nice to meet you!");
    expect(pieces).toEqual(["Hi, ", "nice", " to ", "meet", " you", "!"]);
    expect(stream.response?.headers.get("content-type")).toMatch(/^text\/event-stream/);
  });

  it("matched by system prompt, tool and turn like those of any provider", async () => {
    double.on({ systemMessage: "pirate", userMessage: "name", toolName: "sail", turnIndex: 1 }, { content: "Arr!" });
    const message = await client.messages.create({
      ...ask("who?"),
      system: [{ type: "text", text: "You are a pirate." }],
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "yo" },
        { role: "user", content: [{ type: "text", text: "What's your name?" }] },
      ],
      tools: [{ name: "sail", input_schema: { type: "object" } }],
    });
    expect(message.content).toMatchObject([{ text: "Arr!" }]);
  });

  it("calls tools, in parallel too, and matches their results", async () => {
    double.onToolResult("toolu_2", { content: "20 °C and noon." });
    double.onMessage("weather", {
      content: "Let me see.",
      toolCalls: [
        { id: "toolu_1", name: "weather", arguments: { city: "Bern" } },
        { id: "toolu_2", name: "time", arguments: {} },
      ],
    });
    for (const message of await bothWays("weather and time?")) {
      expect(message.stop_reason).toBe("tool_use");
      expect(message.content).toMatchObject([
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern" } },
        { type: "tool_use", id: "toolu_2", name: "time", input: {} },
      ]);
      const answer = await client.messages.create({
        ...ask(""),
        messages: [
          { role: "user", content: "weather and time?" },
          { role: "assistant", content: message.content },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "toolu_1", content: "20 °C" },
              { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "12:00" }] },
            ],
          },
        ],
      });
      expect(answer.content).toMatchObject([{ type: "text", text: "20 °C and noon." }]);
    }
  });

  it("answers JSON where a schema asks for it", async () => {
    double.on({ userMessage: "capital", responseFormat: "json_schema" }, { content: { capital: "Bern" } });
    const message = await client.messages.parse({
      ...ask("What is the capital?"),
      output_config: {
        format: { type: "json_schema", schema: { type: "object", properties: { capital: { type: "string" } } } },
      },
    });
    expect(message.content).toMatchObject([{ type: "text", text: '{"capital":"Bern"}' }]);
  });

  it("thinks, signed and redacted", async () => {
    double.onMessage("why", {
      reasoning: "Because of the sky.",
      reasoningSignature: "c2lnbmVk",
      redactedThinking: ["c2VjcmV0"],
      content: "It is blue.",
    });
    for (const message of await bothWays("why?")) {
      expect(message.content).toHaveLength(3);
      expect(message.content).toEqual(
        expect.arrayContaining([
          { type: "thinking", thinking: "Because of the sky.", signature: "c2lnbmVk" },
          { type: "redacted_thinking", data: "c2VjcmV0" },
          { type: "text", text: "It is blue." },
        ]),
      );
    }
  });

  it("refuses", async () => {
    double.onMessage("bomb", { refusal: "I can't help with that." });
    for (const message of await bothWays("a bomb")) {
      expect(message.stop_reason).toBe("refusal");
      expect(message.stop_details?.explanation).toBe("I can't help with that.");
    }
  });

  it("counts cached tokens apart, in whichever words a fixture has them", async () => {
    double.onMessage("openai", {
      content: "x",
      usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } },
    });
    double.onMessage("anthropic", {
      content: "x",
      usage: { input_tokens: 40, output_tokens: 5, cache_read_input_tokens: 60 },
    });
    for (const words of ["openai", "anthropic"]) {
      for (const message of await bothWays(words)) {
        expect(message.usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 5 });
      }
    }
  });

  it("stops in mid-stream when the client goes", async () => {
    double.onMessage("hello", { content: "one two three" }, { streamingProfile: { ttft: 0, tps: 0.001 } });
    const stream = client.messages.stream(ask("hello"));
    const ended = expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError);
    for await (const event of stream) {
      expect(event.type).toBe("message_start");
      break;
    }
    await ended;
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });

  it("answers without a socket the same way", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const direct = new Anthropic({ fetch: double.fetch, apiKey: "x" });
    expect((await direct.messages.create(ask("hello"))).content).toEqual([{ type: "text", text: "Hi!" }]);
    expect(await direct.messages.stream(ask("hello")).finalText()).toBe("Hi!");
  });
});

describe("errors", () => {
  const once = { maxRetries: 0 };

  it("of the request, in the words of the API", async () => {
    const wrong = { ...ask("hello"), messages: [{ role: "tool", content: "x" }] };
    await expect(client.messages.create(wrong as never)).rejects.toThrow(/messages\.0\.role: Input should be 'user'/);
  });

  it("where nothing matches", async () => {
    await expect(client.messages.create(ask("nobody answers"), once)).rejects.toThrow(Anthropic.NotFoundError);
  });

  it.each([
    ["null", "null"],
    ["a list", "[]"],
    ["a number", "3"],
    ["broken", "{"],
    ["empty", ""],
    ["too deep", `{"messages":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ])("a body that is %s", async (_, body) => {
    const response = await fetch(`${double.url}/v1/messages`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });
});

it("counts tokens", async () => {
  const { max_tokens: _, ...request } = ask("12345678");
  expect(await client.messages.countTokens(request)).toEqual({ input_tokens: 2 });
});

it("lists models and tells of each", async () => {
  const seen: string[] = [];
  for await (const model of client.models.list({ limit: 2 })) seen.push(model.id);
  expect(seen).toContain("claude-sonnet-5");
  expect(await client.models.retrieve("claude-opus-5")).toMatchObject({ type: "model", display_name: "Claude Opus 5" });
  await expect(client.models.retrieve("gpt-5")).rejects.toThrow(Anthropic.NotFoundError);
});

it("takes the ai package through a tool loop of two steps", async () => {
  double.onToolResult("toolu_1", { content: "It is sunny in Bern." });
  double.onMessage("weather", { toolCalls: [{ id: "toolu_1", name: "weather", arguments: { city: "Bern" } }] });
  const provider = createAnthropic({ baseURL: `${double.url}/v1`, apiKey: "x" });
  const asked: string[] = [];
  const { text, steps } = await generateText({
    model: provider("claude-sonnet-5"),
    prompt: "How is the weather in Bern?",
    stopWhen: stepCountIs(3),
    tools: {
      weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => {
          asked.push(city);
          return "sunny";
        },
      }),
    },
  });
  expect([text, steps.length, asked]).toEqual(["It is sunny in Bern.", 2, ["Bern"]]);
});
