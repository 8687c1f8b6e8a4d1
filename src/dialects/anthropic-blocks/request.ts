import {
  type ChatMessage,
  type ContentPart,
  modelMessage,
  type RequestToolCall,
  textOrParts,
  turnMessages,
} from "../../chat/request.ts";
import { wrong } from "../anthropic/check.ts";
import { type ApiError, badRequest } from "../api-error.ts";
import type { JsonObject } from "../raw-request.ts";
import { checkBlocks, checkPrompt } from "./check.ts";

/**
 * The messages that the blocks of one message are: results of tools are messages of their own.
 * @param index of the message among those of the request
 * @throws {ApiError} 400
 */
export function turnOf(role: string, content: unknown[], index: number): ChatMessage[] {
  const blocks = checkPrompt(content, () => `messages.${index}.content`);
  return role === "assistant" ? [assistantMessage(blocks, index)] : userMessages(role, blocks, index);
}

/** What is left of a message that held nothing else than tool results is no message, or the turn would seem to be the user's. */
function userMessages(role: string, blocks: JsonObject[], index: number): ChatMessage[] {
  const result = (block: JsonObject, at: number): ChatMessage | undefined => {
    const { type } = block;
    if (type === "tool_use") throw misplaced(index, type, "assistant");
    if (type !== "tool_result") return undefined;
    if (role !== "user") throw misplaced(index, type, "user");
    return toolMessage(block, index, at);
  };
  return turnMessages(blocks, result, (others) => ({ role, content: contentOf(others) }));
}

function toolMessage(block: JsonObject, index: number, at: number): ChatMessage {
  const { tool_use_id: id, content, is_error: failed } = block;
  const message: ChatMessage = { role: "tool", tool_call_id: id as string, content: "" };
  if (typeof content === "string") {
    message.content = content;
  } else if (content !== undefined && content !== null) {
    const path = (): string => `messages.${index}.content.${at}.tool_result.content`;
    if (!Array.isArray(content)) throw wrong(path(), "list", content);
    message.content = contentOf(checkBlocks(content, path));
  }
  if (failed !== undefined) message["is_error"] = failed;
  return message;
}

function assistantMessage(blocks: JsonObject[], index: number): ChatMessage {
  const sort = (block: JsonObject): RequestToolCall | "thought" | "said" => {
    switch (block["type"]) {
      case "tool_result":
        throw misplaced(index, "tool_result", "user");
      case "tool_use": {
        const { id, name, input } = block as { id: string; name: string; input: JsonObject };
        return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
      }
      case "thinking":
      case "redacted_thinking":
        return "thought";
      default:
        return "said";
    }
  };
  return modelMessage(blocks, sort, contentOf, "thinking_blocks");
}

export function contentOf(blocks: JsonObject[]): string | ContentPart[] {
  return textOrParts(blocks as unknown as ContentPart[]);
}

function misplaced(index: number, type: string, role: string): ApiError {
  return badRequest(`messages.${index}: \`${type}\` blocks can only be in \`${role}\` messages`);
}
