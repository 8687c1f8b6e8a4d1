import {
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  type ContentPart,
  functionTool,
  modelMessage,
  type RequestToolCall,
  textOrParts,
  turnMessages,
} from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import { invalid, may, need, needBase64 } from "../bedrock/check.ts";
import { actionOf, modelOf } from "../bedrock/path.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";

/**
 * Decodes `POST /model/{id}/converse` and `/converse-stream`.
 * @throws {ApiError} 400
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function decodeConverseRequest(raw: RawRequest): ChatRequest {
  return decodeConverse(jsonObject(raw), modelOf(raw), actionOf(raw) === "converse-stream");
}

/**
 * Decodes a body in the form of Converse, which Nova models take through InvokeModel too.
 * @throws {ApiError} 400
 */
export function decodeConverse(body: JsonObject, model: string, stream: boolean): ChatRequest {
  const { system, messages, inferenceConfig, toolConfig, outputConfig, ...others } = body;
  const request: ChatRequest = { ...others, model, messages: [], stream };
  decodeSystem(system, request.messages);
  // A stored prompt, named by its ARN, brings its messages along.
  const given = model.includes(":prompt/")
    ? (may("list", messages, "messages") ?? [])
    : need("list", messages, "messages");
  if (given.length === 0 && messages !== undefined) {
    throw badRequest(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  given.forEach((message, index) => {
    decodeMessage(message, index, request.messages);
  });
  const inference = may("object", inferenceConfig, "inferenceConfig");
  if (inference !== undefined) decodeInference(inference, request);
  const tools = may("object", toolConfig, "toolConfig");
  if (tools !== undefined) decodeTools(tools, request);
  const output = may("object", outputConfig, "outputConfig");
  const format = output && may("object", output["textFormat"], "outputConfig.textFormat");
  if (format !== undefined) request.response_format = decodeFormat(format);
  const paths = "additionalModelResponseFieldPaths";
  for (const [index, path] of (may("list", body[paths], paths) ?? []).entries()) {
    need("string", path, `${paths}.${index + 1}.member`);
  }
  return request;
}

function decodeSystem(system: unknown, decoded: ChatMessage[]): void {
  const blocks = (may("list", system, "system") ?? []).map((block, index) =>
    need("object", block, `system.${index + 1}.member`),
  );
  const content = contentOf(blocks, "system");
  if (content.length > 0) decoded.push({ role: "system", content });
}

function decodeMessage(message: unknown, index: number, decoded: ChatMessage[]): void {
  const place = `messages.${index + 1}.member`;
  const { role, content } = need("object", message, place);
  if (need("string", role, `${place}.role`) !== "user" && role !== "assistant" && role !== "system") {
    throw invalid(`${place}.role`, `'${role}'`, "Member must satisfy enum value set: [user, assistant, system]");
  }
  const blocks = need("list", content, `${place}.content`).map((block, at) =>
    need("object", block, `${place}.content.${at + 1}.member`),
  );
  if (blocks.length === 0) {
    throw badRequest(
      `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  }
  if (role === "assistant") decoded.push(assistantMessage(blocks, `${place}.content`));
  else decoded.push(...userMessages(role as string, blocks, `${place}.content`));
}

function assistantMessage(blocks: JsonObject[], place: string): ChatMessage {
  return modelMessage(
    blocks,
    ({ toolUse, reasoningContent }, index) => {
      const at = `${place}.${index + 1}.member`;
      if (isObject(toolUse)) return toolCall(toolUse, `${at}.toolUse`);
      if (!isObject(reasoningContent)) return "said";
      const { redactedContent } = reasoningContent;
      if (redactedContent !== undefined) needBase64(redactedContent, `${at}.reasoningContent.redactedContent`);
      return "thought";
    },
    (said) => contentOf(said, place),
    "reasoning_blocks",
  );
}

function toolCall({ toolUseId, name, input }: JsonObject, place: string): RequestToolCall {
  const id = need("string", toolUseId, `${place}.toolUseId`);
  const called = need("string", name, `${place}.name`);
  if (input === undefined) throw invalid(`${place}.input`, "null", "Member must not be null");
  return { id, type: "function", function: { name: called, arguments: JSON.stringify(input) } };
}

function userMessages(role: string, blocks: JsonObject[], place: string): ChatMessage[] {
  return turnMessages(
    blocks,
    ({ toolResult }, index) =>
      toolResult === undefined ? undefined : toolMessage(toolResult, `${place}.${index + 1}.member.toolResult`),
    (others) => {
      const content = contentOf(others, place);
      // A cache point beside tool results is nothing that a user says.
      return others.every((block) => "cachePoint" in block) ? undefined : { role, content };
    },
  );
}

function toolMessage(toolResult: unknown, place: string): ChatMessage {
  const { toolUseId, content, status } = need("object", toolResult, place);
  const blocks = need("list", content, `${place}.content`).map((block, at) =>
    need("object", block, `${place}.content.${at + 1}.member`),
  );
  const message: ChatMessage = {
    role: "tool",
    tool_call_id: need("string", toolUseId, `${place}.toolUseId`),
    content: contentOf(blocks, `${place}.content`),
  };
  if (status === "error") message["is_error"] = true;
  return message;
}

function contentOf(blocks: JsonObject[], place: string): string | ContentPart[] {
  return textOrParts(blocks.flatMap((block, index) => partsOf(block, `${place}.${index + 1}.member`)));
}

/** A block's kind is the name of its one member. */
function partsOf(block: JsonObject, place: string): ContentPart[] {
  const { text, json, guardContent, citationsContent, cachePoint } = block;
  if (text !== undefined) return [{ type: "text", text: need("string", text, `${place}.text`) }];
  if (json !== undefined) return [{ type: "json", json, text: JSON.stringify(json) }];
  if (cachePoint !== undefined) return [];
  if (isObject(guardContent) && isObject(guardContent["text"]) && typeof guardContent["text"]["text"] === "string") {
    return [{ type: "text", text: guardContent["text"]["text"], guardContent }];
  }
  if (isObject(citationsContent) && Array.isArray(citationsContent["content"])) {
    return citationsContent["content"].filter(isObject).map(({ text: cited }) => ({
      type: "text",
      text: may("string", cited, `${place}.citationsContent.content`) ?? "",
    }));
  }
  for (const name of ["image", "document", "video", "audio"]) {
    const media = block[name];
    if (media === undefined) continue;
    const { source } = need("object", media, `${place}.${name}`);
    if (isObject(source) && source["bytes"] !== undefined) needBase64(source["bytes"], `${place}.${name}.source.bytes`);
  }
  return [{ ...block, type: Object.keys(block)[0] ?? "unknown" }];
}

function decodeInference(inference: JsonObject, request: ChatRequest): void {
  const place = "inferenceConfig";
  // `max_new_tokens` is how the Nova models have it.
  const most = may("number", inference["maxTokens"] ?? inference["max_new_tokens"], `${place}.maxTokens`);
  const temperature = may("number", inference["temperature"], `${place}.temperature`);
  const topP = may("number", inference["topP"], `${place}.topP`);
  const stop = may("list", inference["stopSequences"], `${place}.stopSequences`);
  if (most !== undefined && most < 1) {
    throw invalid(`${place}.maxTokens`, `'${most}'`, "Member must have value greater than or equal to 1");
  }
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 1)) {
    throw invalid(`${place}.temperature`, `'${temperature}'`, "Member must have value between 0 and 1");
  }
  if (most !== undefined) request.max_tokens = most;
  if (temperature !== undefined) request.temperature = temperature;
  if (topP !== undefined) request["top_p"] = topP;
  if (stop !== undefined) request["stop"] = stop;
}

function decodeTools(config: JsonObject, request: ChatRequest): void {
  const { tools, toolChoice } = config;
  request.tools = need("list", tools, "toolConfig.tools").flatMap((tool, index) =>
    decodeTool(tool, `toolConfig.tools.${index + 1}.member`),
  );
  const choice = may("object", toolChoice, "toolConfig.toolChoice");
  if (choice === undefined) return;
  if (isObject(choice["tool"])) {
    const name = need("string", choice["tool"]["name"], "toolConfig.toolChoice.tool.name");
    request.tool_choice = { type: "function", function: { name } };
  } else if (choice["any"] !== undefined) request.tool_choice = "required";
  else request.tool_choice = "auto";
}

function decodeTool(tool: unknown, place: string): ChatTool[] {
  const { toolSpec, systemTool, cachePoint } = need("object", tool, place);
  if (cachePoint !== undefined) return [];
  if (isObject(systemTool)) return [{ ...systemTool, type: "system_tool" }];
  const { name, description, inputSchema, ...others } = need("object", toolSpec, `${place}.toolSpec`);
  const { json } = need("object", inputSchema, `${place}.toolSpec.inputSchema`);
  return [functionTool(need("string", name, `${place}.toolSpec.name`), description, json, others)];
}

function decodeFormat(format: JsonObject): NonNullable<ChatRequest["response_format"]> {
  const structure = may("object", format["structure"], "outputConfig.textFormat.structure");
  const given = structure && may("object", structure["jsonSchema"], "outputConfig.textFormat.structure.jsonSchema");
  if (given === undefined) return { type: "json_object" };
  const { schema, ...rest } = given;
  const text = need("string", schema, "outputConfig.textFormat.structure.jsonSchema.schema");
  try {
    return { type: "json_schema", json_schema: { ...rest, schema: JSON.parse(text) } };
  } catch (error) {
    throw badRequest(`outputConfig.textFormat.structure.jsonSchema.schema: it is no JSON: ${(error as Error).message}`);
  }
}
