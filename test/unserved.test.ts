import Anthropic from "@anthropic-ai/sdk";
import {
  ApplyGuardrailCommand,
  BedrockRuntimeClient,
  ConverseCommand,
  ListAsyncInvokesCommand,
  StartAsyncInvokeCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { CohereClient } from "cohere-ai";
import { Ollama } from "ollama";
import OpenAI, { AzureOpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StuntDouble } from "../src/index.ts";
import { errorMembers, errorShape } from "./support/error-shapes.ts";

const open = new StuntDouble();
const locked = new StuntDouble({ auth: { apiKeys: ["right"] } });
beforeAll(() => Promise.all([open.start(), locked.start()]));
afterAll(() => Promise.all([open.stop(), locked.stop()]));

async function send(double: StuntDouble, method: string, path: string) {
  const body = method === "POST" ? { body: "{}" } : {};
  const response = await double.fetch(`http://double${path}`, { method, ...body });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

const VERTEX = "/v1/projects/p/locations/l/publishers";

describe("what nobody serves is refused in the words of the provider that it seems to be for, also without a key", () => {
  test.each<[string, string, number, string]>([
    ["POST", "/v1beta/models/g:dance", 404, "gemini"],
    ["PUT", "/v1beta/models/g", 405, "gemini"],
    ["GET", "/v1beta/models/g:generateContent", 404, "gemini"],
    ["POST", "/v1beta/models/%E0%A4%A:generateContent", 400, "gemini"],
    ["POST", "/v1beta/models/g:predict", 400, "gemini"],
    ["POST", "/v1beta/cachedContents", 404, "gemini"],
    ["POST", `${VERTEX}/google/models/g:dance`, 404, "gemini"],
    ["POST", `${VERTEX}/anthropic/models/c:dance`, 404, "gemini"],
    ["PUT", `${VERTEX}/anthropic/models/c:rawPredict`, 405, "anthropic"],
    ["PUT", "/v1beta/interactions", 405, "gemini-interactions"],
    ["GET", "/model/x/converse", 405, "bedrock"],
    ["POST", "/model/x/dance", 404, "bedrock"],
    ["POST", "/model/%E0%A4%A/converse", 400, "bedrock"],
    ["POST", "/guardrail/g/version/1/apply", 404, "bedrock"],
    ["GET", "/async-invoke", 404, "bedrock"],
    ["POST", "/api/dance", 404, "ollama"],
    ["DELETE", "/api/chat", 405, "ollama"],
    ["POST", "/api/v1/dance", 404, "openrouter"],
    ["POST", "/api/paas/v4/dance", 404, "zai"],
    ["POST", "/v2/rerank", 404, "cohere"],
    ["GET", "/v2/chat", 405, "cohere"],
    ["POST", "/@a/v2/dance", 404, "cohere"],
    ["POST", "/openai/deployments/d/dance", 404, "azure"],
    ["POST", "/openai/deployments/%E0%A4%A/chat/completions", 400, "azure"],
    ["GET", "/openai/deployments/d/embeddings", 405, "azure"],
    ["POST", "/v1/messages/dance", 404, "anthropic"],
    ["GET", "/v1/messages", 405, "anthropic"],
    ["POST", "/anthropic/v1/dance", 404, "anthropic"],
    ["POST", "/mistral/v1/dance", 404, "mistral"],
    ["POST", "/xai/v1/dance", 404, "xai"],
    ["POST", "/cerebras/v1/dance", 404, "cerebras"],
    ["POST", "/v1/dance", 404, "openai"],
    ["PUT", "/v1/responses", 405, "openai"],
    ["POST", "/dance", 404, "openai"],
  ])("%s %s: %i, of %s", async (method, path, status, provider) => {
    const refused = await send(open, method, path);
    expect([refused.status, errorMembers(refused)]).toEqual([status, expect.stringMatching(errorShape(provider))]);
    const keyless = await send(locked, method, path);
    expect([keyless.status, errorMembers(keyless)]).toEqual([401, expect.stringMatching(errorShape(provider))]);
  });
});

describe("the errors that clients make of it", () => {
  const clients = ({ url }: StuntDouble, apiKey: string) => ({
    google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }),
    ollama: new Ollama({ host: url }),
    cohere: new CohereClient({ environment: url, token: apiKey, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey, maxRetries: 0 }),
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }),
    azure: new AzureOpenAI({ endpoint: url, apiKey, apiVersion: "2025-04-01-preview", deployment: "d", maxRetries: 0 }),
  });

  test.each([
    ["open", 404],
    ["locked", 401],
  ])("%s: %i", async (name, status) => {
    const { google, ollama, cohere, anthropic, openai, azure } = clients(name === "open" ? open : locked, "wrong");
    const said = status === 404 ? "Unknown request URL" : "key";
    const message = expect.stringContaining(said);
    const error = { status };

    await expect(google.caches.create({ model: "g", config: {} })).rejects.toMatchObject({
      ...error,
      name: "ApiError",
      message: expect.stringContaining(`"status":"${status === 404 ? "NOT_FOUND" : "UNAUTHENTICATED"}"`),
    });
    await expect(ollama.pull({ model: "m" })).rejects.toMatchObject({ status_code: status, error: message });
    await expect(cohere.v2.rerank({ model: "m", query: "q", documents: ["d"] })).rejects.toMatchObject({
      statusCode: status,
      body: { message },
    });
    await expect(anthropic.messages.batches.list()).rejects.toMatchObject({
      ...error,
      error: { error: { type: status === 404 ? "not_found_error" : "authentication_error", message } },
    });
    const code = status === 404 ? "unknown_url" : "invalid_api_key";
    await expect(openai.files.list()).rejects.toMatchObject({ ...error, code });
    await expect(azure.images.generate({ prompt: "x" })).rejects.toMatchObject({
      ...error,
      code,
    });
  });

  test("AWS", async () => {
    const client = ({ url }: StuntDouble) =>
      new BedrockRuntimeClient({
        endpoint: url,
        region: "us-east-1",
        credentials: { accessKeyId: "wrong", secretAccessKey: "x" },
        maxAttempts: 1,
      });
    const here = client(open);
    const keyless = client(locked);
    const $metadata = expect.objectContaining({ httpStatusCode: 404 });
    const guardrail = new ApplyGuardrailCommand({
      guardrailIdentifier: "g",
      guardrailVersion: "1",
      source: "INPUT",
      content: [{ text: { text: "x" } }],
    });
    const start = new StartAsyncInvokeCommand({
      modelId: "m",
      modelInput: {},
      outputDataConfig: { s3OutputDataConfig: { s3Uri: "s3://a/b" } },
    });
    const unknown = {
      name: "UnknownOperationException",
      $metadata,
      message: expect.stringContaining("Unknown request URL"),
    };
    await expect(here.send(guardrail)).rejects.toMatchObject(unknown);
    await expect(here.send(start)).rejects.toMatchObject(unknown);
    await expect(here.send(new ListAsyncInvokesCommand({}))).rejects.toMatchObject(unknown);
    await expect(keyless.send(guardrail)).rejects.toMatchObject({ name: "UnrecognizedClientException" });
    const model = new ConverseCommand({ modelId: "m", messages: [{ role: "user", content: [{ text: "x" }] }] });
    await expect(keyless.send(model)).rejects.toMatchObject({ name: "UnrecognizedClientException" });
    here.destroy();
    keyless.destroy();
  });
});
