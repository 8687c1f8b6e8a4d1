import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  partsOf,
  type ReasoningPart,
  reasoningText,
  type ToolCallPart,
} from "../../chat/reply.ts";
import type { ContentBlock } from "../content-block.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const ANTHROPIC = "anthropic";

export function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, ANTHROPIC);
}

export function encodeBlocks(reply: ChatReply, context: EncodeContext): ContentBlock[] {
  return partsOf(reply).flatMap((part) => encodePart(part, context));
}

function encodePart(part: Part, context: EncodeContext): ContentBlock[] {
  switch (part.type) {
    case "text": {
      const citations = nativeOf(part.annotations, ANTHROPIC);
      return [{ value: { type: "text", text: part.text, ...(citations !== undefined && { citations }) } }];
    }
    case "reasoning":
      return encodeReasoning(part);
    case "toolCall":
      return [encodeToolUse(part, context)];
    case "webSearch": {
      const id = context.id("srvtoolu_");
      const input = { query: part.query };
      return [
        inputBlock({ type: "server_tool_use", id, name: "web_search", input, caller: DIRECT }),
        { value: { type: "web_search_tool_result", tool_use_id: id, content: [], caller: DIRECT } },
      ];
    }
    case "opaque": {
      const { dialect, value } = part;
      if (dialect !== ANTHROPIC || !isObject(value)) return [];
      return [isObject(value["input"]) ? inputBlock(value) : { value }];
    }
    // The text of a refusal is in `stop_details`; media this API does not send.
    case "refusal":
    case "media":
      return [];
  }
}

const DIRECT = { type: "direct" };

function inputBlock(value: JsonObject): ContentBlock {
  return { value, input: JSON.stringify(value["input"]) };
}

function encodeReasoning(part: ReasoningPart): ContentBlock[] {
  if (part.redacted !== undefined) return [{ value: { type: "redacted_thinking", data: part.redacted } }];
  const thinking = reasoningText(part);
  if (thinking === undefined) return [];
  return [{ value: { type: "thinking", thinking, signature: part.signature ?? "", ...members(part.native) } }];
}

function encodeToolUse(part: ToolCallPart, context: EncodeContext): ContentBlock {
  const value = {
    type: "tool_use",
    id: part.id ?? context.id("toolu_"),
    name: part.name,
    input: parseArguments(part.arguments),
    caller: DIRECT,
    ...members(part.native),
  };
  return { value, input: part.arguments };
}
