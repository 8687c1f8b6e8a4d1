import { expect, test } from "vitest";
import type { ChatReply } from "../../chat/reply.ts";
import { Traverser } from "../traverser.ts";
import { anthropicRules } from "./rules.ts";

function read(messages: unknown[]): { reply: ChatReply; events: string[]; unknown: number } {
  const reader = new Traverser(anthropicRules, "anthropic");
  messages.forEach((message, index) => {
    reader.push(message, index);
  });
  const reply = reader.finish();
  return { reply, events: reader.frames.map(({ event }) => event.type), unknown: reader.unknown };
}

const native = (value: unknown) => ({ dialect: "anthropic", value });
const opaque = (value: unknown) => ({ type: "opaque", dialect: "anthropic", value });
const start = (index: number, content_block: unknown) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, type: string, members: object) => ({
  type: "content_block_delta",
  index,
  delta: { type, ...members },
});
const stop = (index: number) => ({ type: "content_block_stop", index });

const blocks = [
  { type: "thinking", thinking: "Hm. Right.", signature: "c2ln" },
  { type: "redacted_thinking", data: "c2VjcmV0" },
  { type: "text", text: "See here.", citations: [{ type: "char_location", cited_text: "here" }, { type: "x" }] },
  { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1, b: [2] }, caller: { type: "direct" } },
  { type: "tool_use", id: "toolu_2", name: "now", input: {} },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
  { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "https://example.com" }] },
  { type: "mcp_tool_use", id: "mcptoolu_1", name: "echo", server_name: "s", input: { say: "x" } },
  { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [] },
  { type: "compaction", content: "What was said." },
];
const parts = [
  { type: "reasoning", text: "Hm. Right.", signature: "c2ln" },
  { type: "reasoning", text: "", redacted: "c2VjcmV0" },
  { type: "text", text: "See here.", annotations: native(blocks[2]!.citations) },
  {
    type: "toolCall",
    id: "toolu_1",
    name: "add",
    arguments: '{"a":1,"b":[2]}',
    native: native({ caller: { type: "direct" } }),
  },
  { type: "toolCall", id: "toolu_2", name: "now", arguments: "{}" },
  ...blocks.slice(5).map(opaque),
];

test("a whole message: every kind of block, in order", () => {
  const usage = { input_tokens: 5, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 9 };
  const { reply, unknown } = read([
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude",
      content: blocks,
      stop_reason: "stop_sequence",
      stop_sequence: "END",
      usage,
      container: { id: "c" },
    },
  ]);
  expect(unknown).toBe(0);
  expect(reply).toEqual({
    choices: [{ parts, finish: { reason: "stop", native: native("stop_sequence"), stopSequence: "END" } }],
    usage: { promptTokens: 8, completionTokens: 9, cachedTokens: 2, cacheWriteTokens: 1, raw: native(usage) },
    envelope: { id: "msg_1", model: "claude", role: "assistant", native: native({ container: { id: "c" } }) },
  });
});

test("a stream: every kind of delta, pieced together to the same parts", () => {
  const { reply, events, unknown } = read([
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 7, output_tokens: 1, service_tier: "standard" },
      },
    },
    start(0, { type: "thinking", thinking: "", signature: "" }),
    { type: "ping" },
    delta(0, "thinking_delta", { thinking: "Hm. " }),
    delta(0, "thinking_delta", { thinking: "Right." }),
    delta(0, "signature_delta", { signature: "c2ln" }),
    stop(0),
    start(1, blocks[1]),
    stop(1),
    start(2, { type: "text", text: "", citations: [] }),
    delta(2, "text_delta", { text: "See " }),
    delta(2, "citations_delta", { citation: blocks[2]!.citations![0] }),
    delta(2, "text_delta", { text: "here." }),
    delta(2, "citations_delta", { citation: blocks[2]!.citations![1] }),
    stop(2),
    start(3, { ...blocks[3], input: {} }),
    delta(3, "input_json_delta", { partial_json: "" }),
    delta(3, "input_json_delta", { partial_json: '{"a":1,' }),
    delta(3, "input_json_delta", { partial_json: '"b":[2]}' }),
    stop(3),
    start(4, blocks[4]),
    stop(4),
    start(5, { ...blocks[5], input: {} }),
    delta(5, "input_json_delta", { partial_json: '{"query"' }),
    delta(5, "input_json_delta", { partial_json: ':"q"}' }),
    stop(5),
    start(6, blocks[6]),
    stop(6),
    start(7, { ...blocks[7], input: {} }),
    delta(7, "input_json_delta", { partial_json: '{"say":"x"}' }),
    stop(7),
    start(8, blocks[8]),
    stop(8),
    start(9, { type: "compaction", content: null }),
    delta(9, "compaction_delta", { content: "What was said." }),
    stop(9),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null, container: { id: "c" } },
      usage: { input_tokens: null, output_tokens: 20 },
      context_management: { applied_edits: [] },
    },
    { type: "message_stop" },
  ]);
  expect(unknown).toBe(0);
  expect(reply.choices).toEqual([{ parts, finish: { reason: "tool_calls", native: native("tool_use") } }]);
  expect(reply.usage).toEqual({
    promptTokens: 7,
    completionTokens: 20,
    raw: native({ input_tokens: 7, output_tokens: 20, service_tier: "standard" }),
  });
  expect(reply.envelope?.native).toEqual(native({ container: { id: "c" }, context_management: { applied_edits: [] } }));
  expect(events.filter((type) => type === "start")).toHaveLength(10);
  expect(events.filter((type) => type === "stop")).toHaveLength(10);
  expect(events).toContain("keepalive");
});

test("blocks that the message begins with come before those that are counted from 0 again", () => {
  const { reply, unknown } = read([
    { type: "message_start", message: { content: [{ type: "tool_use", id: "t", name: "roll", input: { n: 1 } }] } },
    start(0, { type: "text", text: "" }),
    delta(0, "text_delta", { text: "Done." }),
  ]);
  expect(unknown).toBe(0);
  expect(reply.choices[0]?.parts).toEqual([
    { type: "toolCall", id: "t", name: "roll", arguments: '{"n":1}' },
    { type: "text", text: "Done." },
  ]);
});

test.each([
  ["end_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["something_new", "something_new"],
])("it stopped because of %s, which is %s", (word, reason) => {
  const details = { type: "refusal", explanation: "no" };
  const { reply } = read([{ type: "message_delta", delta: { stop_reason: word, stop_details: details }, usage: {} }]);
  expect(reply.choices[0]?.finish).toEqual({ reason, native: native(word) });
  expect(reply.envelope?.native).toEqual(native({ stop_details: details }));
});

test("an error in mid-stream ends the reply", () => {
  const error = { type: "overloaded_error", message: "Overloaded" };
  const { reply, events, unknown } = read([
    start(0, { type: "text", text: "" }),
    delta(0, "text_delta", { text: "I" }),
    { type: "error", error },
  ]);
  expect([unknown, events.slice(-3)]).toEqual([0, ["error", "stop", "finish"]]);
  expect(reply.choices).toEqual([{ parts: [{ type: "text", text: "I" }], finish: { reason: "error" } }]);
});

test("an event that is not known is passed over and counted", () => {
  const { unknown, reply } = read([{ type: "message_pause" }, delta(0, "hologram_delta", { x: 1 })]);
  expect([unknown, reply]).toEqual([2, { choices: [] }]);
});
