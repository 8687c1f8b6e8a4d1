import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatView } from "../../chat/view.ts";
import { LocalMemory } from "../../state/memory.ts";
import { ApiError } from "../api-error.ts";
import { knownConversation, StoredResponse, storeResponse } from "../openai-stored/state.ts";
import { RawRequest } from "../raw-request.ts";
import { decodeResponsesRequest, type ResponsesRequest } from "./request.ts";

const decode = (body: unknown, memory = new LocalMemory()): ResponsesRequest => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return decodeResponsesRequest(new RawRequest("POST", "/v1/responses", {}, new TextEncoder().encode(text)), memory);
};
const messages = (input: unknown, more: object = {}) => decode({ model: "m", input, ...more }).messages;
const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const output = (id: string, given: unknown = "out") => ({ type: "function_call_output", call_id: id, output: given });
const asked = (id: string, name = "f") => ({ id, type: "function", function: { name, arguments: name && "{}" } });

describe("input", () => {
  it("is what the user says, after the instructions", () => {
    expect(messages("hi", { instructions: "Be brief." })).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ]);
    expect(messages([{ role: "developer", content: "Be brief." }])).toEqual([{ role: "system", content: "Be brief." }]);
  });

  it("has texts as one string, and media as parts in their order", () => {
    const text = (value: string) => ({ type: "input_text", text: value });
    expect(messages([{ role: "user", content: [text("a"), text("b")] }])).toEqual([{ role: "user", content: "ab" }]);
    const file = { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" };
    const content = [
      text("look:"),
      { type: "input_image", image_url: "https://x/a.png", detail: "low" },
      { type: "input_file", ...file },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ];
    expect(messages([{ role: "user", content }])).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "look:" },
          { type: "image_url", image_url: { url: "https://x/a.png", detail: "low" } },
          { type: "file", file },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        ],
      },
    ]);
  });

  it("has one assistant turn of all that the model gave between two of the user's", () => {
    const items = [
      { role: "user", content: "go" },
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      call("1"),
      { type: "custom_tool_call", call_id: "2", name: "sql", input: "SELECT 1" },
      output("1"),
      { type: "custom_tool_call_output", call_id: "2", output: [{ type: "input_text", text: "one" }] },
      { type: "message", role: "assistant", content: "Done." },
    ];
    expect(messages(items)).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [asked("1"), { id: "2", type: "function", function: { name: "sql", arguments: "SELECT 1" } }],
      },
      { role: "tool", tool_call_id: "1", content: "out" },
      { role: "tool", tool_call_id: "2", content: "one" },
      { role: "assistant", content: "Done." },
    ]);
    expect(new ChatView(decode({ model: "m", input: items })).turnIndex).toBe(2);
  });

  it.each([
    ["a reference", [{ type: "item_reference", id: "fc_1" }, output("1"), output("2")], {}],
    ["a previous response", [output("1"), output("2")], { previous_response_id: "resp_unknown" }],
  ])("has one assistant turn before outputs that have only %s before them", (_, input, more) => {
    expect(messages(input, more)).toEqual([
      { role: "assistant", content: null, tool_calls: [asked("1", ""), asked("2", "")] },
      { role: "tool", tool_call_id: "1", content: "out" },
      { role: "tool", tool_call_id: "2", content: "out" },
    ]);
  });

  it("keeps the order of outputs and what is said with them", () => {
    const image = { type: "input_image", image_url: "https://x/a.png" };
    expect(
      messages([call("1"), output("1", [image, { type: "input_text", text: "see" }]), { role: "user", content: "ok" }]),
    ).toEqual([
      { role: "assistant", content: null, tool_calls: [asked("1")] },
      {
        role: "tool",
        tool_call_id: "1",
        content: [
          { type: "image_url", image_url: { url: "https://x/a.png" } },
          { type: "text", text: "see" },
        ],
      },
      { role: "user", content: "ok" },
    ]);
  });
});

describe("what was said before", () => {
  const said = (text: string) => ({ role: "user", content: text });
  const answer = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "A." }] };

  it("stands before the new input, without what the provider ran itself", () => {
    const memory = new LocalMemory();
    const shell = { type: "shell_call_output", call_id: "s", output: [] };
    const response = new StoredResponse(() => ({ output: [shell, answer] }), [said("one")], [said("two")], "ended");
    storeResponse(memory, "resp_1", "stem", [], response);
    const roles = decode({ model: "m", input: "three", previous_response_id: "resp_1" }, memory).messages;
    expect(roles.map(({ role, content }) => [role, content])).toEqual([
      ["user", "one"],
      ["user", "two"],
      ["assistant", "A."],
      ["user", "three"],
    ]);
  });

  it("is found by a conversation's id and by an item's", () => {
    const memory = new LocalMemory();
    knownConversation(memory, "conv_1").addLater(() => [said("one"), answer]);
    for (const conversation of ["conv_1", { id: "conv_1" }]) {
      const { messages: all } = decode({ model: "m", input: "two", conversation }, memory);
      expect(all.map(({ content }) => content)).toEqual(["one", "A.", "two"]);
    }
    const made = { ...answer, id: "msg_stem0001" };
    const response = new StoredResponse(() => ({ output: [answer, made] }), [], [], "ended");
    storeResponse(memory, "resp_1", "stem", ["msg_1"], response);
    for (const id of ["msg_1", "msg_stem0001"]) {
      const input = [{ type: "item_reference", id }, said("two")];
      expect(decode({ model: "m", input }, memory).messages[0]).toEqual({ role: "assistant", content: "A." });
    }
  });

  it("is of a response or of a conversation, not of both", () => {
    const body = { model: "m", input: "x", previous_response_id: "resp_1", conversation: "conv_1" };
    expect(() => decode(body)).toThrow("Mutually exclusive parameters");
  });
});

it("takes tools, formats and limits where OpenAI chat has them, and keeps the body", () => {
  const schema = { name: "answer", schema: { type: "object" }, strict: true };
  const tools = [
    { type: "function", name: "f", parameters: { type: "object" }, strict: false },
    { type: "custom", name: "sql", format: { type: "text" } },
    { type: "web_search" },
  ];
  const more = { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "g" }] };
  const request = decode({
    model: "m",
    input: [{ role: "user", content: "x" }, more],
    tools,
    tool_choice: { type: "function", name: "f" },
    text: { format: { type: "json_schema", ...schema } },
    max_output_tokens: 9,
    reasoning: { effort: "low" },
  });
  expect(request.tools).toEqual([
    { type: "function", function: { name: "f", parameters: { type: "object" }, strict: false } },
    { ...tools[1], function: { name: "sql" } },
    { type: "web_search" },
    { type: "function", function: { name: "g" } },
  ]);
  expect(request).toMatchObject({
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: schema },
    max_tokens: 9,
    reasoning: { effort: "low" },
    text: { format: { type: "json_schema" } },
  });
  expect(new ChatView(request).toolNames).toEqual(["f", "sql", "g"]);
});

describe("whatever is sent", () => {
  const outcome = (body: unknown): unknown => {
    try {
      decode(body);
      return "decoded";
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      return "refused";
    }
  };

  it.each([["null"], ["[]"], ["3"], ["{"], [""], [`${"[".repeat(10_000)}${"]".repeat(10_000)}`]])(
    "%.20s is refused",
    (text) => {
      expect(outcome(text)).toBe("refused");
    },
  );

  it("nested too deep, it is refused", () => {
    const deep = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
    expect(outcome(`{"model":"m","input":"x","metadata":${deep}}`)).toBe("refused");
  });

  it("it is decoded or refused", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => outcome(body) !== undefined),
      { numRuns: 200 },
    );
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom("message", "function_call", "__proto__", "user"),
    );
    const names = ["type", "role", "content", "call_id", "output", "name", "arguments", "id", "text", "tools", "input"];
    const name = fc.constantFrom(...names);
    const part = fc.dictionary(name, odd, { maxKeys: 3 });
    const item = fc.dictionary(name, fc.oneof(odd, fc.array(part, { maxLength: 2 })), { maxKeys: 5 });
    const items = fc.array(item, { maxLength: 3 });
    const body = fc.record(
      {
        model: fc.oneof({ weight: 5, arbitrary: fc.constant("m") }, { weight: 1, arbitrary: odd }),
        input: fc.oneof({ weight: 5, arbitrary: items }, { weight: 1, arbitrary: odd }),
        tools: fc.oneof(items, odd),
        text: odd,
        conversation: odd,
        tool_choice: odd,
        include: odd,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(body, (given) => outcome(given) !== undefined),
      { numRuns: 1000 },
    );
  });
});
