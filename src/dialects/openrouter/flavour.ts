import type { ChatFlavour } from "../openai-chat/flavour.ts";
import type { Call } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const OPENROUTER = "openrouter";

/** @see https://openrouter.ai/docs/api/reference/overview */
export const openRouterFlavour: ChatFlavour = {
  dialect: OPENROUTER,
  idPrefix: "gen-",
  reasoning: "reasoning",
  emptyMessage: { refusal: null, reasoning: null },
  emptyDelta: {},
  emptyChoice: { native_finish_reason: null, logprobs: null },
  streamUsage: "repeated",
  keepAlive: "OPENROUTER PROCESSING",
  members: ({ envelope }, context) => ({
    provider:
      envelope?.provider ?? authorOf(envelope?.model) ?? context.echo((call: Call) => authorOf(call.view.model)),
    system_fingerprint: null,
    service_tier: null,
  }),
  ending: (_, finishReason) => ({ native_finish_reason: finishReason }),
  usage: encodeUsage,
};

/** Of `openai/gpt-4o` it is `openai`. */
function authorOf(model: string | undefined): string | undefined {
  return model?.split("/", 1)[0];
}

/** What a call has cost is told where it is known; then its parts are there, of which clients read all. */
function encodeUsage(counts: JsonObject, own: JsonObject = {}): JsonObject {
  const usage: JsonObject = { ...counts, ...own };
  if (usage["cost"] !== undefined && usage["cost"] !== null)
    usage["cost_details"] = { ...NO_COSTS, ...details(own["cost_details"]) };
  for (const [name, count] of DETAILS) {
    if (isObject(usage[name])) usage[name] = { [count]: 0, ...usage[name] };
  }
  return usage;
}

const NO_COSTS = {
  upstream_inference_cost: null,
  upstream_inference_prompt_cost: 0,
  upstream_inference_completions_cost: 0,
};
const DETAILS = [
  ["prompt_tokens_details", "cached_tokens"],
  ["completion_tokens_details", "reasoning_tokens"],
] as const;

function details(given: unknown): JsonObject {
  return isObject(given) ? given : {};
}
