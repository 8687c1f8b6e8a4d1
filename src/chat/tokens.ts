import type { ChatReply, Part } from "./reply.ts";
import { type ChatRequest, contentText } from "./request.ts";

/** Tokens where nobody counted: characters divided by four, rounded up, at least one. */
export function estimateTokens(characters: number): number {
  return Math.max(1, Math.ceil(characters / 4));
}

/** Estimated prompt tokens of a request: the text of all its messages. */
export function estimatePromptTokens(request: ChatRequest): number {
  let characters = 0;
  for (const message of request.messages) characters += contentText(message.content).length;
  return estimateTokens(characters);
}

/** Estimated completion tokens of a reply, all choices together. */
export function estimateCompletionTokens(reply: ChatReply): number {
  let characters = 0;
  for (const choice of reply.choices) for (const part of choice.parts) characters += partLength(part);
  return estimateTokens(characters);
}

function partLength(part: Part): number {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text.length;
    case "reasoning":
      return part.text.length;
    case "toolCall":
      return part.name.length + part.arguments.length;
    case "webSearch":
      return part.query.length;
    case "media":
    case "opaque":
      return 0;
  }
}
