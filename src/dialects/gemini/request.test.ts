import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatRequest } from "../../chat/request.ts";
import { ApiError } from "../api-error.ts";
import { type JsonObject, RawRequest } from "../raw-request.ts";
import { decodeCountTokensRequest, decodeGenerateRequest } from "./request.ts";

function raw(body: unknown, action = "generateContent", model = "gemini-2.5-flash"): RawRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = new RawRequest("POST", `/v1beta/models/${model}:${action}`, {}, new TextEncoder().encode(text));
  request.params = { model };
  return request;
}

const decode = (body: unknown): ChatRequest => decodeGenerateRequest(raw(body));
const user = (...parts: object[]) => ({ role: "user", parts });
const model = (...parts: object[]) => ({ role: "model", parts });
const messagesOf = (...contents: object[]) => decode({ contents }).messages;

/** The error that a body is refused with. */
function refusal(body: unknown): ApiError {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("the body was accepted");
}

describe("decodeGenerateRequest", () => {
  it("takes the model from the path, and keeps what it has no place for", () => {
    const body = {
      contents: [user({ text: "hi" })],
      safetySettings: [],
      generationConfig: { topK: 3, temperature: 0.5 },
    };
    expect(decodeGenerateRequest(raw(body, "generateContent", "models/gemini-x"))).toEqual({
      ...body,
      model: "gemini-x",
      stream: false,
      messages: [{ role: "user", content: "hi" }],
      temperature: 0.5,
    });
  });

  it("knows streams by the path, and their framing by the query", () => {
    const body = { contents: [user({ text: "hi" })] };
    const asked = (action: string) => {
      const { stream, alt } = decodeGenerateRequest(raw(body, action));
      return [stream, alt];
    };
    expect(asked("streamGenerateContent")).toEqual([true, undefined]);
    const sse = new RawRequest("POST", "/v1beta/models/x:streamGenerateContent?alt=sse", {}, raw(body).body);
    expect(decodeGenerateRequest(sse)).toMatchObject({ stream: true, alt: "sse" });
  });

  it("takes both spellings, single elements for lists, and numbers as text", () => {
    const request = decode({
      system_instruction: { parts: { text: "Be kind." } },
      contents: { parts: [{ text: "a" }, { text: "b" }] },
      tools: { function_declarations: [{ name: "f", parameters: { type: "OBJECT" } }] },
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["f"] } },
      generation_config: {
        max_output_tokens: "100",
        candidate_count: 2,
        response_mime_type: "application/json",
        response_schema: { type: "STRING" },
      },
    });
    expect(request).toMatchObject({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "ab" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "OBJECT" } } }],
      tool_choice: { type: "function", function: { name: "f" } },
      max_tokens: 100,
      n: 2,
      response_format: { type: "json_schema", json_schema: { schema: { type: "STRING" } } },
    });
  });

  it("keeps the provider's own tools by their names", () => {
    const { tools } = decode({
      contents: [user({ text: "hi" })],
      tools: [
        { googleSearch: {} },
        { functionDeclarations: [{ name: "f", parametersJsonSchema: {} }], codeExecution: {} },
      ],
    });
    expect(tools).toEqual([
      { type: "googleSearch", googleSearch: {} },
      { type: "function", function: { name: "f", parameters: {}, parametersJsonSchema: {} } },
      { type: "codeExecution", codeExecution: {} },
    ]);
  });

  it.each([
    ["AUTO", "auto"],
    ["VALIDATED", "auto"],
    ["ANY", "required"],
    ["NONE", "none"],
  ])("calling mode %s is %s", (mode, choice) => {
    const toolConfig = { functionCallingConfig: { mode } };
    expect(decode({ contents: [user({ text: "hi" })], toolConfig }).tool_choice).toBe(choice);
  });

  it("pairs results with calls of one name by their position", () => {
    const call = (city: string) => ({ functionCall: { name: "weather", args: { city } } });
    const result = (output: string) => ({ functionResponse: { name: "weather", response: { output } } });
    expect(
      messagesOf(user({ text: "?" }), model(call("Bern"), call("Rome")), user(result("sun"), result("rain"))).slice(1),
    ).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_weather_1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } },
          { id: "call_weather_2", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_weather_1", name: "weather", content: '{"output":"sun"}' },
      { role: "tool", tool_call_id: "call_weather_2", name: "weather", content: '{"output":"rain"}' },
    ]);
  });

  it("pairs results by id where they have one, in any order, and by name between calls of several", () => {
    const ids = (...parts: object[]) =>
      messagesOf(
        model(
          { functionCall: { name: "a", id: "1" } },
          { functionCall: { name: "b", id: "2" } },
          { functionCall: { name: "a", id: "3" } },
        ),
        user(...parts),
      )
        .slice(1)
        .map((message) => message.tool_call_id);
    const result = (name: string, id?: string) => ({ functionResponse: { name, id, response: {} } });
    expect(ids(result("a", "3"), result("b", "2"), result("a", "1"))).toEqual(["3", "2", "1"]);
    expect(ids(result("a"), result("a"), result("b"))).toEqual(["1", "3", "2"]);
    expect(ids(result("a", "3"), result("a"))).toEqual(["3", "1"]);
    expect(ids(result("c"))).toEqual(["call_c_1"]);
  });

  it("keeps the order of results and text, and whatever else a part holds", () => {
    const image = { inlineData: { mimeType: "image/png", data: "aGk=" } };
    expect(
      messagesOf(
        user(image, { text: "look" }),
        model(
          { text: "hm", thought: true, thoughtSignature: "c2ln" },
          { text: "see" },
          { executableCode: { language: "PYTHON", code: "1" } },
          { functionCall: { name: "f" }, thoughtSignature: "c2ln" },
        ),
        { role: "function", parts: [{ functionResponse: { name: "f", response: {}, parts: [image] } }] },
        user({ text: "before" }, { functionResponse: { name: "f" } }, { text: "after" }),
      ),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "inlineData", ...image },
          { type: "text", text: "look" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "see" },
          { type: "executableCode", executableCode: { language: "PYTHON", code: "1" } },
        ],
        thinking_blocks: [{ text: "hm", thought: true, thoughtSignature: "c2ln" }],
        tool_calls: [
          {
            id: "call_f_1",
            type: "function",
            function: { name: "f", arguments: "{}" },
            extra_content: { google: { thought_signature: "c2ln" } },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_f_1", name: "f", content: "{}", parts: [image] },
      { role: "user", content: "before" },
      { role: "tool", tool_call_id: "call_f_2", name: "f", content: "" },
      { role: "user", content: "after" },
    ]);
  });

  it.each<[unknown, RegExp]>([
    [{}, /contents is not specified/],
    [{ contents: [] }, /contents is not specified/],
    [{ contents: "hi" }, /^Invalid value at 'contents'/],
    [{ contents: [3] }, /^Invalid value at 'contents\[0\]' \(an object\), 3/],
    [{ contents: [{ role: "assistant", parts: [{ text: "" }] }] }, /valid role: user, model/],
    [{ contents: [{ role: "user" }] }, /contents\[0\]\.parts must not be empty|contents\[0\]\.parts: /],
    [{ contents: [user({})] }, /contents\[0\]\.parts\[0\]\.data: required oneof field/],
    [{ contents: [user({ text: 3 })] }, /'contents\[0\]\.parts\[0\]\.text' \(TYPE_STRING\), 3/],
    [{ contents: [user({ inlineData: { mimeType: "image/png", data: "not base64!" } })] }, /Base64 decoding failed/],
    [{ contents: [user({ functionResponse: { response: {} } })] }, /function_response\.name: Name cannot be empty/],
    [{ contents: [model({ functionCall: { args: {} } })] }, /function_call\.name: Name cannot be empty/],
    [{ contents: [user({ text: "" })], tools: [{ functionDeclarations: [{}] }] }, /Function name cannot be empty/],
    [{ contents: [user({ text: "" })], generationConfig: { temperature: 3 } }, /temperature must be in the range/],
    [
      { contents: [user({ text: "" })], generationConfig: { candidateCount: 9 } },
      /candidate_count must be in the range/,
    ],
    [{ contents: [user({ text: "" })], generationConfig: { maxOutputTokens: "many" } }, /\(a number\), "many"/],
    [{ contents: [user({ text: "" })], systemInstruction: "be kind" }, /^Invalid value at 'system_instruction'/],
  ])("refuses %j", (body, message) => {
    const error = refusal(body);
    expect(error.status).toBe(400);
    expect(error.message).toMatch(message);
  });

  it("takes a whole request where tokens are to be counted", () => {
    const generateContentRequest = { contents: [user({ text: "hi" })] };
    const counted = decodeCountTokensRequest(raw({ generateContentRequest }, "countTokens"));
    expect(counted.messages).toEqual([{ role: "user", content: "hi" }]);
  });

  it("accepts or refuses whatever it is given, and breaks on nothing", () => {
    const word = fc.constantFrom(
      ...["contents", "parts", "role", "text", "functionCall", "functionResponse", "inlineData", "name", "args", "id"],
      ...["tools", "functionDeclarations", "generationConfig", "systemInstruction", "toolConfig", "model", "data"],
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom<unknown>(null, 3, true, "user", "model", "", {}, []),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(word, tie("value"), { maxKeys: 5 }),
      ),
    }));
    const part = fc.dictionary(word, value, { maxKeys: 3 });
    const body = fc.oneof(
      value,
      fc.record({
        contents: fc.array(
          fc.record({ role: fc.constantFrom("user", "model"), parts: fc.array(part, { maxLength: 3 }) }),
        ),
        tools: value,
        generationConfig: value,
      }),
    );
    fc.assert(
      fc.property(body, (given) => {
        const once = raw(JSON.parse(JSON.stringify(given) ?? "null"));
        try {
          expect((decodeGenerateRequest(once) as JsonObject)["messages"]).toBeInstanceOf(Array);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          expect(error.status).toBe(400);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
