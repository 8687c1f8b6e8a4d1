import { expect, test } from "vitest";
import type { ChatReply } from "../../chat/reply.ts";
import { Traverser } from "../traverser.ts";
import { openaiChatRules } from "./rules.ts";

function read(...messages: unknown[]): { reply: ChatReply; events: string[]; unknown: number } {
  const reader = new Traverser(openaiChatRules, "openai-chat");
  messages.forEach((message, index) => {
    reader.push(message, index);
  });
  const reply = reader.finish();
  return { reply, events: reader.frames.map(({ event }) => event.type), unknown: reader.unknown };
}

const native = (value: unknown) => ({ dialect: "openai-chat", value });
const whole = (message: object, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }],
});
const chunk = (delta: object, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
});
const partsOf = (...messages: unknown[]) => read(...messages).reply.choices[0]?.parts;

test("a whole completion: reasoning, text, refusal, tool calls, and what surrounds them", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 20,
    total_tokens: 30,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  const { reply, unknown } = read({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1700000000,
    model: "gpt",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Hello",
          refusal: null,
          reasoning_content: "Hm",
          annotations: [{ type: "url_citation" }],
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "add", arguments: '{"a": 1}' } },
            { id: "call_2", type: "custom", custom: { name: "sh", input: "ls" } },
            { id: "call_3", type: "function", function: { name: "add", arguments: "{}" }, extra_content: { x: 1 } },
          ],
        },
        logprobs: { content: [{ token: "Hello" }], refusal: null },
        finish_reason: "tool_calls",
        content_filter_results: { hate: false },
      },
    ],
    usage,
    service_tier: "default",
    system_fingerprint: "fp",
    citations: ["https://example.com"],
  });
  expect(unknown).toBe(0);
  expect(reply).toEqual({
    choices: [
      {
        parts: [
          { type: "reasoning", text: "Hm" },
          {
            type: "text",
            text: "Hello",
            annotations: native([{ type: "url_citation" }]),
            logprobs: { content: [{ token: "Hello" }] },
          },
          { type: "toolCall", id: "call_1", name: "add", arguments: '{"a": 1}' },
          {
            type: "opaque",
            dialect: "openai-chat",
            value: { id: "call_2", type: "custom", custom: { name: "sh", input: "ls" } },
          },
          { type: "toolCall", id: "call_3", name: "add", arguments: "{}", native: native({ extra_content: { x: 1 } }) },
        ],
        finish: { reason: "tool_calls", native: native("tool_calls") },
        native: native({ choice: { content_filter_results: { hate: false } } }),
      },
    ],
    usage: {
      promptTokens: 10,
      completionTokens: 20,
      totalTokens: 30,
      cachedTokens: 4,
      reasoningTokens: 5,
      raw: native(usage),
    },
    envelope: {
      id: "chatcmpl-1",
      created: 1700000000,
      model: "gpt",
      role: "assistant",
      serviceTier: "default",
      systemFingerprint: "fp",
      native: native({ citations: ["https://example.com"] }),
    },
  });
});

test("a stream: text, reasoning and parallel tool calls whose pieces are mixed", () => {
  const call = (index: number, members: object) => chunk({ tool_calls: [{ index, ...members }] });
  const { reply, events, unknown } = read(
    chunk({ role: "assistant", content: "", refusal: null }),
    chunk({ reasoning_content: "H" }),
    chunk({ reasoning_content: "m" }),
    chunk({ content: "He" }, { logprobs: { content: [{ token: "He" }], refusal: null } }),
    chunk({ content: "llo" }, { logprobs: { content: [{ token: "llo" }], refusal: null } }),
    call(0, { id: "call_1", type: "function", function: { name: "add", arguments: "" } }),
    call(1, { id: "call_2", type: "function", function: { name: "sub", arguments: "" } }),
    call(0, { function: { arguments: '{"a"' } }),
    call(1, { id: "", function: { name: null, arguments: "{}" } }),
    call(0, { function: { arguments: ":1}" } }),
    chunk({}, { finish_reason: "tool_calls" }),
    { id: "chatcmpl-1", choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  );
  expect(unknown).toBe(0);
  expect(reply.choices).toEqual([
    {
      parts: [
        { type: "reasoning", text: "Hm" },
        { type: "text", text: "Hello", logprobs: { content: [{ token: "He" }, { token: "llo" }] } },
        { type: "toolCall", id: "call_1", name: "add", arguments: '{"a":1}' },
        { type: "toolCall", id: "call_2", name: "sub", arguments: "{}" },
      ],
      finish: { reason: "tool_calls", native: native("tool_calls") },
    },
  ]);
  expect(reply.usage?.totalTokens).toBe(3);
  expect(events.at(-1)).toBe("usage");
});

test("choices go by their index", () => {
  const { reply } = read(
    { choices: [{ index: 1, delta: { content: "b" } }] },
    { choices: [{ index: 0, delta: { content: "a" } }] },
    { choices: [{ index: 1, delta: { content: "b" }, finish_reason: "length" }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  );
  expect(reply.choices.map(({ parts, finish }) => [parts, finish.reason])).toEqual([
    [[{ type: "text", text: "a" }], "stop"],
    [[{ type: "text", text: "bb" }], "length"],
  ]);
});

test("a refusal is a part of its own", () => {
  expect(partsOf(whole({ content: null, refusal: "No." }))).toEqual([{ type: "refusal", text: "No." }]);
  expect(partsOf(chunk({ refusal: "N" }), chunk({ refusal: "o." }))).toEqual([{ type: "refusal", text: "No." }]);
});

test("what compatible providers do otherwise", () => {
  const hm = { type: "reasoning", text: "Hm" };
  const text = { type: "text", text: "Hi" };
  expect(partsOf(whole({ reasoning: "Hm", content: "Hi" }))).toEqual([hm, text]);
  // Mistral
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
    { type: "text", text: "Hi" },
  ];
  expect(partsOf(whole({ content }))).toEqual([hm, text]);
  expect(partsOf(...content.map((part) => chunk({ content: [part] })))).toEqual([hm, text]);
  // Tool calls without an index, arguments as an object
  const call = { id: "a", function: { name: "f", arguments: { x: 1 } } };
  expect(partsOf(chunk({ tool_calls: [call, { ...call, id: "b" }] }))).toEqual([
    { type: "toolCall", id: "a", name: "f", arguments: '{"x":1}' },
    { type: "toolCall", id: "b", name: "f", arguments: '{"x":1}' },
  ]);
  // DeepSeek, Groq
  const { reply } = read(
    { choices: [], usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 6 } },
    { choices: [], x_groq: { usage: { completion_tokens: 2 } } },
  );
  expect([reply.usage?.cachedTokens, reply.usage?.promptTokens, reply.usage?.completionTokens]).toEqual([6, 9, 2]);
});

test("members that only this dialect has stay beside the message", () => {
  const { reply } = read(
    chunk({ reasoning_details: [{ text: "a" }] }),
    chunk({ reasoning_details: [{ text: "b" }], odd: 1, function_call: { name: "f", arguments: "{" } }),
    chunk({ function_call: { arguments: "}" } }),
  );
  expect(reply.choices[0]?.native).toEqual(
    native({
      message: {
        odd: 1,
        reasoning_details: [{ text: "a" }, { text: "b" }],
        function_call: { name: "f", arguments: "{}" },
      },
    }),
  );
});

test("audio comes in pieces", () => {
  const parts = partsOf(
    chunk({ audio: { id: "audio_1", transcript: "He" } }),
    chunk({ audio: { data: "AAAA" } }),
    chunk({ audio: { transcript: "llo" } }),
    chunk({ audio: { data: "BBBB", expires_at: 1700000000 } }),
  );
  expect(parts).toEqual([
    {
      type: "media",
      mime: "audio/wav",
      transcript: "Hello",
      data: "AAAABBBB",
      native: native({ id: "audio_1", expires_at: 1700000000 }),
    },
  ]);
});

test("an error, whole or in mid-stream", () => {
  const error = { message: "No more", type: "server_error" };
  const { reply, events, unknown } = read(chunk({ content: "I" }), { error });
  expect([unknown, events.slice(-3)]).toEqual([0, ["error", "stop", "finish"]]);
  expect(reply.choices).toEqual([{ parts: [{ type: "text", text: "I" }], finish: { reason: "error" } }]);
});
