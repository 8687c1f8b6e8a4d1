import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatReply, Finish, Part } from "../../chat/reply.ts";
import { ANTHROPIC } from "../anthropic-blocks/response.ts";
import { callOf } from "../call.ts";
import { renderStream, renderUnary, type Stamp } from "../encode.ts";
import type { Call } from "../operation.ts";
import { RawRequest } from "../raw-request.ts";
import { anthropic } from "./index.ts";

const [messages] = anthropic.operations;
const stamp: Stamp = { id: "0123456789abcdefghij", created: 1_700_000_000 };
const params = { model: "claude-sonnet-5", max_tokens: 10, messages: [{ role: "user" as const, content: "12345678" }] };

const callFor = (body: string): Call =>
  callOf(messages!, new RawRequest("POST", "/v1/messages", {}, Buffer.from(body)), new Map());

/** The official client, to which the reply is given whatever it asks. */
function clientOf(reply: ChatReply, chunkSize = 5): Anthropic {
  return new Anthropic({
    apiKey: "x",
    fetch: async (_url, init) => {
      const call = callFor(String(init?.body));
      return call.streamed
        ? new Response(renderStream(reply, call, stamp, chunkSize).join(""), {
            headers: { "content-type": "text/event-stream" },
          })
        : new Response(String(renderUnary(reply, call, stamp).bytes()), {
            headers: { "content-type": "application/json" },
          });
    },
  });
}
const create = (reply: ChatReply) => clientOf(reply).messages.create(params);
const stream = (reply: ChatReply) => clientOf(reply).messages.stream(params).finalMessage();

/** The data of the streamed events in their order. */
function eventsOf(reply: ChatReply): Record<string, unknown>[] {
  const call = callFor(JSON.stringify({ ...params, stream: true }));
  return renderStream(reply, call, stamp, 5)
    .join("")
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      const value = JSON.parse(data!);
      expect(value.type).toBe(name);
      return value;
    });
}
/** The pieces of all deltas of one type. */
const deltas = (reply: ChatReply, type: string, name: string) =>
  eventsOf(reply)
    .map((event) => event["delta"] as Record<string, unknown> | undefined)
    .filter((delta) => delta?.["type"] === type)
    .map((delta) => delta![name]);

const replyOf = (parts: Part[], finish: Finish = { reason: "stop" }): ChatReply => ({ choices: [{ parts, finish }] });
const text = (value: string): Part => ({ type: "text", text: value });
const own = (value: unknown) => ({ dialect: ANTHROPIC, value });

describe("a message", () => {
  it("is what the API sends", async () => {
    expect(await create(replyOf([text("Hello there")]))).toEqual({
      id: "msg_0123456789abcdefghij0000",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5",
      content: [{ type: "text", text: "Hello there" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 2,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 3,
        service_tier: "standard",
      },
    });
  });

  it("streams as the events that the API sends, the ping with the first block", () => {
    const reply = replyOf([text("Hi yall")]);
    const head = { id: "msg_0123456789abcdefghij0000", type: "message", role: "assistant", model: "claude-sonnet-5" };
    const counts = { input_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    expect(eventsOf(reply)).toEqual([
      {
        type: "message_start",
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: {
            ...counts,
            cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
            output_tokens: 1,
            service_tier: "standard",
          },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi ya" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ll" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null, stop_details: null },
        usage: { ...counts, output_tokens: 2 },
      },
      { type: "message_stop" },
    ]);
    const chunks = renderStream(reply, callFor(JSON.stringify({ ...params, stream: true })), stamp, 5);
    expect(chunks.map((chunk) => chunk.match(/(?<=event: ).*/g))).toEqual([
      ["message_start"],
      ["content_block_start", "ping"],
      ["content_block_delta"],
      ["content_block_delta"],
      ["content_block_stop"],
      ["message_delta"],
      ["message_stop"],
    ]);
  });

  it("takes its envelope and its native members from the reply", async () => {
    const reply: ChatReply = {
      ...replyOf([text("x")]),
      envelope: {
        id: "msg_mine",
        model: "claude-other",
        role: "assistant",
        native: own({
          container: { id: "c", expires_at: "2030-01-01T00:00:00Z" },
          diagnostics: { cache_miss_reason: null },
        }),
      },
    };
    reply.choices[0]!.native = own({ context_management: { applied_edits: [] } });
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message).toMatchObject({ id: "msg_mine", model: "claude-other", container: { id: "c" } });
    }
    expect(await create(reply)).toMatchObject({ context_management: { applied_edits: [] } });
    const events = eventsOf(reply);
    expect(events[0]).toMatchObject({ message: { diagnostics: { cache_miss_reason: null } } });
    expect(events[0]).not.toHaveProperty("message.container");
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", container: { id: "c" } },
      context_management: { applied_edits: [] },
    });
  });

  it("of nothing at all still ends", async () => {
    for (const reply of [{ choices: [] }, replyOf([])]) {
      for (const message of [await create(reply), await stream(reply)]) {
        expect(message).toMatchObject({ content: [], stop_reason: "end_turn" });
      }
      expect(eventsOf(reply).map((event) => event["type"])).toEqual([
        "message_start",
        "ping",
        "message_delta",
        "message_stop",
      ]);
    }
  });
});

describe("blocks", () => {
  it("tool calls, in parallel and without arguments", async () => {
    const reply = replyOf(
      [
        { type: "toolCall", id: "toolu_a", name: "weather", arguments: '{"city": "Zürich", "days": [1, 2]}' },
        { type: "toolCall", name: "time", arguments: "{}" },
        { type: "toolCall", name: "date", arguments: "", native: own({ caller: { type: "code", tool_id: "s" } }) },
      ],
      { reason: "tool_calls" },
    );
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message.stop_reason).toBe("tool_use");
      expect(message.content).toEqual([
        {
          type: "tool_use",
          id: "toolu_a",
          name: "weather",
          input: { city: "Zürich", days: [1, 2] },
          caller: { type: "direct" },
        },
        { type: "tool_use", id: "toolu_0123456789abcdefghij0001", name: "time", input: {}, caller: { type: "direct" } },
        {
          ...{ type: "tool_use", id: "toolu_0123456789abcdefghij0002", name: "date", input: {} },
          caller: { type: "code", tool_id: "s" },
        },
      ]);
    }
    const starts = eventsOf(reply).filter((event) => event["type"] === "content_block_start");
    expect(starts.map((start) => start["content_block"])).toMatchObject([{ input: {} }, { input: {} }, { input: {} }]);
    const pieces = deltas(reply, "input_json_delta", "partial_json");
    expect(pieces.slice(0, 3)).toEqual(["", '{"cit', 'y": "']);
    // Those without arguments send the empty piece only.
    expect(pieces.slice(-3)).toEqual([" 2]}", "", ""]);
  });

  it("arguments that are broken JSON: streamed as they are, a text in a whole message", async () => {
    const reply = replyOf([{ type: "toolCall", name: "f", arguments: '{"a": ' }]);
    expect(deltas(reply, "input_json_delta", "partial_json").join("")).toBe('{"a": ');
    expect((await create(reply)).content).toMatchObject([{ type: "tool_use", input: '{"a": ' }]);
  });

  it("thinking with its signature, and redacted", async () => {
    const reply = replyOf([
      { type: "reasoning", text: "Let me think.", signature: "c2lnbmVk" },
      { type: "reasoning", text: "", redacted: "ZGF0YQ==" },
      { type: "reasoning", text: "unsigned" },
      { type: "reasoning", text: "", signature: "omitted" },
      { type: "reasoning", text: "", summary: ["one", "two"] },
      { type: "reasoning", text: "", encrypted: "of another provider" },
      text("Done"),
    ]);
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message.content).toEqual([
        { type: "thinking", thinking: "Let me think.", signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "ZGF0YQ==" },
        { type: "thinking", thinking: "unsigned", signature: "" },
        { type: "thinking", thinking: "", signature: "omitted" },
        { type: "thinking", thinking: "one\n\ntwo", signature: "" },
        { type: "text", text: "Done" },
      ]);
    }
    expect(deltas(reply, "signature_delta", "signature")).toEqual(["c2lnbmVk", "omitted"]);
    expect(deltas(reply, "thinking_delta", "thinking").slice(0, 3)).toEqual(["Let m", "e thi", "nk."]);
  });

  it("citations of this dialect only", async () => {
    const citation = {
      type: "char_location",
      cited_text: "a",
      document_index: 0,
      start_char_index: 0,
      end_char_index: 1,
    };
    const reply = replyOf([
      { type: "text", text: "cited", annotations: own([citation, citation]) },
      { type: "text", text: "plain", annotations: { dialect: "openai-chat", value: [{ type: "url_citation" }] } },
    ]);
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message.content).toEqual([
        { type: "text", text: "cited", citations: [citation, citation] },
        { type: "text", text: "plain" },
      ]);
    }
    expect(deltas(reply, "citations_delta", "citation")).toEqual([citation, citation]);
  });

  it("web searches as the server tool and its result", async () => {
    const reply = replyOf([{ type: "webSearch", query: "news" }, text("None.")]);
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message.content).toMatchObject([
        {
          type: "server_tool_use",
          id: "srvtoolu_0123456789abcdefghij0001",
          name: "web_search",
          input: { query: "news" },
        },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_0123456789abcdefghij0001", content: [] },
        { type: "text", text: "None." },
      ]);
      expect(message.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 });
    }
  });

  it("opaque blocks of this dialect as they are, the input of a server tool in pieces", async () => {
    const tool = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "1 + 1" } };
    const result = { type: "code_execution_tool_result", tool_use_id: "srvtoolu_1", content: { stdout: "2" } };
    const reply = replyOf([
      { type: "opaque", dialect: ANTHROPIC, value: tool },
      { type: "opaque", dialect: ANTHROPIC, value: result },
      { type: "opaque", dialect: ANTHROPIC, value: { type: "compaction", content: "so far" } },
      { type: "opaque", dialect: ANTHROPIC, value: "no block" },
      { type: "opaque", dialect: "gemini", value: { executableCode: {} } },
      { type: "media", mime: "image/png", data: "AAAA" },
    ]);
    expect((await create(reply)).content).toEqual([tool, result, { type: "compaction", content: "so far" }]);
    expect((await stream(reply)).content.slice(0, 2)).toEqual([tool, result]);
    expect((await clientOf(reply).beta.messages.stream(params).finalMessage()).content[2]).toEqual({
      type: "compaction",
      content: "so far",
    });
    expect(deltas(reply, "input_json_delta", "partial_json").join("|")).toBe('|{"cod|e":"1| + 1"|}');
  });

  it("a refusal: no block, but the stop reason and its details", async () => {
    const reply = replyOf([{ type: "refusal", text: "I can't help with that." }]);
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message).toMatchObject({
        content: [],
        stop_reason: "refusal",
        stop_details: { type: "refusal", category: null, explanation: "I can't help with that." },
      });
    }
  });
});

describe("stop reasons", () => {
  it.each<[Finish, string, string | null]>([
    [{ reason: "stop" }, "end_turn", null],
    [{ reason: "length" }, "max_tokens", null],
    [{ reason: "tool_calls" }, "tool_use", null],
    [{ reason: "content_filter" }, "refusal", null],
    [{ reason: "refusal" }, "refusal", null],
    [{ reason: "pause" }, "pause_turn", null],
    [{ reason: "stop", stopSequence: "END" }, "stop_sequence", "END"],
    [{ reason: "model_context_window_exceeded" }, "model_context_window_exceeded", null],
    [
      { reason: "length", native: own("model_context_window_exceeded") as Finish["native"] & object },
      "model_context_window_exceeded",
      null,
    ],
    [{ reason: "length", native: { dialect: "gemini", value: "MAX_TOKENS" } }, "max_tokens", null],
  ])("%j", async (finish, reason, sequence) => {
    for (const message of [await create(replyOf([text("x")], finish)), await stream(replyOf([text("x")], finish))]) {
      expect([message.stop_reason, message.stop_sequence]).toEqual([reason, sequence]);
    }
  });
});

describe("usage", () => {
  it("counts input tokens without those of the cache", async () => {
    const reply: ChatReply = {
      ...replyOf([text("x")]),
      usage: { promptTokens: 100, completionTokens: 7, cachedTokens: 60, cacheWriteTokens: 30, reasoningTokens: 4 },
    };
    for (const message of [await create(reply), await stream(reply)]) {
      expect(message.usage).toMatchObject({
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 4 },
      });
    }
  });

  it("is sent as it was recorded, each part of it where the API has it in a stream", async () => {
    const raw = { input_tokens: 5, output_tokens: 9, service_tier: "priority", iterations: [{ type: "message" }] };
    const reply: ChatReply = { ...replyOf([text("x")]), usage: { promptTokens: 1, raw: own(raw) } };
    expect((await create(reply)).usage).toEqual(raw);
    const events = eventsOf(reply);
    expect(events[0]).toMatchObject({
      message: { usage: { input_tokens: 5, output_tokens: 1, service_tier: "priority" } },
    });
    expect(events.at(-2)!["usage"]).toEqual({ input_tokens: 5, output_tokens: 9, iterations: [{ type: "message" }] });
    const foreign: ChatReply = { ...reply, usage: { promptTokens: 1, raw: { dialect: "openai-chat", value: raw } } };
    expect((await create(foreign)).usage.input_tokens).toBe(1);
  });
});

it("any reply: what the official client puts together from the stream is the whole message", async () => {
  const words = fc.string({ unit: "grapheme", maxLength: 20 });
  const someText = fc.oneof(words, fc.constantFrom("", "👨‍👩‍👧", "\u0000\n\r\u2028", '"\\', "data: x\n\nevent: y"));
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  // The client's parser of partial JSON takes texts and numbers as they come, but not a member named __proto__.
  const input = fc.dictionary(
    fc.constantFrom("a", "b", "c"),
    fc.oneof(someText, fc.integer(), fc.boolean(), fc.constant(null)),
  );
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.record(
      {
        type: fc.constant("text" as const),
        text: someText,
        annotations: maybe(fc.array(fc.record({ type: words })).map(own)),
      },
      { requiredKeys: ["type", "text"] },
    ),
    fc.record({
      type: fc.constant("reasoning" as const),
      text: someText,
      signature: maybe(words),
      redacted: maybe(words),
    }) as fc.Arbitrary<Part>,
    fc.record({
      type: fc.constant("toolCall" as const),
      name: words,
      arguments: input.map((value) => JSON.stringify(value)),
    }),
    fc.record({ type: fc.constant("webSearch" as const), query: someText }),
    fc.record({ type: fc.constant("refusal" as const), text: someText }),
    fc.record({
      type: fc.constant("opaque" as const),
      dialect: fc.constant(ANTHROPIC),
      value: fc.record({ type: fc.constant("x_tool_result"), content: fc.jsonValue({ maxDepth: 2 }) }),
    }),
  );
  const reply = fc.record({
    choices: fc.array(
      fc.record({
        parts: fc.array(part, { maxLength: 6 }),
        finish: fc.record({
          reason: fc.constantFrom("stop", "length", "tool_calls"),
          stopSequence: maybe(words),
        }) as fc.Arbitrary<Finish>,
      }),
      { minLength: 1, maxLength: 2 },
    ),
    usage: fc.record({
      promptTokens: maybe(fc.nat()),
      completionTokens: maybe(fc.nat()),
      cachedTokens: maybe(fc.nat()),
    }),
  }) as fc.Arbitrary<ChatReply>;
  await fc.assert(
    fc.asyncProperty(reply, fc.integer({ min: 1, max: 30 }), async (given, chunkSize) => {
      const client = clientOf(given, chunkSize);
      const whole = await client.messages.create(params);
      // The client adds the parsed output, of which there is none.
      const { parsed_output: _, ...streamed } = await client.messages.stream(params).finalMessage();
      expect(streamed).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});
