import type { Rule, Rules } from "../rules.ts";

/** A content of a model's output, whole or, in a stream, a piece of one: a step has one text, its deltas no number. */
const content: Rule[] = [
  {
    when: { type: ["text", "text_annotation_delta"] },
    key: ["=text"],
    as: "text",
    fields: { text: { take: "text", op: "append" }, annotations: { take: "annotations", op: "append" } },
  },
  {
    when: { type: ["image", "audio", "video", "document"] },
    key: ["type"],
    as: "media",
    fields: {
      mime: "mime_type",
      data: { take: "data", op: "append" },
      url: "uri",
      native: { take: "", except: ["type", "mime_type", "data", "uri"], op: "merge" },
    },
  },
];

/** A step, whole or as it begins. What the provider runs itself is carried as it is. */
function step(contents: Rule): Rule[] {
  return [
    { when: { type: "model_output" }, rules: [contents] },
    {
      when: { type: "thought" },
      as: "reasoning",
      fields: {
        text: { take: "summary.*.text", op: "append" },
        signature: "signature",
        native: { take: "", except: ["type", "summary", "signature"], op: "merge" },
      },
    },
    {
      when: { type: "function_call" },
      as: "toolCall",
      fields: {
        id: "id",
        name: "name",
        signature: "signature",
        // A stream begins with `{}` and sends the arguments in pieces.
        arguments: { take: "arguments", via: "json", op: "fallback" },
        native: { take: "", except: ["type", "id", "name", "signature", "arguments"], op: "merge" },
      },
    },
    { as: "opaque", fields: { value: "" } },
  ];
}

const delta: Rule[] = [
  { when: { type: "thought_summary" }, as: "reasoning", fields: { text: { take: "content.text", op: "append" } } },
  { when: { type: "thought_signature" }, as: "reasoning", fields: { signature: "signature" } },
  {
    when: { type: "arguments_delta" },
    as: "toolCall",
    opens: "never",
    fields: { arguments: { take: "arguments", op: "append" } },
  },
  ...content,
  { as: "opaque", opens: "never", fields: { value: { take: "", except: ["type"], op: "merge" } } },
];

const FINISHED = [
  "completed",
  "requires_action",
  "incomplete",
  "requires_continuation",
  "failed",
  "cancelled",
  "budget_exceeded",
];

/** The interaction, whole, as it begins or as it ends. */
const interaction: Rule[] = [
  { each: "steps.*", key: ["#"], oneOf: step({ each: "content.*", key: ["#"], oneOf: content }) },
  {
    as: "envelope",
    fields: {
      id: "id",
      model: "model",
      serviceTier: "service_tier",
      native: {
        take: "",
        except: ["id", "status", "object", "model", "usage", "service_tier", "steps", "input"],
        op: "merge",
      },
    },
  },
  { as: "usage", fields: { raw: { take: "usage", op: "merge" } } },
  { when: { status: FINISHED }, as: "finish", fields: { reason: "status" } },
];

/**
 * Reads interactions, whole and streamed.
 * @see https://ai.google.dev/api/interactions-api
 */
export const interactionRules: Rules = {
  rules: [
    { when: { object: "interaction" }, rules: interaction },
    {
      when: { event_type: ["interaction.created", "interaction.completed"] },
      rules: [{ each: "interaction", rules: interaction }],
    },
    { when: { event_type: "interaction.status_update" }, as: "nothing" },
    {
      when: { event_type: "step.start" },
      key: ["index"],
      rules: [{ each: "step", oneOf: step({ each: "content.*", oneOf: content }) }, { as: "nothing" }],
    },
    { when: { event_type: "step.delta" }, key: ["index"], rules: [{ each: "delta", oneOf: delta }] },
    {
      when: { event_type: "step.stop" },
      key: ["index"],
      rules: [{ as: "stop" }, { key: ["=text"], as: "stop" }, { as: "nothing" }],
    },
    { when: { error: { exists: true } }, as: "error", fields: { message: "error.message", native: "error" } },
  ],
  finishReasons: {
    completed: "stop",
    requires_action: "tool_calls",
    incomplete: "length",
    budget_exceeded: "length",
    requires_continuation: "pause",
    failed: "error",
    cancelled: "error",
  },
  usage: {
    promptTokens: ["total_input_tokens", "total_tool_use_tokens"],
    completionTokens: ["total_output_tokens", "total_thought_tokens"],
    totalTokens: "total_tokens",
    cachedTokens: "total_cached_tokens",
    reasoningTokens: "total_thought_tokens",
  },
};
