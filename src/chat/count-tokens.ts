import { type ChatRequest, messageText } from "./request.ts";
import { estimateTokens } from "./tokens.ts";

export interface TokenCount {
  tokens: number;
}

/** Estimated tokens of all text in a request: its messages, the calls in them, and the tools it offers. */
export function countTokens(request: ChatRequest): TokenCount {
  let characters = request.tools === undefined ? 0 : JSON.stringify(request.tools).length;
  for (const message of request.messages) {
    characters += messageText(message).length;
    for (const call of message.tool_calls ?? [])
      characters += call.function.name.length + call.function.arguments.length;
  }
  return { tokens: estimateTokens(characters) };
}
