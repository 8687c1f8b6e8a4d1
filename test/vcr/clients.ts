import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Writable } from "node:stream";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { generateText, type LanguageModel, streamText } from "ai";
import axios from "axios";
import { createParser } from "eventsource-parser";
import got from "got";
import OpenAI from "openai";
import { Agent, fetch as undiciFetch, request as undiciRequest, stream as undiciStream } from "undici";
import { vcr } from "../../src/testing/vcr/index.ts";

/** A client that knows no other address than its provider's, and was made before any scope. */
export interface Client {
  provider: string;
  whole(prompt: string): Promise<string>;
  /** @param told of each piece of text */
  streamed(prompt: string, told: (piece: string) => void, signal?: AbortSignal): Promise<void>;
}

const KEY = { apiKey: "a-key", maxRetries: 0 };
const user = (content: string) => [{ role: "user" as const, content }];

const openai = new OpenAI(KEY);
const anthropic = new Anthropic(KEY);
const google = new GoogleGenAI({ apiKey: "a-key" });

function aiSdk(provider: string, model: LanguageModel): Client {
  return {
    provider,
    whole: async (prompt) => (await generateText({ model, prompt, maxRetries: 0 })).text,
    streamed: async (prompt, told, signal) => {
      const { fullStream } = streamText({
        model,
        prompt,
        maxRetries: 0,
        onError: () => {},
        ...(signal && { abortSignal: signal }),
      });
      for await (const part of fullStream) {
        if (part.type === "text-delta") told(part.text);
        if (part.type === "error") throw part.error;
        if (part.type === "abort") throw new Error("aborted");
      }
    },
  };
}

const URL = "https://api.openai.com/v1/chat/completions";
const HEADERS = { authorization: "Bearer a-key", "content-type": "application/json" };
const asked = (prompt: string, stream: boolean) => ({ model: "gpt-4o", messages: user(prompt), stream });

type Completion = { choices: { message?: { content: string }; delta?: { content?: string } }[] };
const contentOf = (text: string): string => (JSON.parse(text) as Completion).choices[0]?.message?.content ?? text;

/** What a client without any SDK makes of the events of a stream. */
async function read(chunks: AsyncIterable<Uint8Array>, told: (piece: string) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => {
      const piece = data === "[DONE]" ? undefined : (JSON.parse(data) as Completion).choices[0]?.delta?.content;
      if (piece) told(piece);
    },
  });
  for await (const chunk of chunks) parser.feed(Buffer.from(chunk).toString());
}

type Send = (url: string, body: string, signal?: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

function plain(send: Send): Client {
  return {
    provider: "openai",
    whole: async (prompt) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of await send(URL, JSON.stringify(asked(prompt, false)))) chunks.push(chunk);
      return contentOf(Buffer.concat(chunks).toString());
    },
    streamed: async (prompt, told, signal) => {
      await read(await send(URL, JSON.stringify(asked(prompt, true)), signal), told);
    },
  };
}

const agent = new Agent().compose(vcr.interceptor as Parameters<Agent["compose"]>[0]);

/** Clients of HTTP: each sends a body and gives the reply's. */
export const senders: Record<string, Send> = {
  axios: async (url, body, signal) => {
    const reply = await axios.post(url, body, { headers: HEADERS, responseType: "stream", ...(signal && { signal }) });
    return reply.data as AsyncIterable<Uint8Array>;
  },
  got: async (url, body, signal) =>
    got.stream.post(url, { body, headers: HEADERS, retry: { limit: 0 }, ...(signal && { signal }) }),
  fetch: async (url, body, signal) => {
    const reply = await fetch(url, { method: "POST", headers: HEADERS, body, ...(signal && { signal }) });
    return reply.body as AsyncIterable<Uint8Array>;
  },
  "fetch with a dispatcher": async (url, body, signal) => {
    const init = { method: "POST", headers: HEADERS, body, dispatcher: new Agent(), ...(signal && { signal }) };
    return (await fetch(url, init as RequestInit)).body as AsyncIterable<Uint8Array>;
  },
  "undici, request": async (url, body, signal) =>
    (await undiciRequest(url, { method: "POST", headers: HEADERS, body, ...(signal && { signal }) })).body,
  "undici, request with an agent": async (url, body, signal) => {
    const options = { method: "POST" as const, headers: HEADERS, body, dispatcher: agent, ...(signal && { signal }) };
    return (await undiciRequest(url, options)).body;
  },
  "undici, fetch": async (url, body, signal) => {
    const reply = await undiciFetch(url, { method: "POST", headers: HEADERS, body, ...(signal && { signal }) });
    return reply.body as AsyncIterable<Uint8Array>;
  },
  "undici, stream": async (url, body, signal) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const options = { method: "POST" as const, headers: HEADERS, body, ...(signal && { signal }) };
    undiciStream(url, options, () => Writable.fromWeb(writable)).catch((error) =>
      writable.abort(error).catch(() => {}),
    );
    return readable as AsyncIterable<Uint8Array>;
  },
  "node:http and node:https": (url, body, signal) =>
    new Promise((resolve, reject) => {
      const request = url.startsWith("https:") ? httpsRequest : httpRequest;
      const options = { method: "POST", headers: HEADERS, ...(signal && { signal }) };
      request(url, options, resolve).on("error", reject).end(body);
    }),
};

export const clients: Record<string, Client> = {
  ...Object.fromEntries(Object.entries(senders).map(([name, send]) => [name, plain(send)])),
  openai: {
    provider: "openai",
    whole: async (prompt) =>
      (await openai.chat.completions.create({ model: "gpt-4o", messages: user(prompt) })).choices[0]?.message.content ??
      "",
    streamed: async (prompt, told, signal) => {
      const stream = await openai.chat.completions.create(
        { model: "gpt-4o", messages: user(prompt), stream: true },
        { signal },
      );
      for await (const chunk of stream) told(chunk.choices[0]?.delta.content ?? "");
      // The SDK ends a stream that is aborted without a word.
      signal?.throwIfAborted();
    },
  },
  "@anthropic-ai/sdk": {
    provider: "anthropic",
    whole: async (prompt) => {
      const reply = await anthropic.messages.create({
        model: "claude-haiku-4-5",
        max_tokens: 50,
        messages: user(prompt),
      });
      return reply.content[0]?.type === "text" ? reply.content[0].text : "";
    },
    streamed: async (prompt, told, signal) => {
      const stream = await anthropic.messages.create(
        { model: "claude-haiku-4-5", max_tokens: 50, messages: user(prompt), stream: true },
        { signal },
      );
      for await (const event of stream) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") told(event.delta.text);
      }
      signal?.throwIfAborted();
    },
  },
  "@google/genai": {
    provider: "gemini",
    whole: async (prompt) =>
      (await google.models.generateContent({ model: "gemini-2.5-flash", contents: prompt })).text ?? "",
    streamed: async (prompt, told, signal) => {
      const stream = await google.models.generateContentStream({
        model: "gemini-2.5-flash",
        contents: prompt,
        ...(signal && { config: { abortSignal: signal } }),
      });
      for await (const chunk of stream) told(chunk.text ?? "");
    },
  },
  "ai, openai": aiSdk("openai", createOpenAI(KEY).chat("gpt-4o")),
  "ai, openai responses": aiSdk("openai", createOpenAI(KEY).responses("gpt-4o")),
  "ai, anthropic": aiSdk("anthropic", createAnthropic(KEY)("claude-haiku-4-5")),
  "ai, google": aiSdk("gemini", createGoogleGenerativeAI(KEY)("gemini-2.5-flash")),
  "ai, groq": aiSdk("groq", createGroq(KEY)("llama-3.3-70b-versatile")),
  "ai, mistral": aiSdk("mistral", createMistral(KEY)("mistral-small-latest")),
};
