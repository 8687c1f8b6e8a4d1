import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import { isBrokenDataUrl, notBase64At } from "../../wire/base64.ts";
import { ApiError } from "../api-error.ts";
import { isObject, type JsonObject, jsonObject, kindOf, type RawRequest } from "../raw-request.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/**
 * Decodes `POST /v1/chat/completions`. The canonical request has this dialect's shape, so the body itself is
 * given back unless it uses a form that fixtures should not have to know (`developer`, `functions`).
 * @throws {ApiError} 400 with `param` naming the place
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function decodeChatRequest(raw: RawRequest): ChatRequest {
  return decodeChatBody(jsonObject(raw));
}

/**
 * Decodes the body of a request, for clouds that have the model in the path: they put it in.
 * @throws {ApiError} 400
 */
export function decodeChatBody(body: JsonObject): ChatRequest {
  checkString(body, "model", true);
  checkMessages(body);
  checkTools(body);
  for (const name of ["temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"]) {
    checkType(body, name, "number");
  }
  for (const name of ["stream", "logprobs", "parallel_tool_calls"]) checkType(body, name, "boolean");
  checkChoices(body);
  for (const name of ["response_format", "stream_options"]) {
    const value = body[name];
    if (value !== undefined && value !== null && !isObject(value)) throw invalidType(name, "an object", value);
  }
  if (isObject(body["response_format"])) checkString(body["response_format"], "type", true, "response_format.");
  return canonical(body);
}

function canonical(body: JsonObject): ChatRequest {
  const messages = body["messages"] as ChatMessage[];
  const old = messages.some((message) => message.role === "developer" || message.role === "function");
  const functions = body["functions"];
  if (!old && !Array.isArray(functions)) return body as ChatRequest;
  const request = { ...body } as ChatRequest;
  if (old) {
    request.messages = messages.map((message) => {
      if (message.role === "developer") return { ...message, role: "system" };
      return message.role === "function" ? { ...message, role: "tool" } : message;
    });
  }
  if (Array.isArray(functions) && request.tools === undefined) {
    request.tools = functions.filter(isObject).map((value) => ({
      type: "function",
      function: value as { name: string },
    }));
  }
  return request;
}

function checkMessages(body: JsonObject): void {
  const messages = body["messages"];
  if (messages === undefined) throw missing("messages");
  if (!Array.isArray(messages)) throw invalidType("messages", "an array of objects", messages);
  if (messages.length === 0) {
    throw new ApiError({
      status: 400,
      message:
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "messages",
      code: "empty_array",
    });
  }
  for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index);
}

function checkMessage(message: unknown, index: number): void {
  if (!isObject(message)) throw invalidType(`messages[${index}]`, "an object", message);
  const { role, content } = message;
  if (role === undefined) throw missing(`messages[${index}].role`);
  if (typeof role !== "string") throw invalidType(`messages[${index}].role`, "a string", role);
  if (!ROLES.has(role)) {
    throw invalid(`messages[${index}].role`, `supported values are ${[...ROLES].join(", ")}`, role, "invalid_value");
  }
  if (Array.isArray(content)) {
    for (let part = 0; part < content.length; part++) {
      const path = `messages[${index}].content[${part}]`;
      if (!isObject(content[part])) throw invalidType(path, "an object", content[part]);
      checkString(content[part], "type", true, `${path}.`);
      checkString(content[part], "text", false, `${path}.`);
      if (content[part]["type"] !== "text") checkMedia(content[part], path);
    }
  } else if (content !== undefined && content !== null && typeof content !== "string") {
    throw invalidType(`messages[${index}].content`, "a string or an array of content parts", content);
  }
  if (role === "tool") checkString(message, "tool_call_id", true, `messages[${index}].`);
  const calls = message["tool_calls"];
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) throw invalidType(`messages[${index}].tool_calls`, "an array", calls);
  for (let call = 0; call < calls.length; call++) checkToolCall(calls[call], `messages[${index}].tool_calls[${call}]`);
}

function checkMedia({ image_url: image, input_audio: audio, file }: JsonObject, path: string): void {
  if (isObject(image)) checkDataUrl(image["url"], `${path}.image_url.url`);
  if (isObject(audio)) checkBase64(audio["data"], `${path}.input_audio.data`);
  if (isObject(file)) checkBase64(file["file_data"], `${path}.file.file_data`);
}

/** @throws {ApiError} when a data URL holds something else than the base64 that it tells of */
export function checkDataUrl(url: unknown, param: string): void {
  if (typeof url === "string" && isBrokenDataUrl(url)) throw noBase64(param);
}

/** @throws {ApiError} when a text is no base64, nor a data URL of some */
export function checkBase64(data: unknown, param: string): void {
  if (typeof data !== "string") return;
  if (data.startsWith("data:")) checkDataUrl(data, param);
  else if (notBase64At(data) >= 0) throw noBase64(param);
}

function noBase64(param: string): ApiError {
  return new ApiError({
    status: 400,
    message: `Invalid '${param}': the data is no valid base64.`,
    param,
    code: "invalid_value",
  });
}

function checkToolCall(call: unknown, path: string): void {
  if (!isObject(call)) throw invalidType(path, "an object", call);
  if (call["type"] !== undefined && call["type"] !== "function") return;
  const called = call["function"];
  if (!isObject(called))
    throw called === undefined ? missing(`${path}.function`) : invalidType(`${path}.function`, "an object", called);
  checkString(called, "name", true, `${path}.function.`);
  checkString(called, "arguments", false, `${path}.function.`);
}

function checkTools(body: JsonObject): void {
  const tools = body["tools"];
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw invalidType("tools", "an array of tools", tools);
  for (let index = 0; index < tools.length; index++) {
    const tool = tools[index];
    if (!isObject(tool)) throw invalidType(`tools[${index}]`, "an object", tool);
    if (tool["type"] !== "function") continue;
    const offered = tool["function"];
    if (offered === undefined) throw missing(`tools[${index}].function`);
    if (!isObject(offered)) throw invalidType(`tools[${index}].function`, "an object", offered);
    checkString(offered, "name", true, `tools[${index}].function.`);
  }
}

/** @throws {ApiError} when a member that is there is no string, or one that is required is not there */
export function checkString(body: JsonObject, name: string, required: boolean, path = ""): void {
  const value = body[name];
  if (typeof value === "string") return;
  if (value === undefined || (value === null && !required)) {
    if (required) throw missing(path + name);
    return;
  }
  throw invalidType(path + name, "a string", value);
}

/** @throws {ApiError} when a member is there, is not null and has another type */
export function checkType(body: JsonObject, name: string, type: "number" | "boolean"): void {
  const value = body[name];
  if (value !== undefined && value !== null && typeof value !== type) throw invalidType(name, `a ${type}`, value);
}

/**
 * How many choices are wanted.
 * @throws {ApiError} when that is no integer from 1 to 128
 */
export function checkChoices(body: JsonObject): number {
  const { n = null } = body;
  if (n === null) return 1;
  if (typeof n !== "number") throw invalidType("n", "a number", n);
  if (!(Number.isInteger(n) && n >= 1 && n <= 128)) {
    throw invalid("n", "expected an integer from 1 to 128", n, "integer_out_of_range");
  }
  return n;
}

export function missing(param: string): ApiError {
  return new ApiError({
    status: 400,
    message: `Missing required parameter: '${param}'.`,
    param,
    code: "missing_required_parameter",
  });
}

export function invalidType(param: string, expected: string, value: unknown): ApiError {
  return new ApiError({
    status: 400,
    message: `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`,
    param,
    code: "invalid_type",
  });
}

export function invalid(param: string, expected: string, value: unknown, code: string): ApiError {
  const shown = JSON.stringify(value);
  const got = shown.length > 80 ? `${shown.slice(0, 80)}…` : shown;
  return new ApiError({
    status: 400,
    message: `Invalid value for '${param}': ${expected}, but got ${got}.`,
    param,
    code,
  });
}
