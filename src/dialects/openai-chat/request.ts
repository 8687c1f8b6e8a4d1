import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import { checkMessages } from "../openai-messages/check.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { checkChoices, checkObject, checkString, checkType, invalidType } from "./check.ts";

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
  checkMessages(body["messages"]);
  checkTools(body);
  for (const name of ["temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"]) {
    checkType(body, name, "number");
  }
  for (const name of ["stream", "logprobs", "parallel_tool_calls"]) checkType(body, name, "boolean");
  checkChoices(body);
  for (const name of ["response_format", "stream_options"]) checkType(body, name, "object");
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

function checkTools(body: JsonObject): void {
  const tools = body["tools"];
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw invalidType("tools", "an array of tools", tools);
  for (let index = 0; index < tools.length; index++) {
    const tool = checkObject(tools[index], `tools[${index}]`);
    if (tool["type"] !== "function") continue;
    checkString(checkObject(tool["function"], `tools[${index}].function`), "name", true, `tools[${index}].function.`);
  }
}
