import { type ChatMessage, type ContentPart, joinContent, type RequestToolCall } from "../../chat/request.ts";
import { ApiError } from "../api-error.ts";
import { checkBase64, checkDataUrl, invalidType, missing } from "../openai-chat/check.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

const ROLES = new Set(["user", "assistant", "system", "developer"]);
/** What the caller hands in for a call of the model's. */
const OUTPUT = /_call_output$|^tool_search_output$/;

/**
 * What each kind of item cannot be without. A kind that is not listed is let through: there are new ones every
 * month.
 */
const MEMBERS = new Map([
  ["function_call", ["call_id", "name", "arguments"]],
  ["custom_tool_call", ["call_id", "name", "input"]],
  ["function_call_output", ["call_id"]],
  ["custom_tool_call_output", ["call_id"]],
  ["item_reference", ["id"]],
]);

/**
 * The items of a request's `input`, checked; a string is what the user says.
 * @throws {ApiError} 400 with `param` naming the place
 */
export function checkItems(input: unknown, param: string): JsonObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (!Array.isArray(input)) throw invalidType(param, "a string or an array of items", input);
  for (let index = 0; index < input.length; index++) checkItem(input[index], `${param}[${index}]`);
  return input as JsonObject[];
}

function checkItem(item: unknown, path: string): void {
  if (!isObject(item)) throw invalidType(path, "an object", item);
  const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
  if (type === undefined) throw missing(`${path}.type`);
  if (typeof type !== "string") throw invalidType(`${path}.type`, "a string", type);
  for (const name of MEMBERS.get(type) ?? []) {
    if (item[name] === undefined) throw missing(`${path}.${name}`);
    if (typeof item[name] !== "string") throw invalidType(`${path}.${name}`, "a string", item[name]);
  }
  if (type === "message") checkMessage(item, path);
  else if (OUTPUT.test(type)) checkOutput(item["output"], `${path}.output`, MEMBERS.has(type));
}

function checkMessage({ role, content }: JsonObject, path: string): void {
  if (role === undefined) throw missing(`${path}.role`);
  if (typeof role !== "string") throw invalidType(`${path}.role`, "a string", role);
  if (!ROLES.has(role)) {
    throw new ApiError({
      status: 400,
      message: `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      param: `${path}.role`,
      code: "invalid_value",
    });
  }
  if (content === undefined) throw missing(`${path}.content`);
  checkContent(content, `${path}.content`);
}

function checkOutput(output: unknown, path: string, required: boolean): void {
  if (output === undefined && required) throw missing(path);
  if (required) checkContent(output, path);
}

function checkContent(content: unknown, path: string): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalidType(path, "a string or an array of content parts", content);
  for (let index = 0; index < content.length; index++) {
    const part: unknown = content[index];
    const here = `${path}[${index}]`;
    if (!isObject(part)) throw invalidType(here, "an object", part);
    const { type, text } = part;
    if (typeof type !== "string")
      throw type === undefined ? missing(`${here}.type`) : invalidType(`${here}.type`, "a string", type);
    if ((type === "input_text" || type === "output_text") && typeof text !== "string") {
      throw text === undefined ? missing(`${here}.text`) : invalidType(`${here}.text`, "a string", text);
    }
    checkDataUrl(part["image_url"], `${here}.image_url`);
    checkBase64(part["file_data"], `${here}.file_data`);
    if (isObject(part["input_audio"])) checkBase64(part["input_audio"]["data"], `${here}.input_audio.data`);
  }
}

/**
 * Items as the messages of a conversation. What the model gave in one turn (reasoning, texts, calls, searches)
 * is one assistant message; each output handed in for a call is a tool message.
 * @param find the item that a reference names, if it is remembered
 */
export function messagesOf(items: readonly JsonObject[], find: (id: string) => JsonObject | undefined): ChatMessage[] {
  const conversation = new Conversation();
  for (const given of items) {
    const item = given["type"] === "item_reference" ? (find(String(given["id"])) ?? given) : given;
    const type = (item["type"] as string | undefined) ?? "message";
    if (type === "message" && item["role"] !== "assistant") conversation.say(item);
    else if (OUTPUT.test(type)) conversation.handIn(item);
    else if (!ASIDE.has(type)) conversation.answer(type, item);
  }
  return conversation.messages;
}

/** Neither the model's nor the user's turn. */
const ASIDE = new Set([
  "additional_tools",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "mcp_approval_response",
]);

class Conversation {
  readonly messages: ChatMessage[] = [];
  readonly #calls = new Set<string>();
  /** The model's last turn, as long as nobody has said anything after it. */
  #turn: ChatMessage | undefined;

  say({ role, content }: JsonObject): void {
    this.#turn = undefined;
    this.messages.push({ role: role === "developer" ? "system" : (role as string), content: contentOf(content) });
  }

  answer(type: string, item: JsonObject): void {
    // After the output of a call the model's next turn begins.
    if (this.messages.at(-1)?.role !== "assistant") this.#turn = undefined;
    const turn = this.#openTurn();
    switch (type) {
      case "message":
        turn.content = joinContent(turn.content, contentOf(item["content"]));
        break;
      case "function_call":
      case "custom_tool_call": {
        const { name, call_id: id, arguments: input = item["input"] } = item;
        this.#addCall(turn, id as string, name as string, input as string);
        break;
      }
    }
  }

  /** The call may be known by a reference only, or not at all: there was a turn in which it was made. */
  handIn({ call_id: id, output }: JsonObject): void {
    const turn = this.#openTurn();
    const content =
      typeof output === "string" || Array.isArray(output) ? contentOf(output) : JSON.stringify(output ?? "");
    if (typeof id !== "string") {
      this.messages.push({ role: "tool", content });
      return;
    }
    if (!this.#calls.has(id)) this.#addCall(turn, id, "", "");
    this.messages.push({ role: "tool", tool_call_id: id, content });
  }

  #openTurn(): ChatMessage {
    if (this.#turn === undefined) {
      this.#turn = { role: "assistant", content: null };
      this.messages.push(this.#turn);
    }
    return this.#turn;
  }

  #addCall(turn: ChatMessage, id: string, name: string, input: string): void {
    this.#calls.add(id);
    const call: RequestToolCall = { id, type: "function", function: { name, arguments: input } };
    if (turn.tool_calls === undefined) turn.tool_calls = [call];
    else turn.tool_calls.push(call);
  }
}

/** Texts alone are one string. */
function contentOf(content: unknown): string | ContentPart[] {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  let text = "";
  for (const part of content) {
    if (!isObject(part) || typeof part["text"] !== "string") return content.filter(isObject).map(decodePart);
    text += part["text"];
  }
  return text;
}

function decodePart(part: JsonObject): ContentPart {
  const { type, ...rest } = part;
  switch (type) {
    case "input_text":
    case "output_text":
      return { ...rest, type: "text" };
    case "input_image": {
      const { image_url: url, detail, ...others } = rest;
      return { ...others, type: "image_url", image_url: { url, ...(detail !== undefined && { detail }) } };
    }
    case "input_file":
      return { type: "file", file: rest };
    default:
      return part as unknown as ContentPart;
  }
}
