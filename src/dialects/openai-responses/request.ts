import type { ChatRequest, ChatTool } from "../../chat/request.ts";
import { ApiError } from "../api-error.ts";
import { checkString, checkType, invalidType, missing } from "../openai-chat/check.ts";
import { checkItems, messagesOf } from "../openai-items/request.ts";
import { findConversation, itemFinder, responseItems } from "../openai-stored/state.ts";
import type { Memory } from "../operation.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";

/** The canonical request, and the items from which it has been made. */
export interface ResponsesRequest extends ChatRequest {
  [ITEMS]: { before: readonly JsonObject[]; own: readonly JsonObject[] };
}

/** No predicate and no journal sees what is under it. */
export const ITEMS = Symbol("items");

/**
 * Decodes `POST /v1/responses`. What was said before (`previous_response_id`, `conversation`) stands before the
 * new input, as far as it is remembered; ids that nobody has heard of are taken for conversations elsewhere.
 * @throws {ApiError} 400 with `param` naming the place
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export function decodeResponsesRequest(raw: RawRequest, memory: Memory): ResponsesRequest {
  const body = jsonObject(raw);
  checkString(body, "model", body["prompt"] === undefined);
  if (["input", "previous_response_id", "prompt", "conversation"].every((name) => body[name] === undefined)) {
    throw missing("input");
  }
  return canonical(body, memory);
}

/**
 * Decodes `POST /v1/responses/input_tokens` and `/compact`, which take the same body and need less of it.
 * @throws {ApiError} 400 with `param` naming the place
 */
export function decodeInput(raw: RawRequest, memory: Memory): ResponsesRequest {
  return canonical(raw.body.length === 0 ? {} : jsonObject(raw), memory);
}

function canonical(body: JsonObject, memory: Memory): ResponsesRequest {
  checkMembers(body);
  const { model = "", input, instructions, tools, text, max_output_tokens: most } = body;
  const before = earlierItems(body, memory);
  const own = input === undefined || input === null ? [] : checkItems(input, "input");
  const messages = messagesOf([...before, ...own], itemFinder(memory));
  if (typeof instructions === "string" && instructions !== "")
    messages.unshift({ role: "system", content: instructions });
  const request = { ...body, model, messages, [ITEMS]: { before, own } } as ResponsesRequest;
  const offered = [...(Array.isArray(tools) ? tools : []), ...own.flatMap(additionalTools)];
  if (offered.length > 0) request.tools = decodeTools(offered);
  const choice = body["tool_choice"];
  if (isObject(choice) && choice["type"] === "function") {
    request.tool_choice = { type: "function", function: { name: choice["name"] } };
  }
  if (most !== undefined) request.max_tokens = most as number | null;
  const format = isObject(text) ? text["format"] : undefined;
  if (isObject(format)) request.response_format = decodeFormat(format);
  return request;
}

function checkMembers(body: JsonObject): void {
  for (const name of ["model", "instructions", "previous_response_id"]) checkString(body, name, false);
  for (const name of ["temperature", "top_p", "max_output_tokens", "top_logprobs"]) checkType(body, name, "number");
  for (const name of ["stream", "store", "background", "parallel_tool_calls"]) checkType(body, name, "boolean");
  for (const name of ["text", "reasoning", "metadata"]) {
    const value = body[name];
    if (value !== undefined && value !== null && !isObject(value)) throw invalidType(name, "an object", value);
  }
  for (const name of ["tools", "include"]) {
    const value = body[name];
    if (value !== undefined && value !== null && !Array.isArray(value)) throw invalidType(name, "an array", value);
  }
  const { tools, text, conversation, previous_response_id: previous } = body;
  if (Array.isArray(tools)) tools.forEach(checkTool);
  if (isObject(text) && text["format"] !== undefined && text["format"] !== null) {
    if (!isObject(text["format"])) throw invalidType("text.format", "an object", text["format"]);
    checkString(text["format"], "type", true, "text.format.");
    if (text["format"]["type"] === "json_schema") {
      checkString(text["format"], "name", true, "text.format.");
      if (!isObject(text["format"]["schema"])) throw missing("text.format.schema");
    }
  }
  if (conversation === undefined || conversation === null) return;
  if (isObject(conversation)) checkString(conversation, "id", true, "conversation.");
  else if (typeof conversation !== "string") throw invalidType("conversation", "a string or an object", conversation);
  if (typeof previous !== "string") return;
  throw new ApiError({
    status: 400,
    message: "Mutually exclusive parameters: only one of 'previous_response_id' and 'conversation' may be given.",
    code: "mutually_exclusive_parameters",
  });
}

function checkTool(tool: unknown, index: number): void {
  if (!isObject(tool)) throw invalidType(`tools[${index}]`, "an object", tool);
  checkString(tool, "type", true, `tools[${index}].`);
  if (tool["type"] === "function" || tool["type"] === "custom") checkString(tool, "name", true, `tools[${index}].`);
}

/** Tools in OpenAI chat's shape; those that have a name but are no functions keep all their members. */
function decodeTools(tools: readonly unknown[]): ChatTool[] {
  return tools.filter(isObject).flatMap((tool): ChatTool[] => {
    const { type, name, description, parameters, strict } = tool;
    if (type === "namespace" && Array.isArray(tool["tools"])) return decodeTools(tool["tools"]);
    if (typeof name !== "string") return [tool as unknown as ChatTool];
    const called = {
      name,
      ...(typeof description === "string" && { description }),
      ...(parameters !== undefined && { parameters }),
      ...(strict !== undefined && { strict }),
    };
    return [type === "function" ? { type, function: called } : ({ ...tool, function: called } as unknown as ChatTool)];
  });
}

/** Developers hand in tools in the middle of a conversation too. */
function additionalTools({ type, tools }: JsonObject): unknown[] {
  return type === "additional_tools" && Array.isArray(tools) ? tools : [];
}

function earlierItems(body: JsonObject, memory: Memory): readonly JsonObject[] {
  const previous = body["previous_response_id"];
  if (typeof previous === "string") return responseItems(memory, previous);
  const id = conversationIdOf(body);
  return id === undefined ? [] : [...(findConversation(memory, id)?.items ?? [])];
}

export function conversationIdOf({ conversation }: JsonObject): string | undefined {
  const id = isObject(conversation) ? conversation["id"] : conversation;
  return typeof id === "string" ? id : undefined;
}

function decodeFormat(format: JsonObject): { type: string } {
  const { type, ...schema } = format;
  return type === "json_schema" ? { type, ...{ json_schema: schema } } : (format as { type: string });
}
