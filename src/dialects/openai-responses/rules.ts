import { contentPart, item } from "../openai-items/rules.ts";
import type { Rule, Rules } from "../rules.ts";

/** Items go by their ids: recordings that people have shortened have other numbers in the whole response. */
const ITEM = ["item_id", "output_index"];

/** The response object, whole or as it stands at an event. */
const head: Rule = {
  as: "envelope",
  fields: {
    id: "id",
    created: "created_at",
    model: "model",
    serviceTier: "service_tier",
    native: {
      take: "",
      except: ["id", "object", "created_at", "status", "model", "output", "usage", "service_tier"],
      op: "merge",
    },
  },
};

const end: Rule[] = [
  { each: "output.*", key: [["id", "#"]], oneOf: item },
  { as: "usage", fields: { raw: { take: "usage", op: "merge" } } },
  { as: "finish", fields: { reason: ["incomplete_details.reason", "status"] } },
];

const piece = (
  type: string,
  as: "text" | "refusal" | "reasoning" | "toolCall",
  field: string,
  key: Rule["key"] & object,
): Rule => ({
  when: { type },
  key,
  as,
  opens: "never",
  fields: { [field]: { take: "delta", op: "append" } },
});

/** Of items that are carried whole, and of what has come before in pieces: nothing that is new. */
const KNOWN = [
  "response.output_text.done",
  "response.content_part.done",
  "response.refusal.done",
  "response.reasoning_text.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
  "response.function_call_arguments.done",
  "response.custom_tool_call_input.done",
  "response.output_text.annotation.added",
  ...["in_progress", "searching", "completed"].flatMap((state) => [
    `response.web_search_call.${state}`,
    `response.file_search_call.${state}`,
  ]),
  ...["in_progress", "interpreting", "completed"].map((state) => `response.code_interpreter_call.${state}`),
  "response.code_interpreter_call_code.delta",
  "response.code_interpreter_call_code.done",
  ...["in_progress", "generating", "partial_image", "completed"].map(
    (state) => `response.image_generation_call.${state}`,
  ),
  ...["in_progress", "completed", "failed"].flatMap((state) => [
    `response.mcp_call.${state}`,
    `response.mcp_list_tools.${state}`,
  ]),
  "response.mcp_call_arguments.delta",
  "response.mcp_call_arguments.done",
  ...["added", "delta", "done"].map((state) => `response.shell_call_command.${state}`),
  "response.shell_call_output_content.delta",
  "response.shell_call_output_content.done",
  "response.apply_patch_call_operation_diff.delta",
  "response.apply_patch_call_operation_diff.done",
];

/**
 * Reads OpenAI responses, whole and streamed. A stream ends with the whole response: what of it has come in
 * pieces is not taken twice, what has not is taken from there.
 * @see https://platform.openai.com/docs/api-reference/responses/object
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export const openaiResponsesRules: Rules = {
  rules: [
    { when: { object: "response" }, rules: [head, ...end] },
    {
      when: { type: ["response.created", "response.queued", "response.in_progress"] },
      rules: [{ each: "response", rules: [head] }],
    },
    {
      when: { type: ["response.completed", "response.incomplete", "response.failed", "response.cancelled"] },
      rules: [{ each: "response", rules: [head, ...end] }],
    },
    {
      when: { type: "response.output_item.added" },
      key: [["item.id", "output_index"]],
      rules: [{ as: "nothing" }, { each: "item", oneOf: item }],
    },
    {
      when: { type: "response.output_item.done" },
      key: [["item.id", "output_index"]],
      rules: [{ each: "item", oneOf: item }, { as: "stop" }],
    },
    {
      when: { type: "response.content_part.added" },
      key: [ITEM, "content_index"],
      rules: [{ as: "nothing" }, { each: "part", oneOf: contentPart }],
    },
    piece("response.output_text.delta", "text", "text", [ITEM, "content_index"]),
    piece("response.refusal.delta", "refusal", "text", [ITEM, "content_index"]),
    piece("response.reasoning_text.delta", "reasoning", "text", [ITEM]),
    piece("response.function_call_arguments.delta", "toolCall", "arguments", [ITEM]),
    piece("response.custom_tool_call_input.delta", "toolCall", "arguments", [ITEM]),
    {
      when: { type: "response.reasoning_summary_text.delta" },
      key: [ITEM],
      as: "reasoning",
      opens: "never",
      fields: { summary: { take: "delta", op: "append", at: "summary_index" } },
    },
    { when: { type: KNOWN }, as: "nothing" },
    { when: { type: "keepalive" }, as: "keepalive" },
    { when: { type: "error" }, as: "error", fields: { message: ["error.message", "message"], native: ["error", ""] } },
    {
      when: { type: null, object: null, error: { exists: true } },
      as: "error",
      fields: { message: ["error.message", "error"], native: "error" },
    },
  ],
  finishReasons: {
    completed: "stop",
    complete: "stop",
    max_output_tokens: "length",
    max_tokens: "length",
    failed: "error",
  },
  toolCallsFinish: true,
  usage: {
    promptTokens: "input_tokens",
    completionTokens: "output_tokens",
    totalTokens: "total_tokens",
    cachedTokens: "input_tokens_details.cached_tokens",
    cacheWriteTokens: "input_tokens_details.cache_write_tokens",
    reasoningTokens: "output_tokens_details.reasoning_tokens",
  },
};
