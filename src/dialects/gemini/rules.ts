import type { Rule, Rules } from "../rules.ts";

/**
 * A part of a candidate's content, whole or a piece of one. What is none of the provider-independent kinds
 * (`executableCode`, `codeExecutionResult`, tools on the provider's side) is carried as it is.
 */
const part: Rule[] = [
  {
    when: { "functionCall.name": { exists: true } },
    rules: [
      {
        as: "toolCall",
        opens: "always",
        fields: {
          id: "functionCall.id",
          name: "functionCall.name",
          arguments: { take: "functionCall.args", via: "json", op: "fallback" },
          signature: "thoughtSignature",
          native: { take: "", except: ["functionCall", "thoughtSignature"], op: "merge" },
        },
      },
      // A call without arguments may leave them out.
      { as: "toolCall", opens: "never", fields: { arguments: { take: "={}", op: "fallback" } } },
    ],
  },
  {
    // More of the call before it.
    when: { functionCall: { exists: true } },
    rules: [
      {
        as: "toolCall",
        opens: "never",
        fields: {
          arguments: { take: "functionCall.partialArgs.*", op: "assign" },
          signature: "thoughtSignature",
        },
      },
      { as: "nothing" },
    ],
  },
  {
    when: { text: { exists: true }, thought: true },
    as: "reasoning",
    fields: {
      text: { take: "text", op: "append" },
      signature: "thoughtSignature",
      native: { take: "", except: ["text", "thought", "thoughtSignature"], op: "merge" },
    },
  },
  {
    when: { text: { exists: true } },
    as: "text",
    fields: {
      text: { take: "text", op: "append" },
      signature: "thoughtSignature",
      annotations: { take: "", except: ["text", "thought", "thoughtSignature"], op: "merge" },
    },
  },
  {
    when: { inlineData: { exists: true } },
    as: "media",
    opens: "always",
    fields: {
      mime: "inlineData.mimeType",
      data: "inlineData.data",
      native: { take: "", except: ["inlineData"], op: "merge" },
    },
  },
  {
    when: { fileData: { exists: true } },
    as: "media",
    opens: "always",
    fields: {
      mime: "fileData.mimeType",
      url: "fileData.fileUri",
      native: { take: "", except: ["fileData"], op: "merge" },
    },
  },
  { as: "opaque", opens: "always", fields: { value: "" } },
];

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
