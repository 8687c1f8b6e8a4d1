import type { ChatMessage, ChatRequest, ChatTool, RequestToolCall } from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import { isObject, type JsonObject, jsonObject, kindOf, type RawRequest } from "../raw-request.ts";
import { imagesOf, member, modelOf } from "./check.ts";

const ROLES = ["system", "user", "assistant", "tool"];

/**
 * Decodes `POST /api/chat`.
 * @throws {ApiError} 400
 * @see https://docs.ollama.com/api/chat
 */
export function decodeOllamaChat(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  const model = modelOf(body);
  const messages = (member(body, "messages", "list", "ChatRequest.") ?? []).map(decodeMessage);
  const tools = (member(body, "tools", "list", "ChatRequest.") ?? []).map(checkTool);
  return { ...common(body), model, messages, ...(tools.length > 0 && { tools }) };
}

/**
 * Decodes `POST /api/generate`: what it asks is one message of the user.
 * @throws {ApiError} 400
 * @see https://docs.ollama.com/api/generate
 */
export function decodeOllamaGenerate(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  const model = modelOf(body);
  const place = "GenerateRequest.";
  const prompt = member(body, "prompt", "string", place) ?? "";
  const system = member(body, "system", "string", place) ?? "";
  const messages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  messages.push({ role: "user", content: contentOf(prompt, imagesOf(body, place)) });
  return { ...common(body), model, messages };
}

/** What both requests have. */
function common(body: JsonObject): JsonObject {
  const place = "options.";
  const options = member(body, "options", "object") ?? {};
  const temperature = member(options, "temperature", "number", place);
  const most = member(options, "num_predict", "number", place);
  const format = formatOf(body["format"]);
  return {
    ...body,
    // Streaming is what is not asked to be left.
    stream: member(body, "stream", "boolean") ?? true,
    ...(temperature !== undefined && { temperature }),
    ...(most !== undefined && { max_tokens: most }),
    ...(options["top_p"] !== undefined && { top_p: options["top_p"] }),
    ...(options["seed"] !== undefined && { seed: options["seed"] }),
    ...(options["stop"] !== undefined && { stop: options["stop"] }),
    ...(format !== undefined && { response_format: format }),
  };
}

function formatOf(format: unknown): ChatRequest["response_format"] {
  if (format === undefined || format === null || format === "") return undefined;
  if (format === "json") return { type: "json_object" };
  if (isObject(format)) return { type: "json_schema", json_schema: { schema: format } };
  throw badRequest(`invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`);
}

function contentOf(text: string, images: string[]): ChatMessage["content"] {
  if (images.length === 0) return text;
  return [{ type: "text", text }, ...images.map((data) => ({ type: "image", data }))];
}

function decodeMessage(message: unknown): ChatMessage {
  const place = "ChatRequest.messages.";
  if (!isObject(message)) {
    throw badRequest(
      `json: cannot unmarshal ${kindOf(message).replace(/^an? /, "")} into Go struct field ${place} of type api.Message`,
    );
  }
  const { content: _c, images: _i, tool_calls: _t, ...others } = message;
  const role = (member(message, "role", "string", place) ?? "").toLowerCase();
  if (!ROLES.includes(role)) throw badRequest(`invalid role: "${role}"; it must be one of ${ROLES.join(", ")}`);
  const decoded: ChatMessage = {
    ...others,
    role,
    content: contentOf(member(message, "content", "string", place) ?? "", imagesOf(message, place)),
  };
  member(message, "tool_call_id", "string", place);
  member(message, "thinking", "string", place);
  const calls = member(message, "tool_calls", "list", place) ?? [];
  if (calls.length > 0) decoded.tool_calls = calls.map(decodeToolCall);
  return decoded;
}

/** Arguments are an object here. */
function decodeToolCall(call: unknown): RequestToolCall {
  const place = "ChatRequest.messages.tool_calls.";
  const called = isObject(call) ? member(call, "function", "object", place) : undefined;
  if (!isObject(call) || called === undefined) throw badRequest(`${place}function: a tool call needs a function`);
  const name = member(called, "name", "string", `${place}function.`) ?? "";
  const input = member(called, "arguments", "object", `${place}function.`) ?? {};
  const id = member(call, "id", "string", place);
  return { ...(id !== undefined && { id }), type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function checkTool(tool: unknown): ChatTool {
  const place = "ChatRequest.tools.";
  if (!isObject(tool)) throw badRequest(`${place}: a tool is an object`);
  const offered = member(tool, "function", "object", place);
  if (offered !== undefined) member(offered, "name", "string", `${place}function.`);
  return { ...tool, type: member(tool, "type", "string", place) ?? "function" } as ChatTool;
}
