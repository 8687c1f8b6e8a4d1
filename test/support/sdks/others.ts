import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { CohereClient } from "cohere-ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { CLAUDE_ON_BEDROCK, CLAUDE_WORDS } from "./claude.ts";
import { all, key, once, type Sdk, Telling, type Told, user } from "./sdk.ts";

// Clients of APIs that nobody else speaks.

async function response(url: string, input: string, streamed: boolean): Promise<Told> {
  const { responses } = new OpenAI({ ...key, ...once, baseURL: `${url}/v1` });
  const asked = { model: "gpt-5", input };
  const { id, model, output, status, usage } = streamed
    ? await responses.stream(asked).finalResponse()
    : await responses.create(asked);
  const telling = new Telling();
  for (const item of output) {
    if (item.type === "message")
      for (const part of item.content) {
        if (part.type === "output_text") telling.say("text", part.text);
        else telling.say("refusal", part.refusal);
      }
    if (item.type === "reasoning") for (const { text } of item.summary) telling.say("reasoning", text);
    if (item.type === "function_call") telling.call(item.name, JSON.parse(item.arguments));
    if (item.type === "web_search_call" && item.action.type === "search") telling.search(item.action.query);
  }
  telling.end(status);
  telling.name(id, model);
  telling.count({
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cached: usage?.input_tokens_details.cached_tokens,
    reasoning: usage?.output_tokens_details.reasoning_tokens,
  });
  return telling.done();
}

export const aws = { accessKeyId: "x", secretAccessKey: "x" };

async function converse(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new BedrockRuntimeClient({ endpoint: url, region: "us-east-1", credentials: aws, maxAttempts: 1 });
  const asked = { modelId: CLAUDE_ON_BEDROCK, messages: [{ role: "user" as const, content: [{ text: prompt }] }] };
  const telling = new Telling();
  const count = (usage: { inputTokens?: number; outputTokens?: number; cacheReadInputTokens?: number } | undefined) => {
    // What a cache held is counted beside the input.
    const cached = usage?.cacheReadInputTokens;
    telling.count({ input: usage && (usage.inputTokens ?? 0) + (cached ?? 0), output: usage?.outputTokens, cached });
  };
  try {
    if (!streamed) {
      const { output, stopReason, usage } = await client.send(new ConverseCommand(asked));
      for (const block of output?.message?.content ?? []) {
        telling.say("text", block.text);
        telling.say("reasoning", block.reasoningContent?.reasoningText?.text);
        if (block.toolUse) telling.call(block.toolUse.name!, block.toolUse.input);
      }
      telling.end(stopReason);
      count(usage as Parameters<typeof count>[0]);
      return telling.done();
    }
    const { stream } = await client.send(new ConverseStreamCommand(asked));
    for await (const { contentBlockStart: start, contentBlockDelta: piece, messageStop, metadata } of stream!) {
      if (start?.start?.toolUse) telling.callPiece(start.contentBlockIndex, start.start.toolUse.name, "");
      telling.say("text", piece?.delta?.text);
      telling.say("reasoning", piece?.delta?.reasoningContent?.text);
      if (piece?.delta?.toolUse) telling.callPiece(piece.contentBlockIndex, "", piece.delta.toolUse.input);
      telling.end(messageStop?.stopReason);
      count(metadata?.usage as Parameters<typeof count>[0]);
    }
    return telling.done();
  } finally {
    client.destroy();
  }
}

async function ollamaChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new Ollama({ host: url });
  const asked = { model: "llama3.2", messages: user(prompt) };
  const telling = new Telling();
  const lines = streamed ? await all(await client.chat({ ...asked, stream: true })) : [await client.chat(asked)];
  for (const line of lines) {
    telling.say("reasoning", line.message.thinking);
    telling.say("text", line.message.content);
    for (const { function: called } of line.message.tool_calls ?? []) telling.call(called.name, called.arguments);
    telling.name(undefined, line.model);
    if (!line.done) continue;
    telling.end(line.done_reason);
    telling.count({ input: line.prompt_eval_count, output: line.eval_count });
  }
  return telling.done();
}

async function cohereChat(url: string, prompt: string, streamed: boolean): Promise<Told> {
  const client = new CohereClient({ environment: url, token: "x" });
  const asked = { model: "command-a-03-2025", messages: user(prompt) };
  const telling = new Telling();
  const count = (
    usage: { tokens?: { inputTokens?: number; outputTokens?: number }; cachedTokens?: number } | undefined,
  ) =>
    telling.count({
      input: usage?.tokens?.inputTokens,
      output: usage?.tokens?.outputTokens,
      cached: usage?.cachedTokens,
    });
  if (!streamed) {
    const { id, message: said, finishReason, usage } = await client.v2.chat(asked, once);
    for (const part of said.content ?? []) {
      if (part.type === "text") telling.say("text", part.text);
      else if (part.type === "thinking") telling.say("reasoning", part.thinking);
    }
    for (const { function: called } of said.toolCalls ?? []) {
      telling.call(called?.name ?? "", JSON.parse(called?.arguments ?? ""));
    }
    telling.end(finishReason);
    telling.name(id, undefined);
    count(usage);
    return telling.done();
  }
  for await (const event of await client.v2.chatStream(asked, once)) {
    if (event.type === "message-start") telling.name(event.id, undefined);
    if (event.type === "content-delta") {
      telling.say("text", event.delta?.message?.content?.text);
      telling.say("reasoning", event.delta?.message?.content?.thinking);
    }
    if (event.type === "tool-call-start") {
      telling.callPiece(event.index, event.delta?.message?.toolCalls?.function?.name, "");
    }
    if (event.type === "tool-call-delta") {
      telling.callPiece(event.index, "", event.delta?.message?.toolCalls?.function?.arguments);
    }
    if (event.type === "message-end") {
      const { finishReason, usage, error } = event.delta ?? {};
      if (finishReason === "ERROR" && error !== undefined) throw new Error(error);
      telling.end(finishReason);
      count(usage);
    }
  }
  return telling.done();
}

export const RESPONSE_WORDS = {
  stop: "completed",
  calls: "completed",
  length: "incomplete",
  filtered: "failed",
};

export const otherSdks: readonly Sdk[] = [
  { name: "openai: responses", finish: RESPONSE_WORDS, ask: response },
  {
    name: "@aws-sdk/client-bedrock-runtime",
    finish: { ...CLAUDE_WORDS, filtered: "content_filtered", refused: "content_filtered" },
    ask: converse,
    refusesInText: true,
    hides: ["searches", "id", "model", "reasoning tokens"],
    opensSockets: true,
  },
  {
    name: "ollama",
    // Models that call tools have stopped, there.
    finish: { stop: "stop", calls: "stop", length: "length", filtered: "stop" },
    refusesInText: true,
    hides: ["order, whole", "searches", "id", "cached", "reasoning tokens"],
    ask: ollamaChat,
  },
  {
    name: "cohere-ai",
    finish: { stop: "COMPLETE", calls: "TOOL_CALL", length: "MAX_TOKENS", filtered: "ERROR" },
    refusesInText: true,
    hides: ["order, whole", "searches", "model", "reasoning tokens"],
    ask: cohereChat,
  },
];
