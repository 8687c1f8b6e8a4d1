import type { Rule, Rules } from "../rules.ts";

const text: Rule = { as: "text", fields: { text: { take: "text", op: "append" } } };
const thinking: Rule = { as: "reasoning", fields: { text: { take: "thinking", op: "append" } } };

/** A part of the content, whole or as it begins. */
const content: Rule[] = [
  { ...thinking, when: { type: "thinking" } },
  { ...text, when: { type: "text" } },
  { as: "opaque", fields: { value: "" } },
];

/** What the model means to do with its tools. */
const plan: Rule = {
  key: ["=plan"],
  as: "reasoning",
  fields: { text: { take: "", op: "append" }, "native.type": "=tool_plan" },
};

const toolCall: Rule = {
  as: "toolCall",
  fields: { id: "id", name: "function.name", arguments: { take: "function.arguments", op: "append" } },
};

const end = (at: string): Rule[] => [
  { as: "usage", fields: { raw: { take: `${at}usage`, op: "merge" } } },
  { as: "finish", fields: { reason: `${at}finish_reason` } },
];

/**
 * Reads replies of Cohere's second version, whole and streamed.
 * @see https://docs.cohere.com/v2/reference/chat
 * @see https://docs.cohere.com/v2/docs/streaming
 */
export const cohereRules: Rules = {
  rules: [
    {
      when: { "message.role": { exists: true } },
      rules: [
        {
          as: "envelope",
          fields: {
            id: "id",
            role: "message.role",
            native: { take: "", except: ["id", "message", "finish_reason", "usage"], op: "merge" },
          },
        },
        { ...plan, each: "message.tool_plan" },
        { each: "message.content.*", key: ["=content", "#"], rules: [{ oneOf: content }, { as: "stop" }] },
        // They belong to the text that came just before them.
        { as: "text", opens: "never", fields: { annotations: { take: "message.citations", op: "append" } } },
        { ...toolCall, each: "message.tool_calls.*", key: ["=call", "#"] },
        ...end(""),
      ],
    },
    {
      when: { type: "message-start" },
      as: "envelope",
      fields: { id: "id", role: "delta.message.role" },
    },
    {
      when: { type: "content-start" },
      key: ["=content", "index"],
      rules: [{ each: "delta.message.content", oneOf: content }],
    },
    {
      when: { type: "content-delta" },
      key: ["=content", "index"],
      rules: [
        {
          each: "delta.message.content",
          oneOf: [{ ...thinking, when: { thinking: { exists: true } } }, text],
        },
      ],
    },
    { when: { type: "content-end" }, key: ["=content", "index"], as: "stop" },
    { when: { type: "tool-plan-delta" }, rules: [{ ...plan, each: "delta.message.tool_plan" }] },
    {
      when: { type: "tool-call-start" },
      key: ["=call", "index"],
      rules: [{ ...toolCall, each: "delta.message.tool_calls" }],
    },
    {
      when: { type: "tool-call-delta" },
      key: ["=call", "index"],
      as: "toolCall",
      fields: { arguments: { take: "delta.message.tool_calls.function.arguments", op: "append" } },
    },
    { when: { type: "tool-call-end" }, key: ["=call", "index"], as: "stop" },
    {
      when: { type: "citation-start" },
      as: "text",
      opens: "never",
      fields: { annotations: { take: "delta.message.citations", via: "list", op: "append" } },
    },
    { when: { type: ["citation-end", "debug"] }, as: "nothing" },
    {
      when: { type: "message-end" },
      rules: [
        { as: "envelope", fields: { id: "id", native: { take: "", except: ["id", "type", "delta"], op: "merge" } } },
        { as: "error", fields: { message: "delta.error", native: "delta.error" } },
        ...end("delta."),
      ],
    },
    // The body of an error, whose message is no object.
    {
      when: { message: { exists: true }, "message.role": { exists: false } },
      as: "error",
      fields: { message: "message", native: "" },
    },
  ],
  finishReasons: {
    COMPLETE: "stop",
    STOP_SEQUENCE: "stop",
    MAX_TOKENS: "length",
    TOOL_CALL: "tool_calls",
    ERROR: "error",
    TIMEOUT: "error",
    ERROR_TOXIC: "content_filter",
  },
  usage: {
    promptTokens: "tokens.input_tokens",
    completionTokens: "tokens.output_tokens",
    cachedTokens: "cached_tokens",
  },
};
