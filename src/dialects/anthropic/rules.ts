import { block, delta } from "../anthropic-blocks/rules.ts";
import type { Rule, Rules } from "../rules.ts";

/** The message itself, whole or as it begins. */
const head: Rule[] = [
  {
    as: "envelope",
    fields: {
      id: "id",
      model: "model",
      role: "role",
      native: {
        take: "",
        except: ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"],
        op: "merge",
      },
    },
  },
];

const end: Rule[] = [
  { as: "usage", fields: { raw: { take: "usage", op: "merge" } } },
  {
    as: "finish",
    fields: {
      reason: ["delta.stop_reason", "stop_reason"],
      stopSequence: ["delta.stop_sequence", "stop_sequence"],
    },
  },
];

/**
 * Reads Anthropic messages, whole and streamed.
 * @see https://docs.claude.com/en/api/messages
 * @see https://docs.claude.com/en/docs/build-with-claude/streaming
 */
export const anthropicRules: Rules = {
  rules: [
    {
      when: { type: "message" },
      rules: [...head, { each: "content.*", key: ["#"], rules: [{ oneOf: block }, { as: "stop" }] }, ...end],
    },
    {
      when: { type: "message_start" },
      rules: [
        {
          each: "message",
          // After a tool call from inside a code execution the message begins with the blocks of the one before.
          rules: [...head, { each: "content.*", key: ["=given", "#"], oneOf: block }, ...end],
        },
      ],
    },
    {
      when: { type: "content_block_start" },
      key: ["index"],
      rules: [{ each: "content_block", oneOf: block }],
    },
    { when: { type: "content_block_delta" }, key: ["index"], rules: [{ each: "delta", oneOf: delta }] },
    { when: { type: "content_block_stop" }, key: ["index"], as: "stop" },
    {
      when: { type: "message_delta" },
      rules: [
        { as: "envelope", fields: { native: { take: "", except: ["type", "delta", "usage"], op: "merge" } } },
        {
          as: "envelope",
          fields: { native: { take: "delta", except: ["stop_reason", "stop_sequence"], op: "merge" } },
        },
        ...end,
      ],
    },
    { when: { type: "message_stop" }, as: "nothing" },
    { when: { type: "ping" }, as: "keepalive" },
    { when: { type: "error" }, as: "error", fields: { message: "error.message", native: "error" } },
  ],
  finishReasons: {
    end_turn: "stop",
    stop_sequence: "stop",
    tool_use: "tool_calls",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    pause_turn: "pause",
    refusal: "refusal",
  },
  usage: {
    promptTokens: ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"],
    completionTokens: "output_tokens",
    cachedTokens: "cache_read_input_tokens",
    cacheWriteTokens: "cache_creation_input_tokens",
    reasoningTokens: "output_tokens_details.thinking_tokens",
  },
};
