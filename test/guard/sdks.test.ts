import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { Mistral } from "@mistralai/mistralai";
import { CohereClient } from "cohere-ai";
import Groq from "groq-sdk";
import { Ollama } from "ollama";
import OpenAI, { AzureOpenAI } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { onCleanup } from "../relay/support.ts";

const ADDRESS = "ada@example.com";
const user = (content: string) => [{ role: "user" as const, content }];

let double: StuntDouble;
beforeAll(async () => {
  double = await StuntDouble.start({
    guard: { rules: [{ name: "people", action: "block", detectors: ["personal"] }] },
  });
  double.on({}, { content: `Well then, ask ${ADDRESS}, who knows.` }, { chunkSize: 6 });
  return () => double.stop();
});

interface Client {
  name: string;
  ask(prompt: string): Promise<unknown>;
  /** Reads a stream to its end. @returns its text */
  stream(prompt: string, heard: (text: string) => void): Promise<void>;
  /** What its user catches when a call is refused. */
  refused: object;
  /** What the error of a cut stream says. */
  cut: RegExp;
}

const BLOCK = /Guardrail Block/;

async function each<Piece>(
  pieces: AsyncIterable<Piece>,
  text: (piece: Piece) => string | null | undefined,
  heard: (text: string) => void,
) {
  for await (const piece of pieces) heard(text(piece) ?? "");
}

function openAI(name: string, make: () => Pick<OpenAI, "chat">, PermissionDenied: unknown): Client {
  const body = (prompt: string) => ({ model: "gpt-5", messages: user(prompt) });
  return {
    name,
    ask: (prompt) => make().chat.completions.create(body(prompt)),
    stream: async (prompt, heard) =>
      each(
        await make().chat.completions.create({ ...body(prompt), stream: true }),
        ({ choices }) => choices[0]?.delta.content,
        heard,
      ),
    refused: PermissionDenied as object,
    cut: BLOCK,
  };
}

const clients: readonly Client[] = [
  openAI(
    "openai",
    () => new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 }),
    OpenAI.PermissionDeniedError,
  ),
  openAI(
    "azure",
    () =>
      new AzureOpenAI({ endpoint: double.url, apiKey: "x", apiVersion: "2024-10-21", deployment: "d", maxRetries: 0 }),
    OpenAI.PermissionDeniedError,
  ),
  openAI(
    "groq",
    () => new Groq({ baseURL: `${double.url}/groq`, apiKey: "x", maxRetries: 0 }) as unknown as OpenAI,
    Groq.PermissionDeniedError,
  ),
  {
    name: "openai responses",
    ask: (input) =>
      new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 }).responses.create({
        model: "gpt-5",
        input,
      }),
    stream: async (input, heard) =>
      each(
        await new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 }).responses.create({
          model: "gpt-5",
          input,
          stream: true,
        }),
        (event) => {
          // The client hands this one on as it hands on all others.
          if (event.type === "error") throw new Error(event.message);
          return event.type === "response.output_text.delta" ? event.delta : "";
        },
        heard,
      ),
    refused: OpenAI.PermissionDeniedError,
    cut: BLOCK,
  },
  {
    name: "anthropic",
    ask: (prompt) =>
      new Anthropic({ baseURL: double.url, apiKey: "x", maxRetries: 0 }).messages.create({
        model: "claude",
        max_tokens: 9,
        messages: user(prompt),
      }),
    stream: async (prompt, heard) =>
      each(
        await new Anthropic({ baseURL: double.url, apiKey: "x", maxRetries: 0 }).messages.create({
          model: "claude",
          max_tokens: 9,
          messages: user(prompt),
          stream: true,
        }),
        (event) => (event.type === "content_block_delta" && event.delta.type === "text_delta" ? event.delta.text : ""),
        heard,
      ),
    refused: Anthropic.PermissionDeniedError,
    cut: BLOCK,
  },
  {
    name: "google",
    ask: (contents) => google().models.generateContent({ model: "gemini-3", contents }),
    stream: async (contents, heard) =>
      each(await google().models.generateContentStream({ model: "gemini-3", contents }), (chunk) => chunk.text, heard),
    refused: { status: 403, message: expect.stringMatching(/PERMISSION_DENIED/) },
    cut: BLOCK,
  },
  {
    name: "bedrock",
    ask: (text) =>
      bedrock().send(new ConverseCommand({ modelId: "m", messages: [{ role: "user", content: [{ text }] }] })),
    stream: async (text, heard) => {
      const { stream } = await bedrock().send(
        new ConverseStreamCommand({ modelId: "m", messages: [{ role: "user", content: [{ text }] }] }),
      );
      await each(stream!, ({ contentBlockDelta }) => contentBlockDelta?.delta?.text, heard);
    },
    refused: { name: "AccessDeniedException", $metadata: { httpStatusCode: 403 } },
    cut: BLOCK,
  },
  {
    name: "cohere",
    ask: (content) => cohere().v2.chat({ model: "command", messages: user(content) }, { maxRetries: 0 }),
    stream: async (content, heard) =>
      each(
        await cohere().v2.chatStream({ model: "command", messages: user(content) }, { maxRetries: 0 }),
        (event) => {
          if (event.type === "message-end" && event.delta?.error !== undefined) throw new Error(event.delta.error);
          return event.type === "content-delta" ? event.delta?.message?.content?.text : "";
        },
        heard,
      ),
    refused: { statusCode: 403 },
    cut: BLOCK,
  },
  {
    name: "mistral",
    ask: (content) => mistral().chat.complete({ model: "mistral", messages: user(content) }),
    stream: async (content, heard) =>
      each(
        await mistral().chat.stream({ model: "mistral", messages: user(content) }),
        ({ data }) => data.choices[0]?.delta.content as string,
        heard,
      ),
    refused: { statusCode: 403 },
    cut: /./,
  },
  {
    name: "ollama",
    ask: (content) => new Ollama({ host: double.url }).chat({ model: "llama", messages: user(content) }),
    stream: async (content, heard) =>
      each(
        await new Ollama({ host: double.url }).chat({ model: "llama", messages: user(content), stream: true }),
        ({ message }) => message.content,
        heard,
      ),
    refused: { name: "ResponseError", status_code: 403 },
    cut: BLOCK,
  },
];

const google = () => new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: double.url } });
const cohere = () => new CohereClient({ token: "x", environment: double.url });
const mistral = () =>
  new Mistral({ apiKey: "x", serverURL: `${double.url}/mistral`, retryConfig: { strategy: "none" } });
function bedrock(): BedrockRuntimeClient {
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: double.url,
    credentials: { accessKeyId: "x", secretAccessKey: "y" },
    maxAttempts: 1,
  });
  onCleanup(() => client.destroy());
  return client;
}

describe.each(clients)("$name sees a block", ({ ask, stream, refused, cut }) => {
  it("of a request as its own kind of permission error", async () => {
    for (const call of [ask, (prompt: string) => stream(prompt, () => {})]) {
      const error: unknown = await call(`Write to ${ADDRESS}`).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (typeof refused === "function") expect(error).toBeInstanceOf(refused);
      else expect(error).toMatchObject(refused);
      expect(String((error as Error).message)).not.toContain(ADDRESS);
    }
  });

  it("of an answer as the same", async () => {
    const error: unknown = await ask("Whom do I ask?").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (typeof refused === "function") expect(error).toBeInstanceOf(refused);
    else expect(error).toMatchObject(refused);
  });

  it("of a stream as an error after what came before", async () => {
    let text = "";
    await expect(
      stream("Whom do I ask?", (piece) => {
        text += piece;
      }),
    ).rejects.toThrow(cut);
    expect("Well then, ask ".startsWith(text)).toBe(true);
    expect(text).toContain("Well then");
  });
});
