import { createAzure } from "@ai-sdk/azure";
import { embed, generateText, streamText } from "ai";
import { AzureOpenAI } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: AzureOpenAI;
beforeAll(() => {
  client = new AzureOpenAI({ endpoint: double.url, apiKey: "x", apiVersion: "2025-04-01-preview", maxRetries: 0 });
});

const ask = (content: string) => ({ model: "my-gpt", messages: [{ role: "user" as const, content }] });
const post = (path: string, body: unknown) =>
  double.fetch(`http://double${path}`, { method: "POST", body: JSON.stringify(body), headers: { "api-key": "x" } });

describe("chat", () => {
  it("unary, with what the content filter has found", async () => {
    double.on({ model: "my-gpt" }, { content: "Hi!" });
    const completion = await client.chat.completions.create(ask("hello"));
    expect(completion).toMatchObject({
      model: "my-gpt",
      choices: [
        {
          message: { content: "Hi!" },
          finish_reason: "stop",
          content_filter_results: { hate: { filtered: false, severity: "safe" }, violence: { filtered: false } },
        },
      ],
    });
    expect(double.lastCall()?.path).toMatch("/openai/deployments/my-gpt/chat/completions");
  });

  it("streamed, with reasoning and calls", async () => {
    double.onMessage("weather", {
      reasoning: "Where?",
      toolCalls: [
        { name: "weather", arguments: { city: "Bern" } },
        { name: "time", arguments: {} },
      ],
    });
    const { choices } = await client.chat.completions.stream(ask("weather?")).finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      content_filter_results: {},
      message: {
        tool_calls: [{ function: { name: "weather", arguments: '{"city":"Bern"}' } }, { function: { name: "time" } }],
      },
    });
  });

  it("says what was filtered", async () => {
    double.onMessage("bad", { content: "", finishReason: "content_filter" });
    const { choices } = await client.chat.completions.create(ask("bad"));
    expect(choices[0]).toMatchObject({
      finish_reason: "content_filter",
      content_filter_results: { hate: { filtered: true, severity: "high" } },
    });
  });

  it("takes overrides", async () => {
    double.onMessage("hello", {
      content: "Hi!",
      id: "mine",
      model: "gpt-4o-2024-11-20",
      systemFingerprint: "fp_1",
      created: 5,
    });
    expect(await client.chat.completions.create(ask("hello"))).toMatchObject({
      id: "mine",
      model: "gpt-4o-2024-11-20",
      system_fingerprint: "fp_1",
      created: 5,
    });
  });

  it("takes the model from the deployment where the body names none", async () => {
    double.on({ model: "of-the-path" }, { content: "By path." });
    double.on({ model: "of-the-body" }, { content: "By body." });
    const { messages } = ask("hello");
    const path = "/openai/deployments/of-the-path/chat/completions?api-version=2024-10-21";
    expect(await (await post(path, { messages })).json()).toMatchObject({ model: "of-the-path" });
    expect(await (await post(path, { messages, model: "of-the-body" })).json()).toMatchObject({ model: "of-the-body" });
  });
});

it("completions, embeddings and responses", async () => {
  double.onMessage("Once", { content: " upon a time" });
  expect((await client.completions.create({ model: "old", prompt: "Once" })).choices[0]?.text).toBe(" upon a time");
  const { data } = await client.embeddings.create({ model: "vectors", input: ["a", "b"], dimensions: 3 });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([3, 3]);
  const path = "/openai/deployments/vectors/embeddings?api-version=2024-10-21";
  expect(await (await post(path, { input: "a", dimensions: 2 })).json()).toMatchObject({ model: "vectors" });
  double.onMessage("respond", { content: "Done." });
  expect((await client.responses.create({ model: "my-gpt", input: "respond" })).output_text).toBe("Done.");
});

describe("errors", () => {
  it.each([null, [], 3, {}, { messages: "x" }])("refuses %j", async (body) => {
    for (const rest of ["chat/completions", "completions", "embeddings"]) {
      const response = await post(`/openai/deployments/d/${rest}`, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
    }
  });
});

describe("@ai-sdk/azure", () => {
  it.each([true, false])("with deployments in its URLs: %s", async (useDeploymentBasedUrls) => {
    const rest = useDeploymentBasedUrls ? "/openai" : "/openai/v1";
    const azure = createAzure({ baseURL: double.url + rest, apiKey: "x", useDeploymentBasedUrls });
    double.on({ model: "my-gpt", userMessage: "hello" }, { content: "Hi there!" });
    expect((await generateText({ model: azure.chat("my-gpt"), prompt: "hello" })).text).toBe("Hi there!");
    expect(await streamText({ model: azure.chat("my-gpt"), prompt: "hello" }).text).toBe("Hi there!");
    expect(double.calls()).toHaveLength(2);
    const { embedding } = await embed({ model: azure.embedding("text-embedding-3-small"), value: "a" });
    expect(embedding).toHaveLength(1536);
  });
});
