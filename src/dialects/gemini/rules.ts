import { part } from "../gemini-parts/rules.ts";
import type { Rules } from "../rules.ts";

/**
 * Reads responses of Gemini and Vertex AI, whole and streamed.
 * @see https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export const geminiRules: Rules = {
  rules: [
    {
      when: { error: { exists: true } },
      as: "error",
      fields: { message: "error.message", native: "error" },
    },
    {
      as: "envelope",
      fields: {
        id: "responseId",
        model: "modelVersion",
        native: {
          take: "",
          except: ["candidates", "usageMetadata", "responseId", "modelVersion", "error"],
          op: "merge",
        },
      },
    },
    {
      each: "candidates.*",
      choice: "index",
      rules: [
        { each: "content.parts.*", oneOf: part },
        { as: "choice", fields: { native: { take: "", except: ["content", "finishReason", "index"], op: "merge" } } },
        { as: "finish", fields: { reason: "finishReason" } },
      ],
    },
    {
      when: { "promptFeedback.blockReason": { exists: true }, candidates: { exists: false } },
      as: "finish",
      fields: { reason: "=BLOCKED" },
    },
    // Each chunk of a stream has the counts so far.
    { as: "usage", fields: { raw: "usageMetadata" } },
  ],
  finishReasons: {
    STOP: "stop",
    FINISH_REASON_UNSPECIFIED: "stop",
    MAX_TOKENS: "length",
    FUNCTION_CALL: "tool_calls",
    BLOCKED: "content_filter",
    SAFETY: "content_filter",
    RECITATION: "content_filter",
    BLOCKLIST: "content_filter",
    PROHIBITED_CONTENT: "content_filter",
    SPII: "content_filter",
    MODEL_ARMOR: "content_filter",
    IMAGE_SAFETY: "content_filter",
    IMAGE_PROHIBITED_CONTENT: "content_filter",
    IMAGE_RECITATION: "content_filter",
    LANGUAGE: "error",
    OTHER: "error",
    MALFORMED_FUNCTION_CALL: "error",
    UNEXPECTED_TOOL_CALL: "error",
    TOO_MANY_TOOL_CALLS: "error",
    NO_IMAGE: "error",
    IMAGE_OTHER: "error",
  },
  toolCallsFinish: true,
  usage: {
    promptTokens: ["promptTokenCount", "toolUsePromptTokenCount"],
    completionTokens: ["candidatesTokenCount", "thoughtsTokenCount"],
    totalTokens: "totalTokenCount",
    cachedTokens: "cachedContentTokenCount",
    reasoningTokens: "thoughtsTokenCount",
  },
};
