import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { costOf, KNOWN_PRICES, priceOf } from "./prices.ts";

test.each([
  ["gpt-4o-mini", "openai", "gpt-4o-mini"],
  ["gpt-4o-mini-2024-07-18", "openai", "gpt-4o-mini"],
  ["claude-haiku-4-5-20251001", "anthropic", "claude-haiku-4-5"],
  ["us.anthropic.claude-haiku-4-5-20251001-v1:0", "bedrock", "claude-haiku-4-5"],
  ["anthropic.claude-3-haiku-20240307-v1:0", "bedrock", "claude-3-haiku"],
  ["claude-sonnet-4-5@20250929", "vertexai", "claude-sonnet-4-5"],
  ["anthropic/claude-opus-4.5", "openrouter", "claude-opus-4-5"],
  ["openai/gpt-5.1:online", "openrouter", "gpt-5.1"],
  ["models/gemini-2.5-flash", "gemini", "gemini-2.5-flash"],
  ["mistral-large-latest", "mistral", "mistral-large"],
  ["command-r-plus-08-2024", "cohere", "command-r-plus"],
  ["llama-3.1-8b-instant", "groq", "groq/llama-3.1-8b-instant"],
])("%s of %s has the price of %s", (model, provider, known) => {
  expect(priceOf(model, provider)).toBe(KNOWN_PRICES.models[known]);
});

test.each([
  ["gpt-4o-mini-tts", "openai"],
  ["my-model", "openai"],
  ["llama-3.1-8b-instant", "cerebras"],
  ["constructor", "openai"],
  ["", ""],
])("%s of %s has no known price", (model, provider) => {
  expect(priceOf(model, provider)).toBeUndefined();
});

test("a provider's own price comes before that of all", () => {
  const prices = { models: { m: { input: 1 }, "groq/m": { input: 2 } } };
  expect(priceOf("m", "groq", prices)).toEqual({ input: 2 });
  expect(priceOf("m", "openai", prices)).toEqual({ input: 1 });
});

test("tokens that were cached have their own prices, and are among those of the prompt", () => {
  const price = { input: 10, output: 100, cachedInput: 1, cacheWrite: 12 };
  const usage = { promptTokens: 1_000_000, completionTokens: 10_000, cachedTokens: 600_000, cacheWriteTokens: 100_000 };
  expect(costOf(usage, price)).toBeCloseTo(3 + 0.6 + 1.2 + 1);
  expect(costOf(usage, { input: 10 })).toBeCloseTo(10);
  expect(costOf({}, price)).toBe(0);
});

test("the list is what its schema says", () => {
  const read = (file: string): object => JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
  const validate = new Ajv({ allErrors: true }).compile(read("../../schemas/prices.schema.json"));
  const list = read("prices.json");
  validate(list);
  expect(validate.errors).toBeNull();
  expect(validate({ models: { m: { input: -1 } } })).toBe(false);
  expect(validate({ models: { m: { output: 1 } } })).toBe(false);
  expect(validate({ models: {}, prices: {} })).toBe(false);
});
