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
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { CLAUDE_ON_BEDROCK } from "./claude.ts";
import { aws } from "./others.ts";
import { type Hidden, key, NEWEST, type Sdk, Telling } from "./sdk.ts";

const inputSchema = jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } });

interface Search {
  query?: string;
  action?: { query: string };
}

interface Grounding {
  webSearchQueries?: string[];
}

const words = { stop: "stop", calls: "tool-calls", length: "length", filtered: "content-filter" };
/** It makes a text of a refusal, and says that it was filtered. */
const refusal: Partial<Sdk> = { refusesInText: true, finish: { ...words, refused: "content-filter" } };
/** Chat completions have texts and calls in places of their own, and none for what the provider does itself. */
const completions: readonly Hidden[] = ["order", "searches"];

function ai(name: string, modelAt: (url: string) => LanguageModel, more: Partial<Sdk> = {}): Sdk {
  return {
    name,
    finish: words,
    async ask(url, prompt, streamed) {
      const call = { model: modelAt(url), prompt, tools: { weather: tool({ inputSchema }) }, maxRetries: 0 };
      const failures: unknown[] = [];
      const result = streamed
        ? streamText({ ...call, onError: ({ error }) => void failures.push(error) })
        : await generateText(call);
      if ("consumeStream" in result) await result.consumeStream();
      const [failure] = failures;
      // Some of what it tells of are no errors.
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error(JSON.stringify(failure));
      const telling = new Telling();
      for (const part of await result.content) {
        if (part.type === "text" || part.type === "reasoning") telling.say(part.type, part.text);
        if (part.type === "tool-call" && !part.providerExecuted) telling.call(part.toolName, part.input);
        if ((part.type === "tool-call" || part.type === "tool-result") && part.providerExecuted) {
          // Of a search that the provider ran itself, the query is in the call or in its result.
          const { query, action } = (part.type === "tool-call" ? part.input : part.output) as Search;
          telling.search(query ?? action?.query);
        }
      }
      const grounding = (await result.providerMetadata)?.["google"]?.["groundingMetadata"] as Grounding | undefined;
      for (const query of grounding?.webSearchQueries ?? []) telling.search(query);
      const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = await result.usage;
      telling.count({
        input: inputTokens,
        output: outputTokens,
        cached: inputTokenDetails.cacheReadTokens,
        reasoning: outputTokenDetails.reasoningTokens,
      });
      telling.end(await result.finishReason);
      const { id, modelId } = await result.response;
      // Where it finds none it makes one up.
      telling.name(id.startsWith("aitxt-") ? undefined : id, modelId);
      return telling.done();
    },
    async loop(url, prompt, streamed) {
      const tools = { weather: tool({ inputSchema, execute: ({ city }) => `sun in ${city}` }) };
      const call = { model: modelAt(url), prompt, tools, stopWhen: stepCountIs(3), maxRetries: 0 };
      return streamed ? streamText(call).text : (await generateText(call)).text;
    },
    ...more,
  };
}

const xaiAt = (url: string) => createXai({ ...key, baseURL: `${url}/xai/v1` });
/** From its fifth version on it does so unless asked for something else, and then it raises what has failed. */
const speaksResponses = xaiAt("")("grok-4").provider === "xai.responses";
const xaiResponses: Partial<Sdk> = {
  // Of a whole response it looks at the status alone, and has no word for `incomplete` and `failed`.
  finish: {
    ...words,
    length: { whole: "other", streamed: "length" },
    filtered: { whole: "other", streamed: "error" },
  },
  hides: ["refusal"],
  fails: {
    // It knows no event of one.
    refused: { streamed: /response\.refusal\.delta/ },
    ...(speaksResponses && { filtered: { streamed: /content management policy/ } }),
  },
};

export const aiSdks: readonly Sdk[] = [
  ai("@ai-sdk/openai", (url) => createOpenAI({ ...key, baseURL: `${url}/v1` })("gpt-5"), {
    ...refusal,
    // Of a failed response it knows no form, and reads none.
    fails: { filtered: { whole: /Invalid JSON response/, streamed: /content management policy/ } },
  }),
  ai("@ai-sdk/openai: chat", (url) => createOpenAI({ ...key, baseURL: `${url}/v1` }).chat("gpt-5"), {
    ...refusal,
    hides: [...completions, "reasoning"],
  }),
  ai("@ai-sdk/anthropic", (url) => createAnthropic({ ...key, baseURL: `${url}/v1` })("claude-sonnet-5"), {
    finish: { ...words, refused: "content-filter" },
    hides: ["refusal"],
  }),
  ai("@ai-sdk/google", (url) => createGoogleGenerativeAI({ ...key, baseURL: `${url}/v1beta` })("gemini-2.5-flash"), {
    // It knows STOP only, which recordings have.
    finish: { ...words, calls: "other", refused: "content-filter" },
    loopsAfter: "stop",
    hides: ["refusal", "model", ...(NEWEST ? [] : ["order, streamed" as const])],
  }),
  ai(
    "@ai-sdk/amazon-bedrock",
    (url) => createAmazonBedrock({ ...aws, baseURL: url, region: "us-east-1" })(CLAUDE_ON_BEDROCK),
    { ...refusal, hides: ["searches", "id", "model", "reasoning tokens"] },
  ),
  ai("@ai-sdk/azure", (url) => createAzure({ ...key, baseURL: `${url}/openai/v1` }).chat("my-gpt"), {
    hides: [...completions, "reasoning", "refusal"],
  }),
  ai("@ai-sdk/cohere", (url) => createCohere({ ...key, baseURL: `${url}/v2` })("command-a-03-2025"), {
    finish: { ...words, filtered: "error" },
    refusesInText: true,
    hides: ["searches", "order, whole", "id, whole", "model", "cached", "reasoning tokens"],
    passesOverErrors: "error",
  }),
  ai("@ai-sdk/mistral", (url) => createMistral({ ...key, baseURL: `${url}/mistral/v1` })("magistral-medium-latest"), {
    finish: { ...words, filtered: "other" },
    refusesInText: true,
    hides: [...completions, "reasoning tokens"],
  }),
  ai("@ai-sdk/groq", (url) => createGroq({ ...key, baseURL: `${url}/groq/openai/v1` })("openai/gpt-oss-120b"), {
    refusesInText: true,
    hides: completions,
  }),
  ai(
    "@ai-sdk/xai",
    (url) => xaiAt(url)("grok-4"),
    speaksResponses ? xaiResponses : { hides: [...completions, "refusal"] },
  ),
  ai("@ai-sdk/xai: responses", (url) => xaiAt(url).responses("grok-4"), xaiResponses),
  ai(
    "@ai-sdk/openai-compatible",
    (url) => createOpenAICompatible({ name: "together", baseURL: `${url}/together/v1`, includeUsage: true })("m"),
    { refusesInText: true, hides: completions },
  ),
  ai("@openrouter/ai-sdk-provider", (url) => createOpenRouter({ ...key, baseURL: `${url}/api/v1` })("openai/gpt-4o"), {
    hides: [...completions, "refusal"],
  }),
];
