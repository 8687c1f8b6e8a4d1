import type { ChatMessage, ChatRequest, ChatTool, ContentPart, RequestToolCall } from "../../chat/request.ts";
import { isBrokenDataUrl } from "../../wire/base64.ts";
import { type ApiError, badRequest } from "../api-error.ts";
import { isOf, type Kind } from "../kinds.ts";
import { isObject, type JsonObject, jsonObject, kindOf, type RawRequest } from "../raw-request.ts";

const ROLES = ["user", "assistant", "system", "tool"];

/**
 * Decodes `POST /v2/chat`.
 * @throws {ApiError} 400
 * @see https://docs.cohere.com/v2/reference/chat
 */
export function decodeCohereChat(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  const model = modelOf(body);
  const { messages } = body;
  if (messages === undefined || messages === null) throw badRequest("invalid request: messages must be provided");
  if (!Array.isArray(messages)) throw wrong("messages", "a list of messages", messages);
  if (messages.length === 0) throw badRequest("invalid request: messages must have at least one message");
  const request: ChatRequest = { ...body, model, messages: messages.map(decodeMessage) };
  for (const [name, kind] of MEMBERS) check(body, name, kind);
  const { tools, tool_choice: choice, p, stop_sequences: sequences } = body;
  if (Array.isArray(tools)) request.tools = tools.map(decodeTool);
  if (choice === "REQUIRED" || choice === "NONE") request.tool_choice = choice.toLowerCase();
  if (typeof p === "number") request["top_p"] = p;
  if (Array.isArray(sequences)) request["stop"] = sequences;
  const format = body["response_format"];
  if (isObject(format)) check(format, "type", "string", "response_format.", true);
  return request;
}

const MEMBERS: [string, Kind][] = [
  ["stream", "boolean"],
  ["temperature", "number"],
  ["max_tokens", "number"],
  ["p", "number"],
  ["k", "number"],
  ["seed", "number"],
  ["tools", "list"],
  ["documents", "list"],
  ["stop_sequences", "list"],
  ["tool_choice", "string"],
  ["response_format", "object"],
  ["thinking", "object"],
];

/** @throws {ApiError} 400 without a model, which every operation needs */
export function modelOf(body: JsonObject): string {
  const { model } = body;
  if (model === undefined || model === null || model === "") throw badRequest("invalid request: model is required");
  if (typeof model !== "string") throw wrong("model", "a string", model);
  return model;
}

/** @throws {ApiError} 400 when a member is there and has another type, or is not there and has to be */
export function check(body: JsonObject, name: string, kind: Kind, place = "", required = false): void {
  const value = body[name];
  if (value === undefined || value === null) {
    if (required) throw badRequest(`invalid request: ${place}${name} must be provided`);
    return;
  }
  if (!isOf(kind, value)) throw wrong(`${place}${name}`, `${kind === "object" ? "an" : "a"} ${kind}`, value);
}

export function wrong(place: string, expected: string, value: unknown): ApiError {
  return badRequest(`invalid type: parameter ${place} is ${kindOf(value)} but should be ${expected}`);
}

function decodeMessage(message: unknown, index: number): ChatMessage {
  const place = `messages[${index}]`;
  if (!isObject(message)) throw wrong(place, "an object", message);
  const { role, content, tool_calls: calls } = message;
  check(message, "role", "string", `${place}.`, true);
  if (!ROLES.includes(role as string)) {
    throw badRequest(`invalid request: ${place}.role must be one of ${ROLES.join(", ")}`);
  }
  const decoded: ChatMessage = { ...message, role: role as string };
  if (content !== undefined && content !== null) decoded.content = contentOf(content, `${place}.content`);
  else if (role !== "assistant") throw badRequest(`invalid request: ${place}.content must be provided`);
  if (role === "tool") check(message, "tool_call_id", "string", `${place}.`, true);
  check(message, "tool_plan", "string", `${place}.`);
  check(message, "tool_calls", "list", `${place}.`);
  if (Array.isArray(calls)) {
    decoded.tool_calls = calls.map((call, at) => decodeToolCall(call, `${place}.tool_calls[${at}]`));
  }
  return decoded;
}

function contentOf(content: unknown, place: string): string | ContentPart[] {
  if (typeof content === "string") return content;
  // One part may stand without its list.
  const parts = isObject(content) ? [content] : content;
  if (!Array.isArray(parts)) throw wrong(place, "a string or a list of parts", content);
  return parts.map((part, index) => {
    const at = `${place}[${index}]`;
    if (!isObject(part)) throw wrong(at, "an object", part);
    check(part, "type", "string", `${at}.`, true);
    check(part, "text", "string", `${at}.`, part["type"] === "text");
    checkImage(part, at);
    return part["type"] === "document" ? documentPart(part, at) : (part as ContentPart);
  });
}

/** The results of tools are documents: their text is what they hold. */
function documentPart(part: JsonObject, place: string): ContentPart {
  const { document } = part;
  check(part, "document", "object", `${place}.`, true);
  const data = (document as JsonObject)["data"];
  return { ...part, type: "document", text: typeof data === "string" ? data : (JSON.stringify(data) ?? "") };
}

function checkImage({ image_url: image }: JsonObject, place: string): void {
  if (isObject(image)) checkDataUrl(image["url"], `${place}.image_url.url`);
}

/** @throws {ApiError} when a data URL holds something else than the base64 that it tells of */
export function checkDataUrl(url: unknown, place: string): void {
  if (typeof url === "string" && isBrokenDataUrl(url)) {
    throw badRequest(`invalid request: ${place} is no valid base64`);
  }
}

function decodeToolCall(call: unknown, place: string): RequestToolCall {
  if (!isObject(call)) throw wrong(place, "an object", call);
  check(call, "id", "string", `${place}.`);
  check(call, "function", "object", `${place}.`, true);
  const called = call["function"] as JsonObject;
  check(called, "name", "string", `${place}.function.`, true);
  check(called, "arguments", "string", `${place}.function.`);
  const { name, arguments: input = "" } = called as { name: string; arguments?: string };
  return { ...call, type: "function", function: { name, arguments: input } };
}

function decodeTool(tool: unknown, index: number): ChatTool {
  const place = `tools[${index}]`;
  if (!isObject(tool)) throw wrong(place, "an object", tool);
  check(tool, "function", "object", `${place}.`, true);
  check(tool["function"] as JsonObject, "name", "string", `${place}.function.`, true);
  return { type: "function", ...tool } as ChatTool;
}
