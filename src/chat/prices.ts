import builtIn from "./prices.json" with { type: "json" };
import type { Usage } from "./reply.ts";

/** What a model costs, in the list's currency for a million tokens. */
export interface Price {
  input: number;
  /** 0 unless given: embeddings have no output. */
  output?: number;
  /** Of what the provider had in its cache; `input` unless given. */
  cachedInput?: number;
  /** Of what the provider put into its cache; `input` unless given. */
  cacheWrite?: number;
}

/** Prices by model, which may have its provider before it: `groq/llama-3.1-8b-instant`. */
export interface PriceList {
  /** ISO 4217; USD unless given. */
  currency?: string;
  models: Readonly<Record<string, Price>>;
}

/** List prices of well-known models. Estimates: no discounts, no tiers by length. */
export const KNOWN_PRICES: PriceList = builtIn;

/**
 * The price of a model, also under the names that clouds, gateways and dated releases give it.
 * @returns undefined where the list does not know it
 */
export function priceOf(model: string, provider: string, { models }: PriceList = KNOWN_PRICES): Price | undefined {
  for (const name of namesOf(model)) {
    for (const key of [`${provider}/${name}`, name]) if (Object.hasOwn(models, key)) return models[key];
  }
  return undefined;
}

/** What tokens cost. The cached ones are among those of the prompt. */
export function costOf(usage: Omit<Usage, "raw">, price: Price): number {
  const { promptTokens = 0, completionTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const { input, output = 0, cachedInput = input, cacheWrite = input } = price;
  const fresh = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens);
  return (
    (fresh * input + cachedTokens * cachedInput + cacheWriteTokens * cacheWrite + completionTokens * output) / 1_000_000
  );
}

/** From what was said to what it is known as: `us.anthropic.claude-haiku-4-5-20251001-v1:0` is `claude-haiku-4-5`. */
function namesOf(model: string): Set<string> {
  const bare = model.slice(model.lastIndexOf("/") + 1);
  const plain = bare
    // Bedrock has the region and the maker before it, and a version of its own behind; Vertex AI has a date behind @.
    .replace(/^(?:[a-z]+\.){1,2}(?=[a-z])/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[@:].*$/, "");
  const undated = plain.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{4}|latest)$/, "");
  return new Set([model, bare, plain, undated, undated.replace(/(\d)\.(\d)/, "$1-$2")]);
}
