import {
  type ChatMessage,
  type ContentPart,
  joinContent,
  type RequestToolCall,
  textOrParts,
} from "../../chat/request.ts";
import { checkBase64, checkType, requireString, typedObjects } from "../gemini-interactions/check.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

/** What happened in an interaction, in order: inputs, outputs, thoughts, calls and their results. */
export type Step = JsonObject & { type: string };

export const CONTENT_TYPES = new Set<unknown>(["text", "image", "audio", "document", "video"]);

/**
 * Adds a step to the messages that it belongs to. All that a model did between two inputs is one message, as
 * other providers have it.
 * @param path where the step stands, for messages
 * @throws {ApiError} 400
 */
export function addStep(step: Step, path: string, messages: ChatMessage[]): void {
  switch (step.type) {
    case "user_input":
      messages.push({ role: "user", content: contentOf(step["content"], `${path}.content`) });
      return;
    case "function_result":
      messages.push(toolMessage(step, path));
      return;
    case "model_output": {
      const message = assistantMessage(messages);
      message.content = joinContent(message.content, contentOf(step["content"], `${path}.content`));
      return;
    }
    case "function_call": {
      const id = requireString(step, "id", `${path}.`);
      const name = requireString(step, "name", `${path}.`);
      const { arguments: input = {} } = step;
      const text = typeof input === "string" ? input : JSON.stringify(input);
      const message = assistantMessage(messages);
      const call: RequestToolCall = { id, type: "function", function: { name, arguments: text } };
      message.tool_calls = [...(message.tool_calls ?? []), call];
      return;
    }
    default: {
      // Thoughts and what the provider has run itself: there for predicates.
      const message = assistantMessage(messages);
      message["steps"] = [...((message["steps"] as unknown[] | undefined) ?? []), step];
    }
  }
}

function assistantMessage(messages: ChatMessage[]): ChatMessage {
  const last = messages.at(-1);
  if (last?.role === "assistant") return last;
  const message: ChatMessage = { role: "assistant", content: null };
  messages.push(message);
  return message;
}

function toolMessage(step: JsonObject, path: string): ChatMessage {
  const id = requireString(step, "call_id", `${path}.`);
  checkType(step, "name", "string", `${path}.`);
  const { result, name, is_error: failed } = step;
  const message: ChatMessage = { role: "tool", tool_call_id: id, content: resultText(result, `${path}.result`) };
  if (typeof name === "string") message.name = name;
  if (failed !== undefined) message["is_error"] = failed;
  return message;
}

function resultText(result: unknown, path: string): string | ContentPart[] {
  if (typeof result === "string") return result;
  if (result === undefined || result === null) return "";
  const contents = Array.isArray(result) && result.every((part) => isObject(part) && CONTENT_TYPES.has(part["type"]));
  return contents ? contentOf(result, path) : JSON.stringify(result);
}

export function contentOf(content: unknown, path: string): string | ContentPart[] {
  if (typeof content === "string") return content;
  const parts = typedObjects(content, path);
  parts.forEach((part, index) => {
    if (part.type === "text") requireString(part, "text", `${path}[${index}].`);
    else checkBase64(part, "data", `${path}[${index}].`);
  });
  return textOrParts(parts as ContentPart[]);
}
