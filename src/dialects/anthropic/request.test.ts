import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countTokens } from "../../chat/count-tokens.ts";
import { ChatView } from "../../chat/view.ts";
import { ApiError } from "../api-error.ts";
import { type JsonObject, RawRequest } from "../raw-request.ts";
import { decodeCountTokensRequest, decodeMessagesRequest } from "./request.ts";

const rawOf = (text: string) => new RawRequest("POST", "/v1/messages", {}, Buffer.from(text));
const decode = (body: unknown) => decodeMessagesRequest(rawOf(JSON.stringify(body)));
const valid = { model: "claude-sonnet-5", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
const refusal = (body: unknown) => refusalOf(JSON.stringify(body));
function refusalOf(text: string): string {
  try {
    decodeMessagesRequest(rawOf(text));
  } catch (error) {
    if (error instanceof ApiError) {
      expect(error.status).toBe(400);
      return error.message;
    }
    throw error;
  }
  return "decoded";
}
const user = (...content: unknown[]) => ({ role: "user", content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const text = (value: string) => ({ type: "text", text: value });
const result = (id: string, content: unknown) => ({ type: "tool_result", tool_use_id: id, content });

describe("decoding a conversation", () => {
  it("puts the system prompt first, whether a string or blocks, and keeps one in mid-conversation", () => {
    const messages = [user(text("hi")), { role: "system", content: [text("From now on, be brief.")] }];
    for (const system of ["Be kind.", [text("Be "), { ...text("kind."), cache_control: { type: "ephemeral" } }]]) {
      const request = decode({ ...valid, system, messages });
      expect(request.messages).toEqual([
        { role: "system", content: "Be kind." },
        { role: "user", content: "hi" },
        { role: "system", content: "From now on, be brief." },
      ]);
      expect(new ChatView(request).systemMessage).toBe("Be kind.\nFrom now on, be brief.");
      expect(request["system"]).toBeUndefined();
    }
  });

  it("keeps blocks that are more than text as content parts", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "a page" } };
    const request = decode({ ...valid, messages: [user(text("What is "), image, document, text("this?"))] });
    expect(request.messages[0]?.content).toEqual([text("What is "), image, document, text("this?")]);
    expect(new ChatView(request).userMessage).toBe("What is this?");
  });

  it("makes messages of tool results, which leave no user message behind", () => {
    const request = decode({
      ...valid,
      messages: [
        user(text("Weather?")),
        assistant(text("Let me look."), { type: "tool_use", id: "t1", name: "weather", input: { city: "Bern" } }),
        user(
          result("t1", "sunny"),
          { ...result("t2", [text("12"), text(" °C")]), is_error: true },
          result("t3", undefined),
        ),
      ],
    });
    expect(request.messages).toEqual([
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [{ id: "t1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
      },
      { role: "tool", tool_call_id: "t1", content: "sunny" },
      { role: "tool", tool_call_id: "t2", content: "12 °C", is_error: true },
      { role: "tool", tool_call_id: "t3", content: "" },
    ]);
    const view = new ChatView(request);
    expect([view.userMessage, view.hasToolResult, view.toolCallId, view.turnIndex]).toEqual([
      "Weather?",
      true,
      "t3",
      1,
    ]);
  });

  it("keeps the order of tool results and what stands between them", () => {
    const request = decode({
      ...valid,
      messages: [user(result("a", "1"), text("and"), result("b", "2"), text("now?"))],
    });
    expect(request.messages.map((message) => [message.role, message.tool_call_id ?? message.content])).toEqual([
      ["tool", "a"],
      ["user", "and"],
      ["tool", "b"],
      ["user", "now?"],
    ]);
    const view = new ChatView(request);
    expect([view.userMessage, view.hasToolResult]).toEqual(["now?", false]);
  });

  it("sets an assistant's thinking apart and keeps what its server tools did", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" };
    const redacted = { type: "redacted_thinking", data: "d" };
    const search = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } };
    const request = decode({
      ...valid,
      messages: [user(text("hi")), assistant(thinking, redacted, search, text("found")), assistant()],
    });
    expect(request.messages.slice(1)).toEqual([
      { role: "assistant", content: [search, text("found")], thinking_blocks: [thinking, redacted] },
      { role: "assistant", content: null },
    ]);
  });
});

describe("decoding what surrounds it", () => {
  it("gives tools the shape of functions, server tools with their own type", () => {
    const request = decode({
      ...valid,
      tools: [
        { name: "weather", description: "Tells it.", input_schema: { type: "object" }, strict: true },
        { type: "custom", name: "time", input_schema: {} },
        { type: "web_search_20260318", name: "web_search", max_uses: 3 },
        { type: "mcp_toolset", mcp_server_name: "wiki" },
      ],
    });
    expect(request.tools).toEqual([
      {
        type: "function",
        strict: true,
        function: { name: "weather", description: "Tells it.", parameters: { type: "object" } },
      },
      { type: "function", function: { name: "time", parameters: {} } },
      { type: "web_search_20260318", name: "web_search", max_uses: 3, function: { name: "web_search" } },
      { type: "mcp_toolset", mcp_server_name: "wiki" },
    ]);
    expect(new ChatView(request).toolNames).toEqual(["weather", "time", "web_search"]);
  });

  it.each([
    [{ type: "auto" }, "auto"],
    [{ type: "any", disable_parallel_tool_use: true }, "required"],
    [{ type: "none" }, "none"],
    [
      { type: "tool", name: "weather" },
      { type: "function", function: { name: "weather" } },
    ],
  ])("tool_choice %j is %j", (choice, expected) => {
    const request = decode({ ...valid, tool_choice: choice });
    expect(request.tool_choice).toEqual(expected);
    expect(request["parallel_tool_calls"]).toBe(choice.type === "any" ? false : undefined);
  });

  it("finds the response format where the API has it and where its beta had it", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const expected = { type: "json_schema", json_schema: { schema: { type: "object" } } };
    expect(decode({ ...valid, output_config: { effort: "low", format } }).response_format).toEqual(expected);
    expect(decode({ ...valid, output_format: format }).response_format).toEqual(expected);
    expect(decode({ ...valid, output_config: { effort: "low" } }).response_format).toBeUndefined();
  });

  it("leaves everything else of the body where it was", () => {
    const others = { temperature: 0.5, stream: true, metadata: { user_id: "u" }, top_k: 3, some_new_member: [1] };
    expect(decode({ ...valid, ...others })).toEqual({ ...valid, ...others });
  });

  it("counts the tokens of all text, and asks for no max_tokens then", () => {
    const body = { ...valid, max_tokens: undefined, system: "12345678", messages: [user(text("1234"))] };
    const request = decodeCountTokensRequest(rawOf(JSON.stringify(body)));
    expect(countTokens(request)).toEqual({ tokens: 3 });
    const tools = [{ type: "function", function: { name: "f" } }];
    expect(countTokens({ ...request, tools }).tokens).toBe(Math.ceil((12 + JSON.stringify(tools).length) / 4));
  });
});

describe("refusing", () => {
  it.each([
    [{ ...valid, model: undefined }, "model: Field required"],
    [{ ...valid, model: 3 }, "model: Input should be a valid string"],
    [{ ...valid, max_tokens: undefined }, "max_tokens: Field required"],
    [{ ...valid, max_tokens: 1.5 }, "max_tokens: Input should be a valid integer"],
    [{ ...valid, max_tokens: -1 }, "max_tokens: Input should be greater than or equal to 0"],
    [{ ...valid, messages: undefined }, "messages: Field required"],
    [{ ...valid, messages: {} }, "messages: Input should be a valid list"],
    [{ ...valid, messages: [] }, "messages: at least one message is required"],
    [{ ...valid, messages: [null] }, "messages.0: Input should be a valid dictionary"],
    [{ ...valid, messages: [{ content: "x" }] }, "messages.0.role: Field required"],
    [{ ...valid, messages: [{ role: "tool", content: "x" }] }, /^messages\.0\.role: Input should be 'user', /],
    [{ ...valid, messages: [{ role: "user" }] }, "messages.0.content: Field required"],
    [{ ...valid, messages: [{ role: "user", content: 3 }] }, "messages.0.content: Input should be a valid list"],
    [{ ...valid, messages: [{ role: "user", content: "" }] }, /^messages\.0: all messages must have non-empty content/],
    [{ ...valid, messages: [assistant(), user(text("x"))] }, /^messages\.0: all messages must have non-empty content/],
    [{ ...valid, messages: [user("x")] }, "messages.0.content.0: Input should be a valid dictionary"],
    [{ ...valid, messages: [user({})] }, "messages.0.content.0.type: Field required"],
    [{ ...valid, messages: [user(text(""))] }, "messages.0.content.0: text content blocks must be non-empty"],
    [{ ...valid, messages: [user({ type: "text" })] }, "messages.0.content.0.text.text: Field required"],
    [{ ...valid, messages: [user({ type: "image" })] }, "messages.0.content.0.image.source: Field required"],
    [
      { ...valid, messages: [user({ type: "tool_result" })] },
      "messages.0.content.0.tool_result.tool_use_id: Field required",
    ],
    [
      { ...valid, messages: [user(result("t", 3))] },
      "messages.0.content.0.tool_result.content: Input should be a valid list",
    ],
    [
      { ...valid, messages: [user(result("t", [{}]))] },
      "messages.0.content.0.tool_result.content.0.type: Field required",
    ],
    [
      { ...valid, messages: [assistant({ type: "tool_use", id: "t", name: "n", input: "{}" })] },
      "messages.0.content.0.tool_use.input: Input should be a valid dictionary",
    ],
    [{ ...valid, messages: [assistant(result("t", "x"))] }, /^messages\.0: `tool_result` blocks can only be in `user`/],
    [
      { ...valid, messages: [user({ type: "tool_use", id: "t", name: "n", input: {} })] },
      /^messages\.0: `tool_use` blocks can only be in `assistant`/,
    ],
    [{ ...valid, system: 3 }, "system: Input should be a valid list"],
    [{ ...valid, system: [{ type: "text" }] }, "system.0.text.text: Field required"],
    [{ ...valid, temperature: 1.1 }, "temperature: range: 0..1"],
    [{ ...valid, temperature: "hot" }, "temperature: Input should be a valid number"],
    [{ ...valid, stream: "yes" }, "stream: Input should be a valid boolean"],
    [{ ...valid, stop_sequences: ["a", 1] }, "stop_sequences.1: Input should be a valid string"],
    [{ ...valid, tools: {} }, "tools: Input should be a valid list"],
    [{ ...valid, tools: [3] }, "tools.0: Input should be a valid dictionary"],
    [{ ...valid, tools: [{ name: "a" }] }, "tools.0.custom.input_schema: Field required"],
    [{ ...valid, tools: [{ name: "a b", input_schema: {} }] }, /^tools\.0\.custom\.name: String should match pattern/],
    [{ ...valid, tools: [{ type: 3 }] }, "tools.0.type: Input should be a valid string"],
    [{ ...valid, tool_choice: "auto" }, "tool_choice: Input should be a valid dictionary"],
    [{ ...valid, tool_choice: { type: "tool" } }, "tool_choice.tool.name: Field required"],
    [{ ...valid, tool_choice: { type: "all" } }, /^tool_choice: Input tag/],
    [
      { ...valid, output_config: { format: { type: "xml" } } },
      "output_config.format.type: Input should be 'json_schema'",
    ],
    [{ ...valid, output_format: { type: "json_schema" } }, "output_format.schema: Field required"],
  ])("%j", (body, expected) => {
    expect(refusal(body)).toMatch(expected);
  });

  it.each(["null", "[]", "3", '"x"', "", "{", '{"model":"\\', "[[[[", `{"model":[[[[`])("a body that is %j", (body) => {
    expect(refusalOf(body)).not.toBe("decoded");
  });

  it("a body that is nested 10,000 deep", () => {
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    expect(refusalOf(`{"model":"m","max_tokens":1,"messages":${deep}}`)).toMatch(/nested deeper than 500 levels/);
  });

  it("no lone surrogates, NUL bytes or long texts", () => {
    const odd = `\ud800 \0 ${"x".repeat(1_000_000)}`;
    const request = decode({ ...valid, system: odd, messages: [user(text(odd))] });
    expect(new ChatView(request).userMessage).toBe(odd);
  });

  it("only with errors of the API, whatever JSON comes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => read(body) !== "decoded"),
      { numRuns: 500 },
    );
  });

  it("only with errors of the API, whatever stands in any place of a request", () => {
    const rich: JsonObject = {
      ...valid,
      system: [text("Be kind.")],
      messages: [
        user(text("hi"), { type: "image", source: { type: "url", url: "x" } }),
        assistant({ type: "thinking", thinking: "hm", signature: "s" }, text("ok"), {
          ...{ type: "tool_use", id: "t", name: "n", input: { a: [1] } },
        }),
        user(result("t", [text("r")]), text("so?")),
      ],
      tools: [
        { name: "n", description: "d", input_schema: { type: "object" } },
        { type: "bash_20250124", name: "bash" },
      ],
      tool_choice: { type: "tool", name: "n", disable_parallel_tool_use: true },
      output_config: { format: { type: "json_schema", schema: {} } },
      stop_sequences: ["x"],
    };
    const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom("", "__proto__", "tool_result", -1, undefined));
    const changes = fc.array(fc.tuple(fc.constantFrom(...placesIn(rich)), odd), { minLength: 1, maxLength: 3 });
    expect(read(rich)).toBe("decoded");
    let decoded = 0;
    fc.assert(
      fc.property(changes, (given) => {
        const body = structuredClone(rich);
        for (const [place, value] of given) put(body, place, value);
        if (read(body) === "decoded") decoded++;
      }),
      { numRuns: 3000 },
    );
    expect(decoded).toBeGreaterThan(100);
  });
});

/** Decodes it and looks at all that fixtures match on. */
function read(body: unknown): string {
  const outcome = refusal(body);
  if (outcome === "decoded") {
    const view = new ChatView(decode(body));
    expect(typeof view.systemMessage).toBe("string");
    JSON.stringify([view.userMessage, view.toolNames, view.toolResult, view.hasToolResult, view.responseFormat]);
    countTokens(view.request);
  }
  return outcome;
}

function placesIn(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...place, name], ...placesIn(inner, [...place, name])]);
}

function put(body: JsonObject, place: string[], value: unknown): void {
  let holder: unknown = body;
  for (const name of place.slice(0, -1)) holder = (holder as JsonObject | undefined | null)?.[name];
  if (typeof holder === "object" && holder !== null) (holder as JsonObject)[place.at(-1)!] = value;
}
