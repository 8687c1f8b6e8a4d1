import { message, said } from "../openai-messages/rules.ts";
import type { Rule, Rules } from "../rules.ts";

const choice: Rule[] = [
  ...message,
  {
    as: "choice",
    fields: {
      "native.choice": { take: "", except: ["index", "message", "delta", "finish_reason", "logprobs"], op: "merge" },
      "native.message": {
        take: ["message", "delta"],
        except: [
          "role",
          "content",
          "reasoning_content",
          "reasoning",
          "reasoning_details",
          "refusal",
          "annotations",
          "tool_calls",
          "function_call",
          "audio",
        ],
        op: "merge",
      },
      "native.message.reasoning_details": { take: said("reasoning_details"), op: "append" },
      // From before there were tools.
      "native.message.function_call.name": said("function_call.name"),
      "native.message.function_call.arguments": { take: said("function_call.arguments"), op: "append" },
    },
  },
  { as: "finish", fields: { reason: "finish_reason" } },
];

const ENVELOPE = [
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "system_fingerprint",
  "service_tier",
  // Filler against eavesdroppers who count bytes.
  "obfuscation",
];

/**
 * Reads OpenAI chat completions, whole and streamed, and what compatible providers add to them.
 * @param members of the envelope that have a place of their own, by their names here and on the wire
 * @param choiceRules of each choice
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function chatRules(members: Record<string, string> = {}, choiceRules: Rule[] = choice): Rules {
  return {
    rules: [
      {
        when: { error: { exists: true } },
        as: "error",
        fields: { message: ["error.message", "error"], native: "error" },
      },
      // Mistral
      { when: { object: "error" }, as: "error", fields: { message: "message", native: "" } },
      {
        when: { choices: { exists: true } },
        as: "envelope",
        fields: {
          id: "id",
          created: "created",
          model: "model",
          role: ["choices.*.message.role", "choices.*.delta.role"],
          systemFingerprint: "system_fingerprint",
          serviceTier: "service_tier",
          ...members,
          native: { take: "", except: [...ENVELOPE, ...Object.values(members)], op: "merge" },
        },
      },
      { each: "choices.*", choice: "index", rules: choiceRules },
      { as: "usage", fields: { raw: { take: ["usage", "x_groq.usage"], op: "merge" } } },
    ],
    finishReasons: {
      function_call: "tool_calls",
      // Mistral, Together, Z.ai, DeepSeek
      model_length: "length",
      eos: "stop",
      sensitive: "content_filter",
      network_error: "error",
      insufficient_system_resource: "error",
    },
    usage: {
      promptTokens: "prompt_tokens",
      completionTokens: "completion_tokens",
      totalTokens: "total_tokens",
      cachedTokens: [["prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"]],
      reasoningTokens: [["completion_tokens_details.reasoning_tokens", "reasoning_tokens"]],
    },
  };
}

export const openaiChatRules = chatRules();
