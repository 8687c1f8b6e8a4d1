import type { ChatReply } from "../chat/reply.ts";
import type { ChatRequest } from "../chat/request.ts";
import { estimateCompletionTokens, estimatePromptTokens } from "../chat/tokens.ts";
import type { EncodeContext } from "./operation.ts";

export interface TokenCounts {
  prompt: number;
  /** Those of the prompt that no cache held or was given. */
  uncached: number;
  completion: number;
  total: number;
}

/** How many tokens a reply has taken: as its tape says, and estimated where it does not. */
export function tokenCounts(reply: ChatReply, context: EncodeContext): TokenCounts {
  const { promptTokens, completionTokens, totalTokens, cachedTokens = 0, cacheWriteTokens = 0 } = reply.usage ?? {};
  const completion = completionTokens ?? estimateCompletionTokens(reply);
  if (promptTokens !== undefined) {
    return {
      prompt: promptTokens,
      uncached: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
      completion,
      total: totalTokens ?? promptTokens + completion,
    };
  }
  const estimated = (more: number): number =>
    context.echo((call) => estimatePromptTokens(call.request as ChatRequest) + more);
  const prompt = estimated(0);
  return { prompt, uncached: prompt, completion, total: totalTokens ?? estimated(completion) };
}
