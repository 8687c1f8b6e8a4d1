import type { ChatRequest, ChatTool } from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import { messagesOf } from "../gemini-parts/request.ts";
import { listMember, member, numberMember, objectMember, stringMember } from "../google/members.ts";
import { modelOf } from "../google/routes.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";

/**
 * Decodes `…/models/{model}:generateContent` and `:streamGenerateContent`. What the canonical form has no place for
 * (`generationConfig.thinkingConfig`, `safetySettings` …) stays where it is in the body.
 * @throws {ApiError} 400
 * @see https://ai.google.dev/api/generate-content
 */
export function decodeGenerateRequest(raw: RawRequest): ChatRequest {
  const request = canonical(jsonObject(raw), modelOf(raw));
  request.stream = raw.path.endsWith("streamGenerateContent");
  // Streams are server-sent events only where the query asks for them.
  if (request.stream && raw.query.get("alt") === "sse") request["alt"] = "sse";
  return request;
}

/**
 * Decodes `…/models/{model}:countTokens`, whose body has the contents, or a whole request around them.
 * @throws {ApiError} 400
 * @see https://ai.google.dev/api/tokens
 */
export function decodeCountTokensRequest(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  return canonical(
    objectMember(body, "generateContentRequest", () => "generate_content_request") ?? body,
    modelOf(raw),
  );
}

function canonical(body: JsonObject, model: string): ChatRequest {
  const request: ChatRequest = { ...body, model, messages: messagesOf(body) };
  const tools = listMember(body, "tools", () => "tools").flatMap(decodeTool);
  if (tools.length > 0) request.tools = tools;
  const choice = decodeToolChoice(body);
  if (choice !== undefined) request.tool_choice = choice;
  addConfiguration(request, body);
  return request;
}

function addConfiguration(request: ChatRequest, body: JsonObject): void {
  const config = objectMember(body, "generationConfig", () => "generation_config");
  if (config === undefined) return;
  const number = (name: string): number | undefined => numberMember(config, name, () => `generation_config.${name}`);
  const temperature = number("temperature");
  const limit = number("maxOutputTokens");
  const candidates = number("candidateCount");
  if (temperature !== undefined) {
    if (temperature < 0 || temperature > 2) throw outOfRange("temperature", "[0.0, 2.0]", temperature);
    request.temperature = temperature;
  }
  if (limit !== undefined) request.max_tokens = limit;
  if (candidates !== undefined) {
    if (!Number.isInteger(candidates) || candidates < 1 || candidates > 8) {
      throw outOfRange("candidate_count", "[1, 8]", candidates);
    }
    request["n"] = candidates;
  }
  const format = decodeFormat(config);
  if (format !== undefined) request.response_format = format;
}

function outOfRange(name: string, range: string, value: number): Error {
  return badRequest(
    `* GenerateContentRequest.generation_config.${name}: ${name} must be in the range ${range}, got ${value}`,
  );
}

function decodeFormat(config: JsonObject): ChatRequest["response_format"] {
  const type = stringMember(config, "responseMimeType", () => "generation_config.response_mime_type");
  if (type !== "application/json") return undefined;
  const schema = member(config, "responseJsonSchema") ?? member(config, "responseSchema");
  return schema === undefined || schema === null
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: { schema } };
}

/** The provider's own tools (`googleSearch`, `codeExecution` …) are tools of that type. */
function decodeTool(tool: JsonObject, index: number): ChatTool[] {
  const own = Object.entries(tool).filter(
    ([name]) => name !== "functionDeclarations" && name !== "function_declarations",
  );
  const path = () => `tools[${index}].function_declarations`;
  const functions = listMember(tool, "functionDeclarations", path).map((declaration, at): ChatTool => {
    const name = stringMember(declaration, "name", () => `${path()}[${at}].name`);
    if (name === undefined || name === "") {
      throw badRequest(`* GenerateContentRequest.${path()}[${at}].name: Function name cannot be empty.`);
    }
    const parameters = member(declaration, "parametersJsonSchema") ?? declaration["parameters"];
    return { type: "function", function: { ...declaration, name, ...(parameters !== undefined && { parameters }) } };
  });
  return [...functions, ...own.map(([type, value]): ChatTool => ({ type, [type]: value }))];
}

function decodeToolChoice(body: JsonObject): unknown {
  const config = objectMember(body, "toolConfig", () => "tool_config");
  const calling = config && objectMember(config, "functionCallingConfig", () => "tool_config.function_calling_config");
  if (calling === undefined) return undefined;
  const mode = stringMember(calling, "mode", () => "tool_config.function_calling_config.mode");
  const names = member(calling, "allowedFunctionNames");
  switch (mode) {
    case "ANY":
      return Array.isArray(names) && names.length === 1
        ? { type: "function", function: { name: names[0] } }
        : "required";
    case "NONE":
      return "none";
    case undefined:
      return undefined;
    default:
      return "auto";
  }
}
