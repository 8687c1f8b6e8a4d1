import { ApiError } from "../api-error.ts";
import {
  checkBase64,
  checkDataUrl,
  checkObject,
  checkString,
  invalid,
  invalidType,
  missing,
} from "../openai-chat/check.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/** @throws {ApiError} 400 when they are no messages of a conversation */
export function checkMessages(messages: unknown): void {
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

function checkToolCall(call: unknown, path: string): void {
  if (!isObject(call)) throw invalidType(path, "an object", call);
  if (call["type"] !== undefined && call["type"] !== "function") return;
  const called = checkObject(call["function"], `${path}.function`);
  checkString(called, "name", true, `${path}.function.`);
  checkString(called, "arguments", false, `${path}.function.`);
}
