import { type ChatReply, type Choice, choiceText, wantedChoices } from "../../chat/reply.ts";
import { encodeUsage, finishReason, tail } from "../openai-chat/response.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

export interface CompletionVariant extends Record<string, unknown> {
  /** Prompts times `n`. */
  choices: number;
  usage: boolean;
}

/** @see https://platform.openai.com/docs/api-reference/completions/object */
export function encodeCompletionResponse(reply: ChatReply, context: EncodeContext<CompletionVariant>): JsonObject {
  return {
    ...completionHead(reply, context),
    choices: wantedChoices(reply, context.variant.choices).map((choice, index) =>
      completionChoice(choiceText(choice), index, choice),
    ),
    usage: encodeUsage(reply, context),
    ...tail(reply, context),
  };
}

export function completionHead(reply: ChatReply, context: EncodeContext): JsonObject {
  const { envelope } = reply;
  return {
    id: envelope?.id ?? context.id("cmpl-"),
    object: "text_completion",
    created: envelope?.created ?? context.created,
    model: envelope?.model ?? context.model,
  };
}

/** @param ended the choice whose finish reason is told; a piece in the middle of a stream has none */
export function completionChoice(text: string, index: number, ended?: Choice): JsonObject {
  return { text, index, logprobs: null, finish_reason: ended === undefined ? null : finishReason(ended.finish) };
}
