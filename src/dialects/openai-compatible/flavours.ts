import { type ChatFlavour, OPENAI } from "../openai-chat/flavour.ts";
import { openaiChatRules } from "../openai-chat/rules.ts";
import type { Operation } from "../operation.ts";
import type { Rules } from "../rules.ts";
import type { ErrorShape } from "./errors.ts";
import { xaiResponses } from "./xai-responses.ts";

/** A provider whose API is OpenAI's chat completions, but for what is said here. */
export interface CompatibleProvider extends ChatFlavour {
  /** Paths of its own. All have `/v1/chat/completions` too, after their segment or from their own clients. */
  paths: string[];
  /** What a path before its own begins with, where that is not its name. */
  segment?: string;
  /** What its models begin with, for the path without a version that several share. */
  models?: string;
  errors: ErrorShape;
  /** How its replies are read, where that is not as with OpenAI. */
  rules?: Rules;
  /** What it can be asked besides, on paths that others have too. */
  further?: readonly Operation[];
}

/** What many of them share. */
const BARE: Omit<CompatibleProvider, "dialect"> = {
  idPrefix: "",
  reasoning: "reasoning_content",
  emptyMessage: {},
  emptyDelta: {},
  emptyChoice: {},
  streamUsage: "finish",
  paths: [],
  errors: "openai",
};

/** Tokens of thoughts are counted beside those of the completion. */
const THOUGHTS_BESIDE: Rules = {
  ...openaiChatRules,
  usage: {
    ...openaiChatRules.usage,
    completionTokens: ["completion_tokens", "completion_tokens_details.reasoning_tokens"],
  },
};

export const COMPATIBLE_PROVIDERS: readonly CompatibleProvider[] = [
  {
    // https://docs.mistral.ai/api/endpoint/chat
    ...BARE,
    dialect: "mistral",
    reasoning: "thinking parts",
    emptyMessage: { tool_calls: null },
    wholeCalls: true,
    errors: "mistral",
  },
  {
    // https://console.groq.com/docs/api-reference
    ...OPENAI,
    dialect: "groq",
    reasoning: "reasoning",
    emptyMessage: {},
    emptyDelta: {},
    streamUsage: "x_groq",
    wholeCalls: true,
    members: (_, context) => ({ x_groq: { id: context.id("req_") } }),
    paths: ["/openai/v1/chat/completions"],
    errors: "openai",
  },
  {
    // https://api-docs.deepseek.com/api/create-chat-completion
    ...BARE,
    dialect: "deepseek",
    emptyChoice: { logprobs: null },
    usage: (usage, own) => own ?? withCacheHits(usage),
    paths: ["/beta/chat/completions"],
    models: "deepseek",
  },
  {
    // https://docs.x.ai/docs/api-reference
    ...BARE,
    dialect: "xai",
    emptyMessage: { refusal: null },
    streamUsage: "asked",
    wholeCalls: true,
    usage: (usage, own) => own ?? withThoughtsBeside(usage),
    rules: THOUGHTS_BESIDE,
    errors: "xai",
    further: xaiResponses,
  },
  {
    // https://docs.perplexity.ai/api-reference
    ...BARE,
    dialect: "perplexity",
    members: () => ({ citations: [], search_results: [] }),
    models: "sonar",
    errors: "numbered",
  },
  {
    // https://docs.z.ai/api-reference/llm/chat-completion
    ...BARE,
    dialect: "zai",
    members: (_, context, streamed) => (streamed ? {} : { request_id: context.id("") }),
    paths: ["/api/paas/v4/chat/completions", "/api/coding/paas/v4/chat/completions"],
    errors: "zai",
  },
  {
    // https://inference-docs.cerebras.ai/api-reference/chat-completions
    ...BARE,
    dialect: "cerebras",
    idPrefix: "chatcmpl-",
    reasoning: "reasoning",
    members: (_, context) => ({
      time_info: { queue_time: 0, prompt_time: 0, completion_time: 0, total_time: 0, created: context.created },
    }),
    errors: "flat",
  },
  {
    // https://docs.together.ai/reference/chat-completions-1
    ...BARE,
    dialect: "together",
    reasoning: "reasoning",
    emptyMessage: { tool_calls: [] },
    emptyChoice: { logprobs: null },
    members: () => ({ prompt: [] }),
  },
  {
    // https://huggingface.co/docs/inference-providers: it routes to others, and answers as they do.
    ...BARE,
    dialect: "huggingface",
    reasoning: "reasoning",
    emptyChoice: { logprobs: null },
  },
  {
    // https://docs.ollama.com/api/openai-compatibility: beside its own API, of which the native members are others.
    ...OPENAI,
    dialect: "ollama-openai",
    segment: "ollama",
    reasoning: "reasoning",
    emptyMessage: {},
    emptyDelta: {},
    emptyChoice: {},
    members: () => ({ system_fingerprint: "fp_ollama" }),
    paths: [],
    errors: "openai",
  },
];

function withCacheHits(usage: Record<string, unknown>): Record<string, unknown> {
  const details = usage["prompt_tokens_details"] as { cached_tokens?: number } | undefined;
  const hits = details?.cached_tokens ?? 0;
  const prompt = usage["prompt_tokens"];
  // What is estimated when it is sent has hit no cache.
  const misses = typeof prompt === "number" ? prompt - hits : prompt;
  return { ...usage, prompt_cache_hit_tokens: hits, prompt_cache_miss_tokens: misses };
}

/** @see https://docs.x.ai/docs/guides/reasoning */
function withThoughtsBeside(usage: Record<string, unknown>): Record<string, unknown> {
  const { completion_tokens: completion, completion_tokens_details: details } = usage as {
    completion_tokens: number;
    completion_tokens_details?: { reasoning_tokens: number };
  };
  return { ...usage, completion_tokens: Math.max(0, completion - (details?.reasoning_tokens ?? 0)) };
}
