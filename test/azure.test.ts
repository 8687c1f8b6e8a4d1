import { createAzure } from "@ai-sdk/azure";
import { embed, generateText, streamText } from "ai";
import OpenAI, { AzureOpenAI } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedDouble } from "./support/double.ts";
import { azureObject, classOf } from "./support/errors/openai.ts";
import { MESSAGE } from "./support/errors/row.ts";

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

it("conversations, whose responses are joined", async () => {
  const { id } = await client.conversations.create({ items: [{ role: "user", content: "I am Ann." }] });
  expect(double.lastCall()?.path).toMatch("/openai/conversations");
  double.on({ userMessage: "Who am I?", turnIndex: 0 }, { content: "Ann." });
  expect((await client.responses.create({ model: "my-gpt", input: "Who am I?", conversation: id })).output_text).toBe(
    "Ann.",
  );
  const items = await client.conversations.items.list(id, { order: "asc" });
  expect(items.data.map((item) => item.type === "message" && item.role)).toEqual(["user", "user", "assistant"]);
  expect(await client.conversations.delete(id)).toMatchObject({ id, deleted: true });
  await expect(client.conversations.retrieve(id)).rejects.toMatchObject({
    status: 404,
    type: "invalid_request_error",
    code: null,
  });
});

/** Newer clients: OpenAI's own, told by the key's header or by the segment. */
const versioned = (segment: string, headers: Record<string, string>) =>
  new OpenAI({
    baseURL: `${double.url}${segment}/openai/v1`,
    apiKey: "x",
    defaultHeaders: headers,
    maxRetries: 0,
  });

const CLIENTS: [string, () => OpenAI][] = [
  ["with an api-version", () => client],
  ["with its key in api-key", () => versioned("", { "api-key": "x" })],
  ["behind its segment", () => versioned("/azure", {})],
];

const CALLS: [string, (by: OpenAI) => Promise<unknown>][] = [
  ["chat", (by) => by.chat.completions.create(ask("fail"))],
  ["completions", (by) => by.completions.create({ model: "old", prompt: "fail" })],
  ["embeddings", (by) => by.embeddings.create({ model: "vectors", input: "fail" })],
  ["responses", (by) => by.responses.create({ model: "my-gpt", input: "fail" })],
  ["a stored response", (by) => by.responses.retrieve("resp_1")],
  ["conversations", (by) => by.conversations.create({})],
  ["models", (by) => by.models.retrieve("my-gpt")],
];

describe("errors", () => {
  describe.each(CLIENTS)("%s", (_, clientOf) => {
    describe.each(CALLS)("%s", (_, call) => {
      it.each([400, 401, 429, 500])("%i", async (status) => {
        double.nextRequestError(status, { message: MESSAGE });
        const error: unknown = await call(clientOf()).catch((thrown: unknown) => thrown);
        expect((error as Error).constructor.name).toBe(classOf(status));
        expect((error as { error: object }).error).toEqual(azureObject(status));
      });
    });
  });

  it("say what the fixture says of them", async () => {
    double.onMessage("where", { error: { message: "No such deployment.", code: "DeploymentNotFound" }, status: 404 });
    await expect(client.chat.completions.create(ask("where"))).rejects.toMatchObject({
      status: 404,
      error: { code: "DeploymentNotFound", message: "No such deployment." },
    });
    double.onMessage("bad", {
      error: { message: "It was filtered.", code: "content_filter", param: "prompt", type: "invalid_request_error" },
      status: 400,
    });
    await expect(client.chat.completions.create(ask("bad"))).rejects.toMatchObject({
      status: 400,
      code: "content_filter",
      param: "prompt",
    });
  });

  it("are OpenAI's to its own client on the same paths", async () => {
    double.nextRequestError(401, { message: "No." });
    await expect(
      versioned("", {}).embeddings.create({ model: "text-embedding-3-small", input: "a" }),
    ).rejects.toMatchObject({ status: 401, type: "authentication_error", code: "invalid_api_key" });
  });

  it.each([null, [], 3, {}, { messages: "x" }])("refuses %j", async (body) => {
    for (const rest of ["chat/completions", "completions", "embeddings"]) {
      const response = await post(`/openai/deployments/d/${rest}`, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { type: "invalid_request_error", message: expect.any(String) },
      });
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
