import {
  type ChatMessage,
  type ContentPart,
  modelMessage,
  type RequestToolCall,
  turnMessages,
} from "../../chat/request.ts";
import { badRequest } from "../api-error.ts";
import { invalid, listMember, member, type Place, stringMember } from "../google/members.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { checkedParts } from "./check.ts";

interface PendingCall {
  name: string;
  id: string;
}

/**
 * The contents of a request as messages.
 * @throws {ApiError} 400
 */
export function messagesOf(body: JsonObject): ChatMessage[] {
  return new Conversation().decode(body);
}

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
    const content = contentOf(checkedParts(instruction, () => "system_instruction"));
    if (content.length > 0) this.#messages.push({ role: "system", content });
  }

  #addContent(content: JsonObject, path: Place): void {
    const role = stringMember(content, "role", () => `${path()}.role`) ?? "user";
    if (!ROLES.has(role)) throw badRequest("Please use a valid role: user, model.", `${path()}.role`);
    const parts = checkedParts(content, path);
    if (parts.length === 0) {
      throw badRequest(
        `* GenerateContentRequest.${path()}.parts: contents.parts must not be empty.`,
        `${path()}.parts`,
      );
    }
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
    const sort = (part: JsonObject): RequestToolCall | "thought" | "said" => {
      const call = member(part, "functionCall");
      if (isObject(call)) return this.#toolCall(call, part);
      return part["thought"] === true ? "thought" : "said";
    };
    const message = modelMessage(parts, sort, contentOf, "thinking_blocks");
    this.#pending = (message.tool_calls ?? []).map(({ id, function: { name } }) => ({ id: id as string, name }));
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
