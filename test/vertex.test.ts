import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let claude: AnthropicVertex;
beforeAll(() => {
  claude = new AnthropicVertex({
    baseURL: `${double.url}/v1`,
    region: "europe-west1",
    projectId: "p-1",
    maxRetries: 0,
    authClient: { getRequestHeaders: async () => new Headers({ authorization: "Bearer x" }) } as never,
  });
});

const ask = (content: string) => ({
  model: "claude-sonnet-4-5@20250929",
  max_tokens: 100,
  messages: [{ role: "user" as const, content }],
});

/** The same answer whole and streamed. */
const bothWays = async (content: string) => [
  await claude.messages.create(ask(content)),
  await claude.messages.stream(ask(content)).finalMessage(),
];

describe("Claude on Vertex AI", () => {
  it("answers by the model that the path names", async () => {
    double.on({ model: "claude-sonnet-4-5@20250929", userMessage: "hello" }, { content: "Hi!" });
    for (const message of await bothWays("hello")) {
      expect(message).toMatchObject({
        model: "claude-sonnet-4-5@20250929",
        content: [{ type: "text", text: "Hi!" }],
        stop_reason: "end_turn",
      });
      expect(message.id).toMatch(/^msg_/);
    }
    expect(double.calls().map(({ path }) => path.split("/").at(-1))).toEqual([
      "claude-sonnet-4-5@20250929:rawPredict",
      "claude-sonnet-4-5@20250929:streamRawPredict",
    ]);
  });

  it("calls tools and thinks", async () => {
    double.onMessage("weather", {
      reasoning: "Hm.",
      reasoningSignature: "c2ln",
      toolCalls: [{ id: "toolu_1", name: "weather", arguments: { city: "Bern" } }],
    });
    for (const { content, stop_reason } of await bothWays("weather?")) {
      expect(stop_reason).toBe("tool_use");
      expect(content).toMatchObject([
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern" } },
      ]);
    }
  });

  it("counts tokens", async () => {
    const { max_tokens: _, ...request } = ask("12345678");
    expect(await claude.messages.countTokens(request)).toEqual({ input_tokens: 2 });
  });

  it("needs the version in the body", async () => {
    const { model: _, ...body } = ask("x");
    const path = "/v1beta1/projects/p/locations/us/publishers/anthropic/models/claude-opus-4:rawPredict";
    const response = await fetch(double.url + path, { method: "POST", body: JSON.stringify(body) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", message: "anthropic_version: Field required" },
    });
  });
});

describe("Gemini on Vertex AI", () => {
  const client = () =>
    new GoogleGenAI({
      vertexai: true,
      project: "p-1",
      location: "europe-west1",
      httpOptions: { baseUrl: double.url },
      googleAuthOptions: {
        authClient: { getRequestHeaders: async () => new Headers({ authorization: "Bearer x" }) } as never,
      },
    });
  const model = "gemini-3-pro-preview";

  it("answers whole and streamed, under the project's path", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" });
    const whole = await client().models.generateContent({ model, contents: "hello" });
    expect(whole.text).toBe("Hi, nice to meet you!");
    let text = "";
    for await (const chunk of await client().models.generateContentStream({ model, contents: "hello" }))
      text += chunk.text;
    expect(text).toBe("Hi, nice to meet you!");
    expect(double.calls().map(({ path }) => path)).toEqual([
      `/v1beta1/projects/p-1/locations/europe-west1/publishers/google/models/${model}:generateContent`,
      `/v1beta1/projects/p-1/locations/europe-west1/publishers/google/models/${model}:streamGenerateContent?alt=sse`,
    ]);
  });

  it("counts tokens, embeds and lists models", async () => {
    double.onEmbedding("red", { embedding: [1, 2] });
    expect(await client().models.countTokens({ model, contents: "12345678" })).toMatchObject({ totalTokens: 2 });
    const old = await client().models.embedContent({ model: "text-embedding-005", contents: "red" });
    const now = await client().models.embedContent({ model: "gemini-embedding-2", contents: "red" });
    expect([old, now].map(({ embeddings }) => embeddings?.[0]?.values)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const { name, version } = await client().models.get({ model });
    expect([name, version]).toEqual([`publishers/google/models/${model}`, "default"]);
    const names: string[] = [];
    for await (const { name } of await client().models.list()) names.push(name ?? "");
    expect(names).toContain("publishers/google/models/gemini-2.5-pro");
  });
});

it("serves OpenAI's clients under endpoints/openapi", async () => {
  double.onMessage("hello", { content: "Hi!" });
  const openai = new OpenAI({
    baseURL: `${double.url}/v1/projects/p-1/locations/us-central1/endpoints/openapi`,
    apiKey: "x",
  });
  const reply = await openai.chat.completions.create({
    model: "google/gemini-2.5-flash",
    messages: [{ role: "user", content: "hello" }],
  });
  expect(reply.choices[0]?.message.content).toBe("Hi!");
});
