import { type ChatMessage, type ChatRequest, type ChatTool, functionTool } from "../../chat/request.ts";
import { checkPrompt } from "../anthropic-blocks/check.ts";
import { contentOf, turnOf } from "../anthropic-blocks/request.ts";
import { badRequest } from "../api-error.ts";
import type { Kind } from "../kinds.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { check, checkOptional, wrong } from "./check.ts";

/**
 * Decodes `POST /v1/messages`.
 * @throws {ApiError} 400 in the provider's words: `messages.0.role: …`
 * @see https://docs.claude.com/en/api/messages
 */
export function decodeMessagesRequest(raw: RawRequest): ChatRequest {
  return decodeMessagesBody(jsonObject(raw));
}

/**
 * Decodes the body of a request for a message, for clouds that have the model in the path: they put it in.
 * @throws {ApiError} 400
 */
export function decodeMessagesBody(body: JsonObject): ChatRequest {
  check("model", "string", body["model"]);
  check("max_tokens", "integer", body["max_tokens"]);
  if ((body["max_tokens"] as number) < 0) {
    throw badRequest("max_tokens: Input should be greater than or equal to 0");
  }
  return canonical(body);
}

/**
 * Decodes `POST /v1/messages/count_tokens`, which takes the same body without `max_tokens`.
 * @throws {ApiError} 400
 * @see https://docs.claude.com/en/api/messages-count-tokens
 */
export function decodeCountTokensRequest(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  check("model", "string", body["model"]);
  return canonical(body);
}

function canonical(body: JsonObject): ChatRequest {
  for (const name in body) {
    const kind = OPTIONAL_MEMBERS.get(name);
    if (kind !== undefined) checkOptional(name, kind, body[name]);
  }
  const { system, messages, temperature, tools, tool_choice: choice, stop_sequences: sequences } = body;
  if (typeof temperature === "number" && (temperature < 0 || temperature > 1)) {
    throw badRequest("temperature: range: 0..1");
  }
  if (Array.isArray(sequences)) {
    sequences.forEach((sequence, index) => {
      check(`stop_sequences.${index}`, "string", sequence);
    });
  }
  const request = { ...body, messages: decodeMessages(system, messages) } as unknown as ChatRequest;
  // The first message holds it. To leave the member out would cost each request more than all the rest.
  if (system !== undefined) request["system"] = undefined;
  if (Array.isArray(tools)) request.tools = tools.map(decodeTool);
  if (isObject(choice)) {
    request.tool_choice = decodeToolChoice(choice);
    if (choice["disable_parallel_tool_use"] === true) request["parallel_tool_calls"] = false;
  }
  const format = decodeFormat(body);
  if (format !== undefined) request.response_format = format;
  return request;
}

function decodeMessages(system: unknown, messages: unknown): ChatMessage[] {
  check("messages", "list", messages);
  const given = messages as unknown[];
  if (given.length === 0) throw badRequest("messages: at least one message is required");
  const decoded: ChatMessage[] = [];
  if (typeof system === "string") {
    if (system !== "") decoded.push({ role: "system", content: system });
  } else if (system !== undefined && system !== null) {
    check("system", "list", system);
    const blocks = checkPrompt(system as unknown[], () => "system");
    if (blocks.length > 0) decoded.push({ role: "system", content: contentOf(blocks) });
  }
  for (let index = 0; index < given.length; index++) {
    decodeMessage(given[index], index, index === given.length - 1, decoded);
  }
  return decoded;
}

function decodeMessage(message: unknown, index: number, last: boolean, decoded: ChatMessage[]): void {
  if (!isObject(message)) throw wrong(`messages.${index}`, "object", message);
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    if (role === undefined) throw wrong(`messages.${index}.role`, "string", role);
    throw badRequest(`messages.${index}.role: Input should be 'user', 'assistant' or 'system'`);
  }
  if (typeof content !== "string" && !Array.isArray(content)) throw wrong(`messages.${index}.content`, "list", content);
  if (content.length === 0 && !(last && role === "assistant")) {
    throw badRequest(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  if (typeof content === "string") {
    decoded.push({ role, content });
    return;
  }
  decoded.push(...turnOf(role, content, index));
}

/** Server tools keep their own type and members; their name is where that of a function is. */
function decodeTool(tool: unknown, index: number): ChatTool {
  if (!isObject(tool)) throw wrong(`tools.${index}`, "object", tool);
  const { type, name, description, input_schema: parameters, ...others } = tool;
  if (type !== undefined && type !== null && type !== "custom") {
    check(`tools.${index}.type`, "string", type);
    checkOptional(`tools.${index}.name`, "string", name);
    return { ...tool, ...(typeof name === "string" && { function: { name } }) } as ChatTool;
  }
  const path = `tools.${index}.custom`;
  check(`${path}.name`, "string", name);
  if (!TOOL_NAME.test(name as string)) {
    throw badRequest(`${path}.name: String should match pattern '${TOOL_NAME.source}'`);
  }
  checkOptional(`${path}.description`, "string", description);
  check(`${path}.input_schema`, "object", parameters);
  return functionTool(name as string, description, parameters, others);
}

function decodeToolChoice(choice: JsonObject): unknown {
  switch (choice["type"]) {
    case "auto":
    case "none":
      return choice["type"];
    case "any":
      return "required";
    case "tool":
      check("tool_choice.tool.name", "string", choice["name"]);
      return { type: "function", function: { name: choice["name"] } };
    default:
      check("tool_choice.type", "string", choice["type"]);
      throw badRequest("tool_choice: Input tag should be one of 'auto', 'any', 'tool', 'none'");
  }
}

/** `output_format` is how the beta of structured outputs had it. */
function decodeFormat(body: JsonObject): ChatRequest["response_format"] {
  const { output_config: config, output_format: old } = body;
  const path = isObject(config) && config["format"] ? "output_config.format" : "output_format";
  const format = path === "output_format" ? old : (config as JsonObject)["format"];
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw wrong(path, "object", format);
  if (format["type"] !== "json_schema") throw badRequest(`${path}.type: Input should be 'json_schema'`);
  check(`${path}.schema`, "object", format["schema"]);
  return { type: "json_schema", json_schema: { schema: format["schema"] } };
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

const OPTIONAL_MEMBERS = new Map(
  Object.entries<Kind>({
    stream: "boolean",
    temperature: "number",
    top_p: "number",
    top_k: "integer",
    stop_sequences: "list",
    tools: "list",
    tool_choice: "object",
    thinking: "object",
    metadata: "object",
    output_config: "object",
    output_format: "object",
    service_tier: "string",
    mcp_servers: "list",
    context_management: "object",
  }),
);
