import { PlainView } from "../../chat/view.ts";
import { defineOperation, type Operation } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeOpenRouterError } from "./errors.ts";
import { OPENROUTER } from "./flavour.ts";

/** What is answered from no fixture: the same each time. */
function fixed(name: string, path: string, body: JsonObject): Operation {
  return defineOperation<null, JsonObject, Record<string, never>>({
    name: `openrouter-${name}`,
    dialect: OPENROUTER,
    endpoint: "models",
    output: "none",
    routes: [{ method: "GET", path }],
    decode: () => null,
    view: () => new PlainView(null, ""),
    streamed: () => false,
    variant: () => ({}),
    encode: () => body,
    encodeError: encodeOpenRouterError,
    fallback: () => body,
  });
}

/** Prices in dollars a token, as texts. */
function model(id: string, name: string, prompt: string, completion: string): JsonObject {
  return {
    id,
    canonical_slug: id,
    hugging_face_id: null,
    name,
    created: 1_715_367_049,
    description: `${name}, as stuntdouble plays it.`,
    context_length: 200_000,
    architecture: {
      modality: "text+image->text",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      tokenizer: "Other",
      instruct_type: null,
    },
    pricing: { prompt, completion, request: "0", image: "0", web_search: "0", internal_reasoning: "0" },
    top_provider: { context_length: 200_000, max_completion_tokens: 64_000, is_moderated: false },
    per_request_limits: null,
    supported_parameters: ["max_tokens", "temperature", "tools", "tool_choice", "response_format", "reasoning"],
    default_parameters: {},
  };
}

const PER_PERIOD = (name: string): JsonObject => ({
  [name]: 0,
  [`${name}_daily`]: 0,
  [`${name}_weekly`]: 0,
  [`${name}_monthly`]: 0,
});

/**
 * What clients ask about themselves.
 * @see https://openrouter.ai/docs/api/api-reference/models/get-models
 * @see https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key
 * @see https://openrouter.ai/docs/api/api-reference/credits/get-credits
 */
export const accountOperations: readonly Operation[] = [
  fixed("models", "/api/v1/models", {
    data: [
      model("openai/gpt-4o", "OpenAI: GPT-4o", "0.0000025", "0.00001"),
      model("anthropic/claude-sonnet-4.5", "Anthropic: Claude Sonnet 4.5", "0.000003", "0.000015"),
      model("google/gemini-2.5-flash", "Google: Gemini 2.5 Flash", "0.0000003", "0.0000025"),
    ],
  }),
  fixed("key", "/api/v1/key", {
    data: {
      label: "sk-or-v1-stuntdouble",
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      include_byok_in_limit: false,
      ...PER_PERIOD("usage"),
      ...PER_PERIOD("byok_usage"),
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      creator_user_id: null,
      expires_at: null,
      rate_limit: { requests: -1, interval: "10s", note: "Deprecated." },
    },
  }),
  fixed("credits", "/api/v1/credits", { data: { total_credits: 0, total_usage: 0 } }),
];
