import { createGoogleGenerativeAI } from "@ai-sdk/google";
import {
  type ApiError,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from "@google/genai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { StuntDouble } from "../src/index.ts";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: GoogleGenAI;
beforeAll(() => {
  client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: double.url } });
});

const model = "gemini-2.5-flash";

/** What a stream's chunks are together. */
async function gathered(chunks: AsyncIterable<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const all: GenerateContentResponse[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

interface Told {
  text: string;
  thoughts: string;
  calls: unknown[];
  signatures: string[];
  finish: unknown;
  usage: unknown;
}

function told(responses: GenerateContentResponse[]): Told {
  const parts = responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? []);
  const textOf = (wanted: Part[]): string => wanted.map(({ text }) => text ?? "").join("");
  return {
    text: textOf(parts.filter(({ thought }) => !thought)),
    thoughts: textOf(parts.filter(({ thought }) => thought)),
    calls: parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall])),
    signatures: parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
    finish: responses.at(-1)?.candidates?.[0]?.finishReason,
    usage: responses.at(-1)?.usageMetadata,
  };
}

type Config = Parameters<GoogleGenAI["models"]["generateContent"]>[0]["config"];

/** The same answer, whole and streamed. */
async function bothWays(contents: string, config?: Config): Promise<Told[]> {
  const request = { model, contents, ...(config && { config }) };
  return [
    told([await client.models.generateContent(request)]),
    told(await gathered(await client.models.generateContentStream(request))),
  ];
}

const weather = {
  functionDeclarations: [
    { name: "weather", parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } } },
  ],
};

describe("generateContent", () => {
  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const response = await client.models.generateContent({ model, contents: "well, hello" });
    expect(response.text).toBe("Hi! 👋");
    expect(response.modelVersion).toBe(model);
    expect(response.responseId).toMatch(/^[0-9A-Za-z]{24}$/);
    expect(response.candidates).toEqual([
      { content: { parts: [{ text: "Hi! 👋" }], role: "model" }, finishReason: "STOP", index: 0 },
    ]);
    expect(response.usageMetadata).toEqual({
      promptTokenCount: 3,
      candidatesTokenCount: 2,
      totalTokenCount: 5,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 3 }],
      candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
    });
  });

  it("streamed", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" }, { chunkSize: 4 });
    const chunks = await gathered(await client.models.generateContentStream({ model, contents: "hello" }));
    expect(chunks.map(({ text }) => text)).toEqual(["Hi, ", "nice", " to ", "meet", " you", "!"]);
    expect(new Set(chunks.map(({ responseId }) => responseId)).size).toBe(1);
    expect(chunks.map(({ candidates }) => candidates?.[0]?.finishReason)).toEqual([
      ...Array(5).fill(undefined),
      "STOP",
    ]);
    expect(chunks.at(-1)?.usageMetadata).toMatchObject({
      promptTokenCount: 2,
      candidatesTokenCount: 6,
      totalTokenCount: 8,
    });
  });

  it("streamed as one JSON array where server-sent events are not asked for", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" });
    const ask = (query: string) =>
      fetch(`${double.url}/v1beta/models/${model}:streamGenerateContent${query}`, {
        method: "POST",
        body: JSON.stringify({ contents: [{ parts: [{ text: "hello" }] }] }),
      });
    const response = await ask("");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const chunks = (await response.json()) as GenerateContentResponse[];
    expect(told(chunks)).toMatchObject({ text: "Hi, nice to meet you!", finish: "STOP" });
    expect((await ask("?alt=sse")).headers.get("content-type")).toMatch(/^text\/event-stream/);
  });

  it("in each version, in tuned models, with the model's name in any form, and behind other paths", async () => {
    double.on({ model: "mine.v1-2" }, { content: "Hi!" });
    const body = JSON.stringify({ contents: { parts: { text: "hello" } } });
    const post = async (path: string) => (await fetch(double.url + path, { method: "POST", body })).json();
    for (const path of [
      "/v1beta/models/mine.v1-2:generateContent",
      "/v1/models/mine.v1-2:generateContent",
      "/v1alpha/models/mine.v1-2:generateContent",
      "/v1beta/models/models%2Fmine.v1-2%3AgenerateContent",
      "/v1beta/tunedModels/mine.v1-2:generateContent",
      "/gemini/v1beta/models/mine.v1-2:generateContent",
      "/@scene/some/proxy/v1beta/models/mine.v1-2:generateContent?key=x",
      "/v1/publishers/google/models/mine.v1-2:generateContent",
      "/v1beta1/projects/p-1/locations/europe-west1/publishers/google/models/mine.v1-2:generateContent",
      "/v1/projects/p-1/locations/us/endpoints/mine.v1-2:generateContent",
    ]) {
      expect((await post(path)) as unknown, path).toMatchObject({
        candidates: [{ content: { parts: [{ text: "Hi!" }] } }],
      });
    }
  });

  it("matched by system prompt, tool and turn like those of any provider", async () => {
    double.on({ systemMessage: "pirate", userMessage: "name", toolName: "weather", turnIndex: 1 }, { content: "Arr!" });
    const response = await client.models.generateContent({
      model,
      config: { systemInstruction: "You are a pirate.", tools: [weather, { googleSearch: {} }] },
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "yo" }] },
        {
          role: "user",
          parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }, { text: "What's your name?" }],
        },
      ],
    });
    expect(response.text).toBe("Arr!");
  });

  it("calls tools, two of one name too, invents no ids, and pairs results by position", async () => {
    double.on({ toolCallId: "call_weather_2" }, { content: "Rain in Rome." });
    double.onMessage("weather", {
      content: "Let me see.",
      toolCalls: [
        { name: "weather", arguments: { city: "Bern" } },
        { name: "weather", arguments: { city: "Rome" } },
      ],
    });
    for (const { text, calls, finish } of await bothWays("weather?")) {
      expect(text).toBe("Let me see.");
      expect(finish).toBe("FUNCTION_CALL");
      expect(calls).toEqual([
        { name: "weather", args: { city: "Bern" } },
        { name: "weather", args: { city: "Rome" } },
      ]);
      const answer = await client.models.generateContent({
        model,
        contents: [
          { role: "user", parts: [{ text: "weather?" }] },
          { role: "model", parts: calls.map((functionCall) => ({ functionCall: functionCall as object })) },
          {
            role: "user",
            parts: ["sun", "rain"].map((output) => ({ functionResponse: { name: "weather", response: { output } } })),
          },
        ],
      });
      expect(answer.text).toBe("Rain in Rome.");
    }
  });

  it("keeps ids that are given", async () => {
    double.onToolResult("call_7", { content: "Sun." });
    double.onMessage("weather", { toolCalls: [{ id: "call_7", name: "weather", arguments: {} }] });
    for (const { calls } of await bothWays("weather?")) {
      expect(calls).toEqual([{ id: "call_7", name: "weather", args: {} }]);
      // The client gives back the call as it came; its result names no id.
      const answer = await client.models.generateContent({
        model,
        contents: [
          { role: "user", parts: [{ text: "weather?" }] },
          { role: "model", parts: [{ functionCall: calls[0] as object }] },
          { role: "user", parts: [{ functionResponse: { name: "weather", response: {} } }] },
        ],
      });
      expect(answer.text).toBe("Sun.");
    }
  });

  it("streams arguments where that is asked for", async () => {
    double.onMessage(
      "cook",
      { toolCalls: [{ name: "cook", arguments: { dish: "Lasagne", hot: true } }] },
      { chunkSize: 4 },
    );
    const config = {
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO, streamFunctionCallArguments: true },
      },
    };
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: "x", httpOptions: { baseUrl: double.url } });
    const chunks = await gathered(await vertex.models.generateContentStream({ model, contents: "cook", config }));
    expect(told(chunks).calls).toEqual([
      { name: "cook", willContinue: true },
      { partialArgs: [{ jsonPath: "$.dish", stringValue: "Lasa", willContinue: true }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.dish", stringValue: "gne", willContinue: true }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.dish", stringValue: "" }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.hot", boolValue: true }], willContinue: true },
      {},
    ]);
  });

  it("answers JSON where a schema asks for it, or only the type", async () => {
    double.on({ userMessage: "capital", responseFormat: "json_schema" }, { content: { capital: "Bern" } });
    double.onJsonOutput("capital", { capital: "Bern, said in JSON" });
    const config = { responseMimeType: "application/json" };
    for (const schema of [
      { responseJsonSchema: { type: "object" } },
      { responseSchema: { type: "OBJECT" as never } },
    ]) {
      for (const { text } of await bothWays("capital?", { ...config, ...schema }))
        expect(text).toBe('{"capital":"Bern"}');
    }
    for (const { text } of await bothWays("capital?", config)) expect(text).toBe('{"capital":"Bern, said in JSON"}');
  });

  it("thinks, with a signature", async () => {
    double.onMessage("why", {
      reasoning: "Because of the sky.",
      reasoningSignature: "c2lnbmVk",
      content: "It is blue.",
    });
    for (const { text, thoughts, signatures } of await bothWays("why?")) {
      expect([text, thoughts, signatures]).toEqual(["It is blue.", "Because of the sky.", ["c2lnbmVk"]]);
    }
  });

  it("keeps blocks in order, and tells what was searched for", async () => {
    double.onMessage("blocks", {
      blocks: [
        { type: "text", text: "one" },
        { type: "toolCall", name: "weather", arguments: {} },
        { type: "text", text: "two" },
      ],
      webSearches: ["the news"],
    });
    const { candidates } = await client.models.generateContent({ model, contents: "blocks" });
    expect(candidates?.[0]?.content?.parts).toEqual([
      { text: "one" },
      { functionCall: { name: "weather", args: {} } },
      { text: "two" },
    ]);
    expect(candidates?.[0]?.groundingMetadata).toEqual({ webSearchQueries: ["the news"] });
  });

  it.each([
    ["stop", "STOP"],
    ["length", "MAX_TOKENS"],
    ["content_filter", "SAFETY"],
    ["RECITATION", "RECITATION"],
  ])("finishes with %s as %s", async (finishReason, native) => {
    double.onMessage("end", { content: "x", finishReason });
    for (const { finish } of await bothWays("end")) expect(finish).toBe(native);
  });

  it("refuses", async () => {
    double.onMessage("bomb", { refusal: "I can't help with that." });
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: "x", httpOptions: { baseUrl: double.url } });
    const { candidates } = await vertex.models.generateContent({ model, contents: "a bomb" });
    expect(candidates).toEqual([
      { content: { role: "model" }, finishReason: "SAFETY", finishMessage: "I can't help with that.", index: 0 },
    ]);
    for (const { text, finish } of await bothWays("a bomb")) expect([text, finish]).toEqual(["", "SAFETY"]);
  });

  it("overrides what surrounds the answer", async () => {
    double.onMessage("hello", {
      content: "x",
      id: "my-id",
      model: "my-model",
      created: 1_700_000_000,
      serviceTier: "flex",
    });
    const request = { model, contents: "hello" };
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: "x", httpOptions: { baseUrl: double.url } });
    const streamed = await gathered(await vertex.models.generateContentStream(request));
    for (const response of [await vertex.models.generateContent(request), ...streamed]) {
      expect(response).toMatchObject({
        responseId: "my-id",
        modelVersion: "my-model",
        createTime: "2023-11-14T22:13:20.000Z",
      });
      expect(response.usageMetadata).toMatchObject({ serviceTier: "flex" });
    }
  });

  it("counts thoughts and cached tokens apart, in whichever words a fixture has them", async () => {
    double.onMessage("openai", {
      content: "x",
      usage: {
        prompt_tokens: 100,
        completion_tokens: 15,
        total_tokens: 115,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 10 },
      },
    });
    double.onMessage("gemini", {
      content: "x",
      usage: {
        promptTokenCount: 100,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 10,
        totalTokenCount: 115,
        cachedContentTokenCount: 60,
      },
    });
    for (const words of ["openai", "gemini"]) {
      for (const { usage } of await bothWays(words)) {
        expect(usage).toMatchObject({
          promptTokenCount: 100,
          cachedContentTokenCount: 60,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 10,
          totalTokenCount: 115,
        });
      }
    }
  });

  it("gives as many candidates as were asked for", async () => {
    double.onMessage("hello", { choices: [{ content: "one" }, { content: "two" }] });
    const request = { model, contents: "hello", config: { candidateCount: 3 } };
    const { candidates } = await client.models.generateContent(request);
    const texts = candidates?.map(({ index, content }) => [index, content?.parts?.[0]?.text]);
    expect(texts).toEqual([
      [0, "one"],
      [1, "two"],
      [2, "one"],
    ]);
    const chunks = await gathered(await client.models.generateContentStream(request));
    expect(chunks.map(({ candidates: [one] = [] }) => [one?.index, one?.content?.parts?.[0]?.text])).toEqual(texts);
  });

  it("leaves thinking and safety settings for predicates", async () => {
    double.on(
      {
        predicate: (request) => {
          const { generationConfig, safetySettings } = request as unknown as Record<
            string,
            { thinkingConfig?: object }[] & { thinkingConfig?: object }
          >;
          return safetySettings?.length === 1 && generationConfig?.thinkingConfig !== undefined;
        },
      },
      { content: "seen" },
    );
    const response = await client.models.generateContent({
      model,
      contents: "x",
      config: {
        thinkingConfig: { thinkingBudget: 10 },
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT" as never, threshold: "BLOCK_NONE" as never }],
      },
    });
    expect(response.text).toBe("seen");
  });

  it("stops in mid-stream when the client goes", async () => {
    double.onMessage(
      "hello",
      { content: "one two three" },
      { streamingProfile: { ttft: 0, tps: 0.001 }, chunkSize: 4 },
    );
    const abort = new AbortController();
    const request = { model, contents: "hello", config: { abortSignal: abort.signal } };
    const reading = (async () => {
      for await (const chunk of await client.models.generateContentStream(request)) {
        expect(chunk.text).toBe("one ");
        abort.abort();
      }
    })();
    await expect(reading).rejects.toThrow(/abort/i);
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });

  it("answers without a socket the same way", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" });
    for (const query of ["", "?alt=sse"]) {
      const response = await double.fetch(`http://any/v1beta/models/${model}:streamGenerateContent${query}`, {
        method: "POST",
        body: JSON.stringify({ contents: [{ parts: [{ text: "hello" }] }] }),
      });
      expect(await response.text()).toMatch(query === "" ? /^\[\{/ : /^data: \{/);
    }
  });
});

describe("errors", () => {
  const failing = (status: number, error: Parameters<StuntDouble["nextRequestError"]>[1]) => {
    double.onMessage("hello", { content: "Hi!" });
    double.nextRequestError(status, error);
  };
  const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );

  it("with a status of its own, whatever type another provider has", async () => {
    failing(429, { message: "No luck.", type: "rate_limit_error" });
    const { message } = (await thrownBy(client.models.generateContent({ model, contents: "hello" }))) as ApiError;
    expect(JSON.parse(message).error.status).toBe("RESOURCE_EXHAUSTED");
  });

  it("with details, and the status that was written", async () => {
    failing(400, {
      message: "No luck.",
      type: "FAILED_PRECONDITION",
      code: "API_KEY_INVALID",
      param: "contents[0]",
      retryAfter: 3,
    });
    const { message } = (await thrownBy(client.models.generateContent({ model, contents: "hello" }))) as ApiError;
    expect(JSON.parse(message).error).toEqual({
      code: 400,
      message: "No luck.",
      status: "FAILED_PRECONDITION",
      details: [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "contents[0]", description: "No luck." }],
        },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" },
      ],
    });
  });

  it("a 429, then success where the client tries again", async () => {
    failing(429, { message: "Slow down." });
    const patient = new GoogleGenAI({
      apiKey: "x",
      httpOptions: {
        baseUrl: double.url,
        retryOptions: { attempts: 2, initialDelay: 0.001, maxDelay: 0.001 } as never,
      },
    });
    expect((await patient.models.generateContent({ model, contents: "hello" })).text).toBe("Hi!");
    expect(double.calls().map((call) => call.response.status)).toEqual([429, 200]);
  });

  // @see https://discuss.ai.google.dev/t/where-can-i-find-the-error-format-doc/115017
  it("in a list, where a stream is one, and in its middle an element more", async () => {
    const ask = async (text: string, query: string) => {
      const response = await fetch(`${double.url}/v1beta/models/${model}:streamGenerateContent${query}`, {
        method: "POST",
        body: JSON.stringify({ contents: [{ parts: [{ text }] }] }),
      });
      return { status: response.status, body: await response.text() };
    };
    const message = "Slow down.";
    const error = { code: 429, message, status: "RESOURCE_EXHAUSTED" };
    failing(429, { message });
    expect(await ask("hello", "")).toEqual({ status: 429, body: JSON.stringify([{ error }]) });
    failing(429, { message });
    expect(await ask("hello", "?alt=sse")).toEqual({ status: 429, body: JSON.stringify({ error }) });
    expect(JSON.parse((await ask("nobody answers", "")).body)).toMatchObject([{ error: { status: "NOT_FOUND" } }]);
    double.onMessage("breaks", { content: "So far", streamError: { status: 429, message } });
    const broken = await ask("breaks", "");
    expect(broken.status).toBe(200);
    expect(JSON.parse(broken.body)).toMatchObject([
      { candidates: [{ content: { parts: [{ text: "So far" }] } }] },
      { error },
    ]);
  });

  it("where nothing matches", async () => {
    const error = (await thrownBy(client.models.generateContent({ model, contents: "nobody answers" }))) as ApiError;
    expect(error.status).toBe(404);
    expect(JSON.parse(error.message).error).toMatchObject({
      status: "NOT_FOUND",
      message: expect.stringMatching(/^No fixture matched/),
    });
  });

  it.each(["null", "[]", "3", "{", "", '{"contents":3}', `{"contents":${"[".repeat(10_000)}${"]".repeat(10_000)}}`])(
    "a body that is no request: %.20s",
    async (body) => {
      for (const method of [
        "generateContent",
        "streamGenerateContent",
        "countTokens",
        "embedContent",
        "batchEmbedContents",
      ]) {
        const response = await fetch(`${double.url}/v1beta/models/${model}:${method}`, { method: "POST", body });
        expect(response.status).toBe(400);
        const refusal = { error: { code: 400, status: "INVALID_ARGUMENT" } };
        expect(await response.json()).toMatchObject(method === "streamGenerateContent" ? [refusal] : refusal);
      }
    },
  );
});

it("counts tokens", async () => {
  expect(await client.models.countTokens({ model, contents: "12345678" })).toMatchObject({ totalTokens: 2 });
  const whole = { generateContentRequest: { model: `models/${model}`, contents: [{ parts: [{ text: "12345678" }] }] } };
  const response = await fetch(`${double.url}/v1beta/models/${model}:countTokens`, {
    method: "POST",
    body: JSON.stringify(whole),
  });
  expect(await response.json()).toEqual({ totalTokens: 2, promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }] });
});

describe("embeddings", () => {
  const embed = (contents: string | string[], config = {}) =>
    client.models.embedContent({ model: "gemini-embedding-001", contents, config });

  it("are made where no fixture gives them, always the same for a text", async () => {
    const [one, two] = (await embed(["red", "blue"], { outputDimensionality: 4 })).embeddings ?? [];
    expect(one?.values).toHaveLength(4);
    expect(one?.values).not.toEqual(two?.values);
    expect((await embed("red", { outputDimensionality: 4 })).embeddings?.[0]?.values).toEqual(one?.values);
    expect((await embed("red")).embeddings?.[0]?.values).toHaveLength(3072);
  });

  it("come from fixtures", async () => {
    double.onEmbedding("red", { embedding: [1, 2] });
    expect((await embed(["red", "blue"])).embeddings).toEqual([{ values: [1, 2] }, { values: [1, 2] }]);
    const response = await fetch(`${double.url}/v1beta/models/gemini-embedding-001:embedContent`, {
      method: "POST",
      body: JSON.stringify({ content: { parts: [{ text: "red" }] }, output_dimensionality: 2 }),
    });
    expect(await response.json()).toEqual({ embedding: { values: [1, 2] } });
  });

  it("come in the form of a prediction on Vertex AI", async () => {
    double.onEmbedding("red", { embedding: [1, 2] });
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: "x", httpOptions: { baseUrl: double.url } });
    const { embeddings } = await vertex.models.embedContent({
      model: "text-embedding-005",
      contents: ["red as a rose"],
    });
    expect(embeddings).toMatchObject([{ values: [1, 2], statistics: { tokenCount: 4, truncated: false } }]);
  });
});

it("lists models page by page and tells of each", async () => {
  const seen: string[] = [];
  for await (const { name } of await client.models.list({ config: { pageSize: 2 } })) seen.push(name ?? "");
  expect(seen).toContain(`models/${model}`);
  expect(seen).toHaveLength(new Set(seen).size);
  expect(await client.models.get({ model })).toMatchObject({
    name: `models/${model}`,
    displayName: "Gemini 2.5 Flash",
    supportedActions: expect.arrayContaining(["generateContent"]),
  });
  await expect(client.models.get({ model: "gpt-5" })).rejects.toThrow(/NOT_FOUND/);
  const listed = async (headers: Record<string, string>) =>
    (await fetch(`${double.url}/v1/models`, { headers })).json();
  expect(await listed({ "x-goog-api-key": "x" })).toMatchObject({ models: expect.anything() });
  expect(await listed({ authorization: "Bearer x" })).toMatchObject({ object: "list" });
});

it("serves OpenAI's clients under /v1beta/openai", async () => {
  double.onMessage("hello", { content: "Hi!" });
  double.onEmbedding("red", { embedding: [1, 2] });
  const openai = new OpenAI({ baseURL: `${double.url}/v1beta/openai/`, apiKey: "x" });
  const reply = await openai.chat.completions.create({ model, messages: [{ role: "user", content: "hello" }] });
  expect(reply.choices[0]?.message.content).toBe("Hi!");
  const chunks = await openai.chat.completions.create({
    model,
    stream: true,
    messages: [{ role: "user", content: "hello" }],
  });
  let text = "";
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? "";
  expect(text).toBe("Hi!");
  expect((await openai.embeddings.create({ model: "gemini-embedding-001", input: "red" })).data[0]?.embedding).toEqual([
    1, 2,
  ]);
  expect((await openai.models.list()).data.map(({ id }) => id)).toContain(model);
});

describe("errors that OpenAI's clients get under /v1beta/openai", () => {
  const openai = () => new OpenAI({ baseURL: `${double.url}/v1beta/openai/`, apiKey: "x", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "fail" }];
  const caught = async (asked: PromiseLike<unknown>): Promise<unknown> => {
    try {
      return await asked;
    } catch (error) {
      return error;
    }
  };

  it.each([
    [400, "INVALID_ARGUMENT", OpenAI.BadRequestError],
    [401, "UNAUTHENTICATED", OpenAI.AuthenticationError],
    [403, "PERMISSION_DENIED", OpenAI.PermissionDeniedError],
    [404, "NOT_FOUND", OpenAI.NotFoundError],
    [429, "RESOURCE_EXHAUSTED", OpenAI.RateLimitError],
    [500, "INTERNAL", OpenAI.InternalServerError],
    [503, "UNAVAILABLE", OpenAI.InternalServerError],
  ])("%d of a chat is Google's, in a list, of which they read the status alone", async (status, word, kind) => {
    double.onMessage("fail", { error: { message: "No." }, status });
    for (const stream of [false, true]) {
      const body = JSON.stringify({ model, messages, stream });
      const response = await fetch(`${double.url}/v1beta/openai/chat/completions`, { method: "POST", body });
      expect([response.status, await response.json()]).toEqual([
        status,
        [{ error: { code: status, message: "No.", status: word } }],
      ]);
      const error = await caught(openai().chat.completions.create({ model, messages, stream }));
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, message: `${status} status code (no body)` });
    }
  });

  it("is Google's by itself where it is of no chat", async () => {
    double.on({ endpoint: "embedding", inputText: "fail" }, { error: { message: "No such model." }, status: 404 });
    const error = await caught(openai().embeddings.create({ model: "gemini-embedding-001", input: "fail" }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({
      message: "404 No such model.",
      error: { code: 404, message: "No such model.", status: "NOT_FOUND" },
    });
    expect(await caught(openai().models.retrieve("gpt-none"))).toMatchObject({ error: { status: "NOT_FOUND" } });
  });

  it("says what is wrong with a request in the same form, and is OpenAI's everywhere else", async () => {
    const answered = async (path: string): Promise<unknown> => {
      const body = JSON.stringify({ model });
      return (await fetch(`${double.url}${path}/chat/completions`, { method: "POST", body })).json();
    };
    expect(await answered("/v1beta/openai")).toMatchObject([{ error: { code: 400, status: "INVALID_ARGUMENT" } }]);
    expect(await answered("/gemini/v1beta/openai")).toMatchObject([{ error: { code: 400 } }]);
    expect(await answered("/v1")).toMatchObject({ error: { type: "invalid_request_error", param: "messages" } });
  });
});

describe("other clients", () => {
  it("ai: a tool loop of two steps, whole and streamed", async () => {
    double.on(
      { userMessage: "weather", hasToolResult: true, toolResultContains: "sunny" },
      { content: "It is sunny in Bern." },
    );
    double.onMessage("weather", {
      reasoning: "Hm.",
      toolCalls: [{ name: "weather", arguments: { city: "Bern" } }],
      // This client runs tools only after the word that the API itself sends.
      finishReason: "stop",
    });
    const google = createGoogleGenerativeAI({ baseURL: `${double.url}/v1beta`, apiKey: "x" });
    const asked: string[] = [];
    const request = {
      model: google(model),
      prompt: "How is the weather in Bern?",
      stopWhen: stepCountIs(3),
      tools: {
        weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            asked.push(city);
            return "sunny";
          },
        }),
      },
    };
    const whole = await generateText(request);
    expect([whole.text, whole.steps.length, whole.steps[0]?.reasoningText]).toEqual(["It is sunny in Bern.", 2, "Hm."]);
    const streamed = streamText(request);
    expect([await streamed.text, (await streamed.steps).length, await streamed.finishReason]).toEqual([
      "It is sunny in Bern.",
      2,
      "stop",
    ]);
    expect(asked).toEqual(["Bern", "Bern"]);
  });
});
