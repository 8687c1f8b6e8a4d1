import {
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  type ContentPart,
  type RequestToolCall,
  turnMessages,
} from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import {
  invalid,
  listMember,
  member,
  numberMember,
  objectMember,
  type Place,
  stringMember,
} from "../google/members.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";

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

/** The model that the path names, without its collection. */
export function modelOf(raw: RawRequest): string {
  return (raw.params["model"] ?? "").replace(/^models\//, "");
}

function canonical(body: JsonObject, model: string): ChatRequest {
  const messages = new Conversation().decode(body);
  const request: ChatRequest = { ...body, model, messages };
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

interface PendingCall {
  name: string;
  id: string;
}

/** The contents of a request as messages. */
class Conversation {
  readonly #messages: ChatMessage[] = [];
  /** Calls without a result so far. */
  #pending: PendingCall[] = [];
  #calls = 0;

  decode(body: JsonObject): ChatMessage[] {
    const instruction = member(body, "systemInstruction");
    if (instruction !== undefined && instruction !== null) this.#addInstruction(instruction);
    const contents = member(body, "contents");
    if (typeof contents === "string") throw invalid("contents", "an array of Content", contents);
    const list = listMember(body, "contents", () => "contents");
    if (list.length === 0) throw badRequest("* GenerateContentRequest.contents: contents is not specified", "contents");
    list.forEach((content, index) => {
      this.#addContent(content, () => `contents[${index}]`);
    });
    return this.#messages;
  }

  #addInstruction(instruction: unknown): void {
    if (!isObject(instruction)) throw invalid("system_instruction", "an object", instruction);
    const parts = listMember(instruction, "parts", () => "system_instruction.parts");
    parts.forEach((part, index) => {
      checkPart(part, () => `system_instruction.parts[${index}]`);
    });
    const content = contentOf(parts);
    if (content.length > 0) this.#messages.push({ role: "system", content });
  }

  #addContent(content: JsonObject, path: Place): void {
    const role = stringMember(content, "role", () => `${path()}.role`) ?? "user";
    if (!ROLES.has(role)) throw badRequest("Please use a valid role: user, model.", `${path()}.role`);
    const parts = listMember(content, "parts", () => `${path()}.parts`);
    if (parts.length === 0) {
      throw badRequest(
        `* GenerateContentRequest.${path()}.parts: contents.parts must not be empty.`,
        `${path()}.parts`,
      );
    }
    parts.forEach((part, index) => {
      checkPart(part, () => `${path()}.parts[${index}]`);
    });
    if (role === "model") this.#addModelTurn(parts);
    else this.#addUserTurn(parts);
  }

  #addUserTurn(parts: JsonObject[]): void {
    const result = (part: JsonObject): ChatMessage | undefined => {
      const response = member(part, "functionResponse");
      return isObject(response) ? this.#resultOf(response) : undefined;
    };
    const others = (between: JsonObject[]): ChatMessage => ({ role: "user", content: contentOf(between) });
    this.#messages.push(...turnMessages(parts, result, others));
  }

  #resultOf(response: JsonObject): ChatMessage {
    const { name, response: value, parts } = response as { name: string; response?: unknown; parts?: unknown };
    const message: ChatMessage = {
      role: "tool",
      tool_call_id: this.#callOf(name, response["id"] as string | undefined),
      name,
      content: typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
    };
    if (parts !== undefined) message["parts"] = parts;
    return message;
  }

  /** The id of the call that a result is for: the one it names, else the first of that name without a result. */
  #callOf(name: string, id: string | undefined): string {
    const at = this.#pending.findIndex((call) => (id === undefined ? call.name === name : call.id === id));
    const [call] = at < 0 ? [] : this.#pending.splice(at, 1);
    return id ?? call?.id ?? this.#nextId(name);
  }

  #addModelTurn(parts: JsonObject[]): void {
    const calls: RequestToolCall[] = [];
    const thoughts: JsonObject[] = [];
    const others: JsonObject[] = [];
    for (const part of parts) {
      const call = member(part, "functionCall");
      if (isObject(call)) calls.push(this.#toolCall(call, part));
      else if (part["thought"] === true) thoughts.push(part);
      else others.push(part);
    }
    const message: ChatMessage = { role: "assistant", content: others.length > 0 ? contentOf(others) : null };
    if (thoughts.length > 0) message["thinking_blocks"] = thoughts;
    if (calls.length > 0) message.tool_calls = calls;
    this.#pending = calls.map(({ id, function: { name } }) => ({ id: id as string, name }));
    this.#messages.push(message);
  }

  /** The signature stands where Google's OpenAI endpoint has it. */
  #toolCall(call: JsonObject, part: JsonObject): RequestToolCall {
    const { id, name, args } = call as { id?: string; name: string; args?: unknown };
    const signature = member(part, "thoughtSignature");
    return {
      id: id ?? this.#nextId(name),
      type: "function",
      function: { name, arguments: JSON.stringify(args ?? {}) },
      ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
    };
  }

  /** Most calls have no id on the wire; here they are told apart by their place in the conversation. */
  #nextId(name: string): string {
    this.#calls++;
    return `call_${name}_${this.#calls}`;
  }
}

const ROLES = new Set(["user", "model", "function"]);

/** What a part cannot be without. A kind that is not known is let through. */
function checkPart(part: JsonObject, path: Place): void {
  const { text } = part;
  if (text !== undefined && text !== null && typeof text !== "string")
    throw invalid(`${path()}.text`, "TYPE_STRING", text);
  const data = objectMember(part, "inlineData", () => `${path()}.inline_data`);
  if (data !== undefined) checkData(data, () => `${path()}.inline_data`);
  checkFunction(
    objectMember(part, "functionCall", () => `${path()}.function_call`),
    () => `${path()}.function_call`,
  );
  checkFunction(
    objectMember(part, "functionResponse", () => `${path()}.function_response`),
    () => `${path()}.function_response`,
  );
  for (const _ in part) return;
  throw badRequest(
    `* GenerateContentRequest.${path()}.data: required oneof field 'data' must have one initialized field`,
  );
}

function checkData(data: JsonObject, path: Place): void {
  stringMember(data, "mimeType", () => `${path()}.mime_type`);
  const bytes = stringMember(data, "data", () => `${path()}.data`);
  if (bytes !== undefined && !BASE64.test(bytes)) {
    throw badRequest(
      `Invalid value at '${path()}.data' (TYPE_BYTES), Base64 decoding failed for "${bytes.slice(0, 80)}"`,
      `${path()}.data`,
    );
  }
}

/** Both alphabets, with or without padding. */
const BASE64 = /^[\w+/-]*={0,2}$/;

function checkFunction(called: JsonObject | undefined, path: Place): void {
  if (called === undefined) return;
  stringMember(called, "id", () => `${path()}.id`);
  if (!stringMember(called, "name", () => `${path()}.name`)) {
    throw badRequest(`* GenerateContentRequest.${path()}.name: Name cannot be empty.`, `${path()}.name`);
  }
}

/** Parts that are all text are one string, as most clients of other providers send it. Others have their kind as type. */
function contentOf(parts: JsonObject[]): string | ContentPart[] {
  let text = "";
  for (const part of parts) {
    if (typeof part["text"] !== "string") return parts.map((each) => ({ ...each, type: kindOfPart(each) }));
    text += part["text"];
  }
  return text;
}

function kindOfPart(part: JsonObject): string {
  if (typeof part["text"] === "string") return "text";
  return KINDS.find((kind) => member(part, kind) !== undefined) ?? Object.keys(part)[0] ?? "text";
}

const KINDS = ["inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"];
