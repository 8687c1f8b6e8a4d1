import { type ChatMessage, type ChatRequest, type ChatTool, functionTool } from "../../chat/request.ts";
import { addStep, CONTENT_TYPES, contentOf } from "../gemini-steps/request.ts";
import type { Memory } from "../operation.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { checkType, invalid, requireObject, requireString, typedObjects, wrong } from "./check.ts";
import { conversationOf } from "./store.ts";

/**
 * Decodes `POST /v1beta/interactions`. What the interaction named by `previous_interaction_id` holds stands
 * before the input, so that fixtures match on the whole conversation.
 * @throws {ApiError} 400, or 404 for a previous interaction that is not known
 * @see https://ai.google.dev/api/interactions-api
 */
export function decodeInteractionRequest(raw: RawRequest, memory: Memory): ChatRequest {
  const body = jsonObject(raw);
  for (const name of ["model", "agent", "system_instruction", "previous_interaction_id"])
    checkType(body, name, "string");
  for (const name of ["stream", "background", "store"]) checkType(body, name, "boolean");
  const model = body["model"] ?? body["agent"];
  if (typeof model !== "string") throw invalid("Either 'model' or 'agent' must be given.");
  const input = decodeInput(body["input"], body["continuation_token"]);
  const messages: ChatMessage[] = [];
  const { system_instruction: system, previous_interaction_id: previous } = body;
  if (typeof system === "string" && system !== "") messages.push({ role: "system", content: system });
  if (typeof previous === "string") messages.push(...conversationOf(memory, previous));
  messages.push(...input);
  const request: ChatRequest = { ...body, model, messages };
  if (body["tools"] !== undefined && body["tools"] !== null) {
    request.tools = typedObjects(body["tools"], "tools").map(decodeTool);
  }
  const format = decodeFormat(body);
  if (format !== undefined) request.response_format = format;
  decodeGeneration(body, request);
  return request;
}

/** The messages that the call itself brings. */
function decodeInput(input: unknown, continuation: unknown): ChatMessage[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (isObject(input)) return [{ role: "user", content: contentOf([input], "input") }];
  if (input === undefined || input === null) {
    if (typeof continuation === "string") return [];
    throw invalid("'input' must be given.");
  }
  if (!Array.isArray(input)) throw wrong("input", "a string, an object or an array", input);
  if (input.length === 0) throw invalid("'input' must not be empty.");
  const first = requireObject(input[0], "input[0]");
  if (CONTENT_TYPES.has(first["type"])) return [{ role: "user", content: contentOf(input, "input") }];
  const messages: ChatMessage[] = [];
  typedObjects(input, "input").forEach((step, index) => {
    addStep(step, `input[${index}]`, messages);
  });
  return messages;
}

function decodeTool(tool: JsonObject & { type: string }, index: number): ChatTool {
  if (tool.type !== "function") return tool;
  const { type: _, name, description, parameters, ...others } = tool;
  return functionTool(requireString(tool, "name", `tools[${index}].`), description, parameters, others);
}

/** A format without a schema asks for any JSON; `response_mime_type` is how it was asked for before. */
function decodeFormat(body: JsonObject): ChatRequest["response_format"] {
  const { response_format: given, response_mime_type: mime } = body;
  if (given !== undefined && given !== null && typeof given !== "object")
    throw wrong("response_format", "an object", given);
  const formats = (Array.isArray(given) ? given : [given]).filter(isObject);
  for (const format of formats) {
    if (isObject(format["schema"])) return { type: "json_schema", json_schema: { schema: format["schema"] } };
    if (format["mime_type"] === JSON_TYPE) return { type: "json_object" };
  }
  // A format that is a schema itself, as it was once given.
  const schema = formats.find((format) => format["type"] === "object");
  if (schema !== undefined) return { type: "json_schema", json_schema: { schema } };
  if (mime === JSON_TYPE) return { type: "json_object" };
  const type = formats[0]?.["type"];
  return given === undefined ? undefined : { type: typeof type === "string" ? type : "text" };
}

const JSON_TYPE = "application/json";

function decodeGeneration(body: JsonObject, request: ChatRequest): void {
  const config = body["generation_config"];
  if (config === undefined || config === null) return;
  const given = requireObject(config, "generation_config");
  for (const name of ["temperature", "top_p", "max_output_tokens", "seed"]) {
    checkType(given, name, "number", "generation_config.");
  }
  const { temperature, max_output_tokens: limit, tool_choice: choice } = given;
  if (typeof temperature === "number") request.temperature = temperature;
  if (typeof limit === "number") request.max_tokens = limit;
  if (choice !== undefined) request.tool_choice = choice === "any" ? "required" : choice;
}
