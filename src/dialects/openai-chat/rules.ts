import type { Rule, Rules } from "../rules.ts";

/** One entry of `tool_calls`. */
const toolCall: Rule[] = [
  {
    when: { type: "custom" },
    as: "opaque",
    fields: { value: { take: "", except: ["index"], op: "merge" } },
  },
  {
    as: "toolCall",
    fields: {
      id: "id",
      name: "function.name",
      arguments: { take: "function.arguments", via: "json", op: "append" },
      native: { take: "", except: ["index", "id", "type", "function"], op: "merge" },
    },
  },
];

/** One part of a `content` that is a list, as Mistral has it. */
const contentPart: Rule[] = [
  {
    when: { type: "thinking" },
    as: "reasoning",
    fields: { text: { take: ["thinking.*.text", "thinking"], op: "append" } },
  },
  { when: { type: "text" }, as: "text", fields: { text: { take: "text", op: "append" } } },
];

/** A choice, whole (`message`) or a piece of one (`delta`), in the order in which models write. */
const choice: Rule[] = [
  {
    as: "reasoning",
    fields: {
      text: {
        take: ["message.reasoning_content", "delta.reasoning_content", "message.reasoning", "delta.reasoning"],
        op: "append",
      },
    },
  },
  { as: "text", fields: { text: { take: ["message.content", "delta.content"], op: "append" } } },
  { each: "message.content.*", oneOf: contentPart },
  { each: "delta.content.*", oneOf: contentPart },
  {
    // Log probabilities belong to the text that came just before them.
    as: "text",
    opens: "never",
    fields: {
      "logprobs.content": { take: "logprobs.content", op: "append" },
      "logprobs.refusal": { take: "logprobs.refusal", op: "append" },
      annotations: { take: ["message.annotations", "delta.annotations"], op: "append" },
    },
  },
  { as: "refusal", fields: { text: { take: ["message.refusal", "delta.refusal"], op: "append" } } },
  // Some give all calls of a reply the same id.
  { each: "message.tool_calls.*", key: ["#"], oneOf: toolCall },
  // In pieces with an `index`, which some leave out.
  { each: "delta.tool_calls.*", key: [["index", "id", "#"]], oneOf: toolCall },
  ...["message.audio", "delta.audio"].map(
    (audio): Rule => ({
      each: audio,
      key: ["=audio"],
      as: "media",
      fields: {
        // The format is told in the request only.
        mime: "=audio/wav",
        data: { take: "data", op: "append" },
        transcript: { take: "transcript", op: "append" },
        native: { take: "", except: ["data", "transcript"], op: "merge" },
      },
    }),
  ),
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
      "native.message.reasoning_details": {
        take: ["message.reasoning_details", "delta.reasoning_details"],
        op: "append",
      },
      // From before there were tools.
      "native.message.function_call.name": ["message.function_call.name", "delta.function_call.name"],
      "native.message.function_call.arguments": {
        take: ["message.function_call.arguments", "delta.function_call.arguments"],
        op: "append",
      },
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
