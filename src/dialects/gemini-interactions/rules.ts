import { content, delta, step } from "../gemini-steps/rules.ts";
import type { Rule, Rules } from "../rules.ts";

/** Why an interaction has ended is its status; one that still runs has another. */
const finishReasons: NonNullable<Rules["finishReasons"]> = {
  completed: "stop",
  requires_action: "tool_calls",
  incomplete: "length",
  budget_exceeded: "length",
  requires_continuation: "pause",
  failed: "error",
  cancelled: "error",
};

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
  { when: { status: Object.keys(finishReasons) }, as: "finish", fields: { reason: "status" } },
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
  finishReasons,
  usage: {
    promptTokens: ["total_input_tokens", "total_tool_use_tokens"],
    completionTokens: ["total_output_tokens", "total_thought_tokens"],
    totalTokens: "total_tokens",
    cachedTokens: "total_cached_tokens",
    reasoningTokens: "total_thought_tokens",
  },
};
