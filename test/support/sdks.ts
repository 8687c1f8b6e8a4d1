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
import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import Anthropic from "@anthropic-ai/sdk";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import type { AIMessageChunk } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { Mistral } from "@mistralai/mistralai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from "ai";
import { CohereClient } from "cohere-ai";
import Groq from "groq-sdk";
import { Ollama } from "ollama";
import OpenAI, { AzureOpenAI } from "openai";

/** What an SDK hands its user of a reply. */
export interface Told {
  text: string;
  reasoning: string;
  calls: { name: string; arguments: unknown }[];
  /** In the SDK's own word. */
  finish: string | null | undefined;
  tokens: [input: number | undefined, output: number | undefined];
}

export interface Sdk {
  name: string;
  /** Asks a double at a URL, and waits until all is told; what the client itself would try again it tries once. */
  ask(url: string, prompt: string, streamed: boolean): Promise<Told>;
  /** Its words for a reply that is complete, that calls tools, and that was cut at its length. */
  finish: { stop: string; calls: string; length: string };
  /** It has no place for reasoning, though its provider may. */
  hidesReasoning?: true;
  /** How it tells of an error in mid-stream, where that is not by the error's message. */
  brokenOff?: RegExp;
  /** It opens its connections itself, past `fetch`. */
  opensSockets?: true;
  /** It passes over errors in mid-stream, and this is then its word for how the reply ended. */
  passesOverErrors?: string;
}

const nothing = (): Told => ({ text: "", reasoning: "", calls: [], finish: undefined, tokens: [undefined, undefined] });
const user = (content: string) => [{ role: "user" as const, content }];

// Chat completions, which several clients read.

interface CompletionMessage {
  content?: unknown;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[] | null;
}

interface Completion {
  choices: { message?: CompletionMessage; delta?: CompletionMessage; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
}

/** A completion, or the chunks of one. */
function completionTold(all: Completion[]): Told {
  const told = nothing();
  const calls: { name: string; text: string }[] = [];
  for (const { choices, usage } of all) {
    const [choice] = choices;
    const message = choice?.message ?? choice?.delta;
    if (typeof message?.content === "string") told.text += message.content;
    told.reasoning += message?.reasoning ?? message?.reasoning_content ?? "";
    message?.tool_calls?.forEach((call, at) => {
      const index = call.index ?? at;
      calls[index] ??= { name: "", text: "" };
      calls[index].name += call.function?.name ?? "";
      calls[index].text += call.function?.arguments ?? "";
    });
    told.finish = choice?.finish_reason ?? told.finish;
    if (usage) told.tokens = [usage.prompt_tokens, usage.completion_tokens];
  }
  told.calls = calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return told;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function completion(client: OpenAI, model: string, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model, messages: user(prompt) };
  if (!streamed) return completionTold([(await client.chat.completions.create(asked)) as Completion]);
  const options = { ...asked, stream: true, stream_options: { include_usage: true } } as const;
  return completionTold((await all(await client.chat.completions.create(options))) as Completion[]);
}

const COMPLETION_WORDS = { stop: "stop", calls: "tool_calls", length: "length" };

// Anthropic's client, wherever Claude is.

type Messages = Pick<Anthropic["messages"], "create"> & Partial<Pick<Anthropic["messages"], "stream">>;

async function message(messages: Messages, model: string, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model, max_tokens: 100, messages: user(prompt) };
  const told = nothing();
  const { content, stop_reason, usage } = streamed
    ? await messages.stream!(asked).finalMessage()
    : await messages.create(asked);
  for (const block of content) {
    if (block.type === "text") told.text += block.text;
    if (block.type === "thinking") told.reasoning += block.thinking;
    if (block.type === "tool_use") told.calls.push({ name: block.name, arguments: block.input });
  }
  return { ...told, finish: stop_reason, tokens: [usage.input_tokens, usage.output_tokens] };
}

const CLAUDE_WORDS = { stop: "end_turn", calls: "tool_use", length: "max_tokens" };
const CLAUDE_ON_BEDROCK = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const aws = { accessKeyId: "x", secretAccessKey: "x" };

async function bedrockMessage(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const { messages } = new AnthropicBedrock({
    baseURL: url,
    awsAccessKey: "x",
    awsSecretKey: "x",
    awsRegion: "us-east-1",
    maxRetries: 0,
  });
  if (!streamed) return message(messages as unknown as Messages, CLAUDE_ON_BEDROCK, prompt, false);
  const told = nothing();
  const calls: { name: string; text: string }[] = [];
  const asked = { model: CLAUDE_ON_BEDROCK, max_tokens: 100, messages: user(prompt), stream: true } as const;
  for await (const event of await messages.create(asked)) {
    if (event.type === "message_start") told.tokens[0] = event.message.usage.input_tokens;
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      calls[event.index] = { name: event.content_block.name, text: "" };
    }
    if (event.type === "content_block_delta") {
      const { delta } = event;
      if (delta.type === "text_delta") told.text += delta.text;
      if (delta.type === "thinking_delta") told.reasoning += delta.thinking;
      if (delta.type === "input_json_delta") calls[event.index]!.text += delta.partial_json;
    }
    if (event.type === "message_delta") {
      told.finish = event.delta.stop_reason;
      told.tokens[1] = event.usage.output_tokens;
    }
  }
  told.calls = Object.values(calls).map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return told;
}

// Google's client, with Gemini and Vertex AI.

const noRetry = { attempts: 1 };
const googleAuth = { getRequestHeaders: async () => new Headers({ authorization: "Bearer x" }) } as never;

const geminiAt = (url: string) =>
  new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url, retryOptions: noRetry } });

async function content({ models }: GoogleGenAI, prompt: string, streamed: boolean): Promise<Told> {
  const asked = { model: "gemini-2.5-flash", contents: prompt };
  const told = nothing();
  const responses = streamed
    ? await all(await models.generateContentStream(asked))
    : [await models.generateContent(asked)];
  for (const { candidates, usageMetadata } of responses) {
    const [candidate] = candidates ?? [];
    for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
      if (thought) told.reasoning += text ?? "";
      else told.text += text ?? "";
      if (functionCall) told.calls.push({ name: functionCall.name!, arguments: functionCall.args });
    }
    told.finish = candidate?.finishReason ?? told.finish;
    if (usageMetadata) told.tokens = [usageMetadata.promptTokenCount, usageMetadata.candidatesTokenCount];
  }
  return told;
}

/** Of Interactions, which have a client of their own. */
const noRetries = { maxRetries: 0 };

async function interaction(url: string, input: string, streamed: boolean): Promise<Told> {
  const { interactions } = geminiAt(url);
  const told = nothing();
  const asked = { model: "gemini-2.5-flash", input };
  if (!streamed) {
    const { steps, status, usage } = await interactions.create(asked, noRetries);
    for (const step of steps ?? []) {
      if (step.type === "model_output")
        for (const part of step.content ?? []) if (part.type === "text") told.text += part.text;
      if (step.type === "thought")
        for (const part of step.summary ?? []) if (part.type === "text") told.reasoning += part.text;
      if (step.type === "function_call") told.calls.push({ name: step.name, arguments: step.arguments });
    }
    return { ...told, finish: status, tokens: [usage?.total_input_tokens, usage?.total_output_tokens] };
  }
  const calls: { name: string; text: string }[] = [];
  for await (const event of await interactions.create({ ...asked, stream: true }, noRetries)) {
    if (event.event_type === "error") throw new Error(event.error?.message);
    if (event.event_type === "step.start" && event.step.type === "function_call") {
      calls[event.index] = { name: event.step.name, text: "" };
    }
    if (event.event_type === "step.delta") {
      const { delta } = event;
      if (delta.type === "text") told.text += delta.text;
      if (delta.type === "thought_summary" && delta.content?.type === "text") told.reasoning += delta.content.text;
      if (delta.type === "arguments_delta") calls[event.index]!.text += delta.arguments;
    }
    if (event.event_type === "interaction.completed") {
      const { status, usage } = event.interaction;
      told.finish = status;
      told.tokens = [usage?.total_input_tokens, usage?.total_output_tokens];
    }
  }
  told.calls = Object.values(calls).map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return told;
}

// The others.

async function response(url: string, input: string, streamed: boolean): Promise<Told> {
  const { responses } = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
  const asked = { model: "gpt-5", input };
  const { output, status, usage } = streamed
    ? await responses.stream(asked).finalResponse()
    : await responses.create(asked);
  const told = nothing();
  for (const item of output) {
    if (item.type === "message")
      for (const part of item.content) if (part.type === "output_text") told.text += part.text;
    if (item.type === "reasoning") told.reasoning += item.summary.map(({ text }) => text).join("");
    if (item.type === "function_call") told.calls.push({ name: item.name, arguments: JSON.parse(item.arguments) });
  }
  return { ...told, finish: status, tokens: [usage?.input_tokens, usage?.output_tokens] };
}

async function converse(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new BedrockRuntimeClient({ endpoint: url, region: "us-east-1", credentials: aws, maxAttempts: 1 });
  const asked = { modelId: CLAUDE_ON_BEDROCK, messages: [{ role: "user" as const, content: [{ text: prompt }] }] };
  const told = nothing();
  try {
    if (!streamed) {
      const { output, stopReason, usage } = await client.send(new ConverseCommand(asked));
      for (const block of output?.message?.content ?? []) {
        told.text += block.text ?? "";
        told.reasoning += block.reasoningContent?.reasoningText?.text ?? "";
        if (block.toolUse) told.calls.push({ name: block.toolUse.name!, arguments: block.toolUse.input });
      }
      return { ...told, finish: stopReason, tokens: [usage?.inputTokens, usage?.outputTokens] };
    }
    const calls: { name: string; text: string }[] = [];
    const { stream } = await client.send(new ConverseStreamCommand(asked));
    for await (const { contentBlockStart: start, contentBlockDelta: piece, messageStop, metadata } of stream!) {
      if (start?.start?.toolUse) calls[start.contentBlockIndex!] = { name: start.start.toolUse.name!, text: "" };
      told.text += piece?.delta?.text ?? "";
      told.reasoning += piece?.delta?.reasoningContent?.text ?? "";
      if (piece?.delta?.toolUse) calls[piece.contentBlockIndex!]!.text += piece.delta.toolUse.input;
      told.finish = messageStop?.stopReason ?? told.finish;
      if (metadata?.usage) told.tokens = [metadata.usage.inputTokens, metadata.usage.outputTokens];
    }
    told.calls = Object.values(calls).map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
    return told;
  } finally {
    client.destroy();
  }
}

async function ollamaChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new Ollama({ host: url });
  const asked = { model: "llama3.2", messages: user(prompt) };
  const told = nothing();
  const lines = streamed ? await all(await client.chat({ ...asked, stream: true })) : [await client.chat(asked)];
  for (const line of lines) {
    told.text += line.message.content;
    told.reasoning += line.message.thinking ?? "";
    for (const { function: called } of line.message.tool_calls ?? []) told.calls.push(called);
    if (line.done) Object.assign(told, { finish: line.done_reason, tokens: [line.prompt_eval_count, line.eval_count] });
  }
  told.calls = told.calls.map(({ name, arguments: input }) => ({ name, arguments: input }));
  return told;
}

async function cohereChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new CohereClient({ environment: url, token: "x" });
  const asked = { model: "command-a-03-2025", messages: user(prompt) };
  const told = nothing();
  if (!streamed) {
    const { message: said, finishReason, usage } = await client.v2.chat(asked, { maxRetries: 0 });
    for (const part of said.content ?? []) {
      if (part.type === "text") told.text += part.text;
      else if (part.type === "thinking") told.reasoning += part.thinking;
    }
    for (const { function: called } of said.toolCalls ?? []) {
      told.calls.push({ name: called?.name ?? "", arguments: JSON.parse(called?.arguments ?? "") });
    }
    return { ...told, finish: finishReason, tokens: [usage?.tokens?.inputTokens, usage?.tokens?.outputTokens] };
  }
  const calls: { name: string; text: string }[] = [];
  for await (const event of await client.v2.chatStream(asked, { maxRetries: 0 })) {
    if (event.type === "content-delta") {
      told.text += event.delta?.message?.content?.text ?? "";
      told.reasoning += event.delta?.message?.content?.thinking ?? "";
    }
    if (event.type === "tool-call-start") {
      calls.push({ name: event.delta?.message?.toolCalls?.function?.name ?? "", text: "" });
    }
    if (event.type === "tool-call-delta") {
      calls.at(-1)!.text += event.delta?.message?.toolCalls?.function?.arguments ?? "";
    }
    if (event.type === "message-end") {
      const { finishReason, usage, error } = event.delta ?? {};
      if (finishReason === "ERROR") throw new Error(error);
      told.finish = finishReason;
      told.tokens = [usage?.tokens?.inputTokens, usage?.tokens?.outputTokens];
    }
  }
  told.calls = calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return told;
}

async function mistralChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const { chat } = new Mistral({ serverURL: url, apiKey: "x", retryConfig: { strategy: "none" } });
  const asked = { model: "magistral-medium-latest", messages: user(prompt) };
  const told = nothing();
  const calls: { name: string; text: string }[] = [];
  const events = streamed
    ? (await all(await chat.stream(asked))).map(({ data }) => ({ ...data, said: data.choices[0]?.delta }))
    : [await chat.complete(asked)].map((whole) => ({ ...whole, said: whole.choices?.[0]?.message }));
  for (const { said, choices, usage } of events) {
    const parts = typeof said?.content === "string" ? [{ type: "text" as const, text: said.content }] : said?.content;
    for (const part of parts ?? []) {
      if (part.type === "text") told.text += part.text;
      if (part.type === "thinking")
        for (const piece of part.thinking) if ("text" in piece) told.reasoning += piece.text;
    }
    said?.toolCalls?.forEach((call, at) => {
      const index = streamed ? (call.index ?? at) : at;
      calls[index] ??= { name: "", text: "" };
      calls[index].name += call.function.name;
      calls[index].text += call.function.arguments;
    });
    told.finish = choices?.[0]?.finishReason ?? told.finish;
    if (usage) told.tokens = [usage.promptTokens, usage.completionTokens];
  }
  told.calls = calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) }));
  return told;
}

const WEATHER_SCHEMA = { type: "object", properties: { city: { type: "string" } } } as const;

async function langChain(model: ChatOpenAI | ChatGoogleGenerativeAI, prompt: string, streamed: boolean): Promise<Told> {
  const chunks: AIMessageChunk[] = streamed ? await all(await model.stream(prompt)) : [];
  const whole = streamed
    ? chunks.reduce((sum, chunk) => sum.concat(chunk))
    : ((await model.invoke(prompt)) as AIMessageChunk);
  const { response_metadata: metadata, usage_metadata: usage } = whole;
  return {
    text: whole.text,
    reasoning: "",
    calls: (whole.tool_calls ?? []).map(({ name, args }) => ({ name, arguments: args })),
    finish: String(metadata["finish_reason"] ?? metadata["finishReason"] ?? metadata["status"]),
    tokens: [usage?.input_tokens, usage?.output_tokens],
  };
}

function ai(name: string, modelAt: (url: string) => LanguageModel, more: Partial<Sdk> = {}): Sdk {
  const tools = { weather: tool({ inputSchema: jsonSchema<{ city: string }>(WEATHER_SCHEMA) }) };
  return {
    name,
    finish: { stop: "stop", calls: "tool-calls", length: "length" },
    async ask(url, prompt, streamed) {
      const call = { model: modelAt(url), prompt, tools, maxRetries: 0 };
      const failures: unknown[] = [];
      const result = streamed
        ? streamText({ ...call, onError: ({ error }) => void failures.push(error) })
        : await generateText(call);
      if ("consumeStream" in result) await result.consumeStream();
      if (failures.length > 0) throw failures[0];
      const { inputTokens, outputTokens } = await result.usage;
      return {
        text: await result.text,
        reasoning: (await result.reasoningText) ?? "",
        calls: (await result.toolCalls).map(({ toolName, input }) => ({ name: toolName, arguments: input })),
        finish: await result.finishReason,
        tokens: [inputTokens, outputTokens],
      };
    },
    ...more,
  };
}

const key = { apiKey: "x" };

/** Every official SDK that is tried against the double, and what is different about it. */
export const sdks: readonly Sdk[] = [
  {
    name: "openai: chat",
    finish: COMPLETION_WORDS,
    ask: (url, prompt, streamed) =>
      completion(new OpenAI({ ...key, baseURL: `${url}/v1`, maxRetries: 0 }), "gpt-5", prompt, streamed),
  },
  {
    name: "openai: responses",
    finish: { stop: "completed", calls: "completed", length: "incomplete" },
    ask: response,
  },
  {
    name: "openai: azure",
    finish: COMPLETION_WORDS,
    ask: (url, prompt, streamed) => {
      const client = new AzureOpenAI({ ...key, endpoint: url, apiVersion: "2025-04-01-preview", maxRetries: 0 });
      return completion(client, "my-gpt", prompt, streamed);
    },
  },
  {
    name: "openai: openrouter",
    finish: COMPLETION_WORDS,
    ask: (url, prompt, streamed) =>
      completion(new OpenAI({ ...key, baseURL: `${url}/api/v1`, maxRetries: 0 }), "openai/gpt-5", prompt, streamed),
  },
  {
    name: "openai: gemini",
    finish: COMPLETION_WORDS,
    ask: (url, prompt, streamed) =>
      completion(new OpenAI({ ...key, baseURL: `${url}/v1beta/openai`, maxRetries: 0 }), "gemini-3", prompt, streamed),
  },
  {
    name: "groq-sdk",
    finish: COMPLETION_WORDS,
    ask: async (url, prompt, streamed) => {
      const client = new Groq({ ...key, baseURL: url, maxRetries: 0 });
      return completion(client as unknown as OpenAI, "openai/gpt-oss-120b", prompt, streamed);
    },
  },
  // It reads completions only, and finds this to be none.
  { name: "@mistralai/mistralai", finish: COMPLETION_WORDS, ask: mistralChat, brokenOff: /invalid_type/ },
  {
    name: "@anthropic-ai/sdk",
    finish: CLAUDE_WORDS,
    ask: (url, prompt, streamed) =>
      message(new Anthropic({ ...key, baseURL: url, maxRetries: 0 }).messages, "claude-sonnet-5", prompt, streamed),
  },
  {
    name: "@anthropic-ai/vertex-sdk",
    finish: CLAUDE_WORDS,
    ask: (url, prompt, streamed) => {
      const { messages } = new AnthropicVertex({
        baseURL: `${url}/v1`,
        region: "europe-west1",
        projectId: "p-1",
        maxRetries: 0,
        authClient: googleAuth,
      });
      return message(messages as unknown as Messages, "claude-sonnet-4-5@20250929", prompt, streamed);
    },
  },
  { name: "@anthropic-ai/bedrock-sdk", finish: CLAUDE_WORDS, ask: bedrockMessage },
  { name: "@aws-sdk/client-bedrock-runtime", finish: CLAUDE_WORDS, ask: converse, opensSockets: true },
  {
    name: "@google/genai: gemini",
    finish: { stop: "STOP", calls: "FUNCTION_CALL", length: "MAX_TOKENS" },
    ask: (url, prompt, streamed) => content(geminiAt(url), prompt, streamed),
  },
  {
    name: "@google/genai: vertex",
    finish: { stop: "STOP", calls: "FUNCTION_CALL", length: "MAX_TOKENS" },
    ask: (url, prompt, streamed) => {
      const client = new GoogleGenAI({
        vertexai: true,
        project: "p-1",
        location: "europe-west1",
        httpOptions: { baseUrl: url, retryOptions: noRetry },
        googleAuthOptions: { authClient: googleAuth },
      });
      return content(client, prompt, streamed);
    },
  },
  {
    name: "@google/genai: interactions",
    finish: { stop: "completed", calls: "requires_action", length: "incomplete" },
    ask: interaction,
  },
  // Models that call tools have stopped, there.
  { name: "ollama", finish: { stop: "stop", calls: "stop", length: "length" }, ask: ollamaChat },
  {
    name: "cohere-ai",
    finish: { stop: "COMPLETE", calls: "TOOL_CALL", length: "MAX_TOKENS" },
    ask: cohereChat,
  },
  {
    name: "@langchain/openai: chat",
    finish: COMPLETION_WORDS,
    hidesReasoning: true,
    ask: (url, prompt, streamed) => {
      const configuration = { baseURL: `${url}/v1` };
      return langChain(new ChatOpenAI({ ...key, model: "gpt-5", maxRetries: 0, configuration }), prompt, streamed);
    },
  },
  {
    name: "@langchain/openai: responses",
    finish: { stop: "completed", calls: "completed", length: "incomplete" },
    hidesReasoning: true,
    ask: (url, prompt, streamed) => {
      const configuration = { baseURL: `${url}/v1` };
      const options = { ...key, model: "gpt-5", maxRetries: 0, useResponsesApi: true, configuration };
      return langChain(new ChatOpenAI(options), prompt, streamed);
    },
  },
  {
    name: "@langchain/google-genai",
    finish: { stop: "STOP", calls: "FUNCTION_CALL", length: "MAX_TOKENS" },
    hidesReasoning: true,
    passesOverErrors: "undefined",
    ask: (url, prompt, streamed) =>
      langChain(
        new ChatGoogleGenerativeAI({ ...key, model: "gemini-2.5-flash", baseUrl: url, maxRetries: 0 }),
        prompt,
        streamed,
      ),
  },
  ai("@ai-sdk/openai", (url) => createOpenAI({ ...key, baseURL: `${url}/v1` })("gpt-5")),
  ai("@ai-sdk/openai: chat", (url) => createOpenAI({ ...key, baseURL: `${url}/v1` }).chat("gpt-5"), {
    hidesReasoning: true,
  }),
  ai("@ai-sdk/anthropic", (url) => createAnthropic({ ...key, baseURL: `${url}/v1` })("claude-sonnet-5")),
  ai("@ai-sdk/google", (url) => createGoogleGenerativeAI({ ...key, baseURL: `${url}/v1beta` })("gemini-2.5-flash"), {
    // It knows STOP only, which recordings have.
    finish: { stop: "stop", calls: "other", length: "length" },
  }),
  ai("@ai-sdk/amazon-bedrock", (url) =>
    createAmazonBedrock({ ...aws, baseURL: url, region: "us-east-1" })(CLAUDE_ON_BEDROCK),
  ),
  ai("@ai-sdk/azure", (url) => createAzure({ ...key, baseURL: `${url}/openai/v1` }).chat("my-gpt"), {
    hidesReasoning: true,
  }),
  ai("@ai-sdk/cohere", (url) => createCohere({ ...key, baseURL: `${url}/v2` })("command-a-03-2025"), {
    passesOverErrors: "error",
  }),
  ai("@ai-sdk/mistral", (url) => createMistral({ ...key, baseURL: `${url}/mistral/v1` })("magistral-medium-latest")),
  ai("@ai-sdk/groq", (url) => createGroq({ ...key, baseURL: `${url}/groq/openai/v1` })("openai/gpt-oss-120b")),
  // Chat here; from its fifth version on Responses.
  ai("@ai-sdk/xai", (url) => createXai({ ...key, baseURL: `${url}/xai/v1` })("grok-4")),
  ai("@ai-sdk/openai-compatible", (url) =>
    createOpenAICompatible({ name: "together", baseURL: `${url}/together/v1`, includeUsage: true })("m"),
  ),
  ai("@openrouter/ai-sdk-provider", (url) => createOpenRouter({ ...key, baseURL: `${url}/api/v1` })("openai/gpt-4o")),
];
