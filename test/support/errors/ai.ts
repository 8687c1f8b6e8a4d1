import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAzure } from "@ai-sdk/azure";
import { createCohere } from "@ai-sdk/cohere";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createXai } from "@ai-sdk/xai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { generateText, type LanguageModel } from "ai";
import { CLAUDE_ON_BEDROCK } from "../sdks/claude.ts";
import { aws } from "../sdks/others.ts";
import { key } from "../sdks/sdk.ts";
import { claudeError } from "./claude.ts";
import { azureObject, CODES, openaiObject, TYPES } from "./openai.ts";
import { googleObject } from "./others.ts";
import { type ErrorRow, FAILURES, MESSAGE, tries, wordOf } from "./row.ts";

/**
 * @param objectOf what the provider has sent
 * @param read it is read, and not all of it: the rest names the request
 */
function ai(
  name: string,
  modelAt: (url: string) => LanguageModel,
  objectOf: (status: number) => object = (status) => ({ error: openaiObject(status) }),
  read = false,
): ErrorRow {
  return {
    name,
    ask: (url, patient) => generateText({ model: modelAt(url), prompt: "hello", ...tries(patient) }),
    // Of its class each package may have one of its own.
    base: Error,
    told: (statusCode) => ({
      class: "APICallError",
      name: "AI_APICallError",
      statusCode,
      isRetryable: FAILURES.has(statusCode),
      ...(read ? { data: objectOf(statusCode) } : { responseBody: JSON.stringify(objectOf(statusCode)) }),
    }),
    retries: FAILURES,
  };
}

export const aiRows: readonly ErrorRow[] = [
  ai("@ai-sdk/openai", (url) => createOpenAI({ ...key, baseURL: `${url}/v1` })("gpt-5")),
  ai(
    "@ai-sdk/azure",
    (url) => createAzure({ ...key, baseURL: `${url}/openai/v1` }).chat("my-gpt"),
    (status) => ({ error: azureObject(status) }),
  ),
  ai("@ai-sdk/google", (url) => createGoogleGenerativeAI({ ...key, baseURL: `${url}/v1beta` })("m"), googleObject),
  ai(
    "@ai-sdk/amazon-bedrock",
    (url) => createAmazonBedrock({ ...aws, baseURL: url, region: "us-east-1" })(CLAUDE_ON_BEDROCK),
    () => ({ message: MESSAGE }),
  ),
  ai(
    "@ai-sdk/mistral",
    (url) => createMistral({ ...key, baseURL: `${url}/mistral/v1` })("m"),
    (status) => ({
      object: "error",
      ...openaiObject(status),
    }),
  ),
  ai("@ai-sdk/groq", (url) => createGroq({ ...key, baseURL: `${url}/groq/openai/v1` })("m")),
  ai(
    "@ai-sdk/xai",
    (url) => createXai({ ...key, baseURL: `${url}/xai/v1` }).chat("grok-4"),
    (status) => ({
      code: CODES[status] ?? wordOf(TYPES, status),
      error: MESSAGE,
    }),
  ),
  ai("@ai-sdk/openai-compatible", (url) =>
    createOpenAICompatible({ name: "together", baseURL: `${url}/together/v1` })("m"),
  ),
  ai(
    "@openrouter/ai-sdk-provider",
    (url) => createOpenRouter({ ...key, baseURL: `${url}/api/v1` })("openai/gpt-4o"),
    (code) => ({ error: { message: MESSAGE, code } }),
  ),
  {
    ...ai(
      "@ai-sdk/anthropic",
      (url) => createAnthropic({ ...key, baseURL: `${url}/v1` })("claude"),
      (status) => ({ type: "error", error: claudeError(status) }),
      true,
    ),
    also: [529],
  },
  ai(
    "@ai-sdk/cohere",
    (url) => createCohere({ ...key, baseURL: `${url}/v2` })("command"),
    () => ({ message: MESSAGE }),
    true,
  ),
];
