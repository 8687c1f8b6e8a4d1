import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalMemory } from "../../state/memory.ts";
import { ApiError } from "../api-error.ts";
import { RawRequest } from "../raw-request.ts";
import { decodeInteractionRequest } from "./request.ts";

function decode(body: unknown) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const raw = new RawRequest("POST", "/v1beta/interactions", {}, new TextEncoder().encode(text));
  return decodeInteractionRequest(raw, new LocalMemory());
}

const messagesOf = (input: unknown) => decode({ model: "m", input }).messages;

describe("the input", () => {
  it("is a user message, as text, as one content or as several", () => {
    const image = { type: "image", data: "aGk=", mime_type: "image/png" };
    expect(messagesOf("hi")).toEqual([{ role: "user", content: "hi" }]);
    expect(messagesOf({ type: "text", text: "hi" })).toEqual([{ role: "user", content: "hi" }]);
    expect(
      messagesOf([
        { type: "text", text: "h" },
        { type: "text", text: "i" },
      ]),
    ).toEqual([{ role: "user", content: "hi" }]);
    expect(messagesOf([{ type: "text", text: "see" }, image])).toEqual([
      { role: "user", content: [{ type: "text", text: "see" }, image] },
    ]);
  });

  it("is steps, of which all that the model did between two inputs are one turn", () => {
    const thought = { type: "thought", signature: "c2ln" };
    const search = { type: "google_search_call", id: "s", arguments: { queries: ["x"] } };
    const steps = [
      { type: "user_input", content: [{ type: "text", text: "weather?" }] },
      thought,
      search,
      { type: "model_output", content: [{ type: "text", text: "Let me " }] },
      { type: "model_output", content: [{ type: "text", text: "see." }] },
      { type: "function_call", id: "1", name: "weather", arguments: { city: "Bern" } },
      { type: "function_result", call_id: "1", name: "weather", result: "20 °C", is_error: false },
      { type: "user_input", content: "and now?" },
    ];
    expect(messagesOf(steps)).toEqual([
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        content: "Let me see.",
        steps: [thought, search],
        tool_calls: [{ id: "1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
      },
      { role: "tool", tool_call_id: "1", name: "weather", content: "20 °C", is_error: false },
      { role: "user", content: "and now?" },
    ]);
  });
});

describe("parameters", () => {
  it("have their canonical places, and stay where they were", () => {
    const generation_config = { temperature: 0.5, max_output_tokens: 9, tool_choice: "any", thinking_level: "high" };
    const tools = [{ type: "function", name: "f", description: "d", parameters: {} }, { type: "google_search" }];
    const request = decode({ model: "m", input: "x", system_instruction: "s", tools, generation_config });
    expect(request).toMatchObject({
      model: "m",
      messages: [{ role: "system", content: "s" }, { role: "user" }],
      tools: [
        { type: "function", function: { name: "f", description: "d", parameters: {} } },
        { type: "google_search" },
      ],
      temperature: 0.5,
      max_tokens: 9,
      tool_choice: "required",
      generation_config,
    });
  });

  it.each([
    [{ type: "text", mime_type: "application/json", schema: { type: "object" } }, "json_schema"],
    [[{ type: "image" }, { type: "text", schema: {} }], "json_schema"],
    [{ type: "text", mime_type: "application/json" }, "json_object"],
    [{ type: "object", properties: {} }, "json_schema"],
    [{ type: "text" }, "text"],
    [undefined, undefined],
  ])("the format %j is %s", (response_format, type) => {
    expect(decode({ model: "m", input: "x", response_format }).response_format?.type).toBe(type);
  });
});

it("refuses in its own words whatever it cannot take, and never fails", () => {
  const type = fc.constantFrom(
    "text",
    "image",
    "user_input",
    "model_output",
    "function_call",
    "function_result",
    "thought",
  );
  const member = fc.oneof(fc.jsonValue(), type);
  const step = fc.dictionary(
    fc.constantFrom("type", "text", "content", "id", "name", "call_id", "result", "data"),
    member,
  );
  const body = fc.record(
    {
      model: fc.oneof(fc.string(), fc.jsonValue()),
      input: fc.oneof(fc.array(step), fc.jsonValue()),
      tools: fc.oneof(fc.array(step), fc.jsonValue()),
      response_format: fc.jsonValue(),
      generation_config: fc.jsonValue(),
      previous_interaction_id: fc.jsonValue(),
      stream: fc.jsonValue(),
    },
    { requiredKeys: ["model", "input"] },
  );
  fc.assert(
    fc.property(fc.oneof(body, fc.jsonValue(), fc.string()), (given) => {
      try {
        expect(decode(given).messages).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
    { numRuns: 500 },
  );
  const nested = `{"model":"m","input":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  expect(() => decode(nested)).toThrow(ApiError);
});
