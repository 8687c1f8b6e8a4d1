import { ERROR_EVENTS } from "../bedrock/errors.ts";
import type { Rule, Rules } from "../rules.ts";

const image: Rule[] = ["png", "jpeg", "gif", "webp"].map((format) => ({
  when: { "image.format": format },
  as: "media",
  fields: { mime: `=image/${format}`, data: { take: "image.source.bytes", op: "append" } },
}));

/** A content block, whole. What is none of the provider-independent kinds is carried as it is. */
const block: Rule[] = [
  { when: { text: { exists: true } }, as: "text", fields: { text: { take: "text", op: "append" } } },
  {
    when: { citationsContent: { exists: true } },
    as: "text",
    fields: {
      text: { take: "citationsContent.content.*.text", op: "append" },
      annotations: { take: "citationsContent.citations", op: "append" },
    },
  },
  {
    when: { reasoningContent: { exists: true } },
    as: "reasoning",
    fields: {
      text: { take: "reasoningContent.reasoningText.text", op: "append" },
      signature: "reasoningContent.reasoningText.signature",
      redacted: "reasoningContent.redactedContent",
    },
  },
  // The provider runs these itself.
  { when: { "toolUse.type": "server_tool_use" }, as: "opaque", fields: { value: "" } },
  {
    when: { toolUse: { exists: true } },
    as: "toolCall",
    fields: {
      id: "toolUse.toolUseId",
      name: "toolUse.name",
      arguments: { take: "toolUse.input", via: "json", op: "append" },
      native: { take: "toolUse", except: ["toolUseId", "name", "input"], op: "merge" },
    },
  },
  ...image,
  { as: "opaque", fields: { value: "" } },
];

/** A content block as it is announced. Texts are not. */
const start: Rule[] = [
  { when: { "toolUse.type": "server_tool_use" }, as: "opaque", fields: { value: "" } },
  {
    when: { toolUse: { exists: true } },
    as: "toolCall",
    fields: {
      id: "toolUse.toolUseId",
      name: "toolUse.name",
      // A call without arguments has one empty piece.
      arguments: { take: "={}", op: "fallback" },
      native: { take: "toolUse", except: ["toolUseId", "name"], op: "merge" },
    },
  },
  { when: { toolResult: { exists: true } }, as: "opaque", fields: { value: "" } },
  ...image,
  { as: "nothing" },
];

const delta: Rule[] = [
  { when: { text: { exists: true } }, as: "text", fields: { text: { take: "text", op: "append" } } },
  {
    when: { citation: { exists: true } },
    as: "text",
    fields: { annotations: { take: "citation", via: "list", op: "append" } },
  },
  {
    when: { reasoningContent: { exists: true } },
    as: "reasoning",
    fields: {
      text: { take: "reasoningContent.text", op: "append" },
      signature: "reasoningContent.signature",
      redacted: "reasoningContent.redactedContent",
    },
  },
  {
    when: { toolUse: { exists: true } },
    rules: [
      { as: "toolCall", opens: "never", fields: { arguments: { take: "toolUse.input", op: "append" } } },
      { as: "opaque", opens: "never", fields: { "value.toolUse.input": { take: "toolUse.input", op: "json" } } },
    ],
  },
  {
    when: { toolResult: { exists: true } },
    as: "opaque",
    opens: "never",
    fields: { "value.toolResult.content": { take: "toolResult", op: "append" } },
  },
  {
    when: { image: { exists: true } },
    as: "media",
    opens: "never",
    fields: { data: { take: "image.source.bytes", op: "append" } },
  },
  // Of a kind that came after these rules.
  { as: "opaque", fields: { value: "" } },
];

const finish: Rule = {
  as: "finish",
  fields: {
    reason: "stopReason",
    stopSequence: ["additionalModelResponseFields.stop_sequence", "additionalModelResponseFields.delta.stop_sequence"],
  },
};

/**
 * Reads replies of Converse: a whole one, or a stream's events, each under its name as in the SDK.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export const converseRules: Rules = {
  rules: [
    {
      when: { output: { exists: true } },
      rules: [
        {
          as: "envelope",
          fields: {
            role: "output.message.role",
            serviceTier: "serviceTier.type",
            native: { take: "", except: ["output", "stopReason", "usage", "serviceTier"], op: "merge" },
          },
        },
        { each: "output.message.content.*", key: ["#"], rules: [{ oneOf: block }, { as: "stop" }] },
        { as: "usage", fields: { raw: { take: "usage", op: "merge" } } },
        finish,
      ],
    },
    { each: "messageStart", as: "envelope", fields: { role: "role" } },
    { each: "contentBlockStart", key: ["contentBlockIndex"], rules: [{ each: "start", oneOf: start }] },
    { each: "contentBlockDelta", key: ["contentBlockIndex"], rules: [{ each: "delta", oneOf: delta }] },
    { each: "contentBlockStop", key: ["contentBlockIndex"], oneOf: [{ as: "stop" }] },
    {
      each: "messageStop",
      rules: [
        {
          as: "envelope",
          fields: { "native.additionalModelResponseFields": { take: "additionalModelResponseFields", op: "merge" } },
        },
        finish,
      ],
    },
    {
      each: "metadata",
      rules: [
        // `p` is filler against eavesdroppers who count bytes.
        {
          as: "envelope",
          fields: {
            serviceTier: "serviceTier.type",
            native: { take: "", except: ["usage", "serviceTier", "p"], op: "merge" },
          },
        },
        { as: "usage", fields: { raw: { take: "usage", op: "merge" } } },
      ],
    },
    { when: { message: { exists: true } }, as: "error", fields: { message: "message", native: "" } },
    ...ERROR_EVENTS.map((each): Rule => ({ each, as: "error", fields: { message: "message", native: "" } })),
  ],
  finishReasons: {
    end_turn: "stop",
    stop_sequence: "stop",
    tool_use: "tool_calls",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    content_filtered: "content_filter",
    guardrail_intervened: "content_filter",
    malformed_model_output: "error",
    malformed_tool_use: "error",
  },
  usage: {
    promptTokens: ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"],
    completionTokens: "outputTokens",
    totalTokens: "totalTokens",
    cachedTokens: "cacheReadInputTokens",
    cacheWriteTokens: "cacheWriteInputTokens",
  },
};
