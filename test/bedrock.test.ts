import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  ResourceNotFoundException,
  ThrottlingException,
} from "@aws-sdk/client-bedrock-runtime";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { StuntDouble } from "../src/index.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const credentials = { accessKeyId: "x", secretAccessKey: "x" };

let double: StuntDouble;
let client: BedrockRuntimeClient;
beforeAll(async () => {
  double = await StuntDouble.start();
  client = clientWith(1);
});
afterEach(() => double.reset());
afterAll(async () => {
  client.destroy();
  await double.stop();
});

function clientWith(maxAttempts: number): BedrockRuntimeClient {
  return new BedrockRuntimeClient({ endpoint: double.url, region: "us-east-1", credentials, maxAttempts });
}

const ask = (text: string, more: Partial<ConverseCommandInput> = {}) => ({
  modelId: CLAUDE,
  messages: [{ role: "user" as const, content: [{ text }] }],
  ...more,
});

async function all<T>(events: AsyncIterable<T> | undefined): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events ?? []) list.push(event);
  return list;
}

/** The blocks that a stream's events are pieces of, their inputs as text. */
function blocksOf(events: ConverseStreamOutput[]): Record<string, string>[] {
  const blocks: Record<string, string>[] = [];
  const add = (index = 0, fields: Record<string, string | undefined> = {}) => {
    const block = blocks[index] ?? {};
    for (const [name, text] of Object.entries(fields)) if (text !== undefined) block[name] = (block[name] ?? "") + text;
    blocks[index] = block;
  };
  for (const { contentBlockStart, contentBlockDelta } of events) {
    const { toolUse: start } = contentBlockStart?.start ?? {};
    if (start) add(contentBlockStart?.contentBlockIndex, { id: start.toolUseId, name: start.name });
    const { text, toolUse, reasoningContent } = contentBlockDelta?.delta ?? {};
    if (!contentBlockDelta) continue;
    const reasoning = reasoningContent as { text?: string; signature?: string } | undefined;
    const fields = { text, input: toolUse?.input, reasoning: reasoning?.text, signature: reasoning?.signature };
    add(contentBlockDelta.contentBlockIndex, fields);
  }
  return blocks;
}

describe("converse", () => {
  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const { output, stopReason, usage, $metadata } = await client.send(new ConverseCommand(ask("well, hello")));
    expect(output?.message).toEqual({ role: "assistant", content: [{ text: "Hi! 👋" }] });
    expect(stopReason).toBe("end_turn");
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect($metadata.requestId).toMatch(/^req_/);
    expect(double.lastCall()?.body).toMatchObject({ model: CLAUDE });
  });

  it("streamed, over HTTP/2 without TLS", async () => {
    double.onMessage("hello", { content: "Hi, nice to meet you!" }, { chunkSize: 4 });
    expect(client.config.requestHandler.constructor.name).toBe("NodeHttp2Handler");
    const events = await all((await client.send(new ConverseStreamCommand(ask("hello")))).stream);
    expect(events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta?.text ?? [])).toEqual([
      "Hi, ",
      "nice",
      " to ",
      "meet",
      " you",
      "!",
    ]);
    expect(events.at(0)).toEqual({ messageStart: { role: "assistant" } });
    expect(events.at(-2)).toEqual({ messageStop: { stopReason: "end_turn" } });
    expect(events.at(-1)?.metadata?.usage).toEqual({ inputTokens: 2, outputTokens: 6, totalTokens: 8 });
  });

  it("tells of the tier", async () => {
    double.onMessage("hello", { content: "Hi!", serviceTier: "flex" });
    const { serviceTier } = await client.send(new ConverseCommand(ask("hello")));
    const events = await all((await client.send(new ConverseStreamCommand(ask("hello")))).stream);
    expect([serviceTier, events.at(-1)?.metadata?.serviceTier]).toEqual([{ type: "flex" }, { type: "flex" }]);
  });

  it("streamed in its own time, one message a chunk", async () => {
    double.onMessage("hello", { content: "Hi, you!" }, { chunkSize: 4, latency: 1 });
    const events = await all((await client.send(new ConverseStreamCommand(ask("hello")))).stream);
    expect(blocksOf(events)).toEqual([{ text: "Hi, you!" }]);
  });

  it("reasons and calls tools, in parallel too, and matches their results", async () => {
    double.onToolResult("tool_2", { content: "20 °C and noon." });
    double.onMessage("weather", {
      reasoning: "Two tools.",
      reasoningSignature: "c2lnbmVk",
      content: "Let me see.",
      toolCalls: [
        { id: "tool_1", name: "weather", arguments: { city: "Bern" } },
        { id: "tool_2", name: "time", arguments: {} },
      ],
    });
    const toolConfig = { tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }] };
    const reply = await client.send(new ConverseCommand(ask("weather and time?", { toolConfig })));
    const content = reply.output?.message?.content as ContentBlock[];
    expect(reply.stopReason).toBe("tool_use");
    expect(content).toEqual([
      { reasoningContent: { reasoningText: { text: "Two tools.", signature: "c2lnbmVk" } } },
      { text: "Let me see." },
      { toolUse: { toolUseId: "tool_1", name: "weather", input: { city: "Bern" } } },
      { toolUse: { toolUseId: "tool_2", name: "time", input: {} } },
    ]);
    const { stream } = await client.send(new ConverseStreamCommand(ask("weather and time?", { toolConfig })));
    const events = await all(stream);
    expect(blocksOf(events)).toEqual([
      { reasoning: "Two tools.", signature: "c2lnbmVk" },
      { text: "Let me see." },
      { id: "tool_1", name: "weather", input: '{"city":"Bern"}' },
      { id: "tool_2", name: "time", input: "" },
    ]);
    const result = (toolUseId: string, text: string) => ({ toolResult: { toolUseId, content: [{ text }] } });
    const answer = await client.send(
      new ConverseCommand({
        modelId: CLAUDE,
        messages: [
          { role: "user", content: [{ text: "weather and time?" }] },
          { role: "assistant", content },
          { role: "user", content: [result("tool_1", "20 °C"), result("tool_2", "12:00")] },
        ],
      }),
    );
    expect(answer.output?.message?.content).toEqual([{ text: "20 °C and noon." }]);
  });

  it("redacted reasoning is bytes", async () => {
    double.onMessage("why", { redactedThinking: ["c2VjcmV0"], content: "So." });
    const { output } = await client.send(new ConverseCommand(ask("why?")));
    const [block] = output?.message?.content ?? [];
    expect(Buffer.from(block?.reasoningContent?.redactedContent ?? []).toString()).toBe("secret");
  });

  it("matched by system prompt, tool, turn and schema like those of any provider", async () => {
    double.on(
      { systemMessage: "pirate", userMessage: "name", toolName: "sail", turnIndex: 1, responseFormat: "json_schema" },
      { content: { name: "Arr" } },
    );
    const schema = JSON.stringify({ type: "object", properties: { name: { type: "string" } } });
    const { output } = await client.send(
      new ConverseCommand({
        modelId: CLAUDE,
        system: [{ text: "You are a pirate." }],
        messages: [
          { role: "user", content: [{ text: "hi" }] },
          { role: "assistant", content: [{ text: "yo" }] },
          { role: "user", content: [{ text: "What's your name?" }, { cachePoint: { type: "default" } }] },
        ],
        toolConfig: { tools: [{ toolSpec: { name: "sail", inputSchema: { json: { type: "object" } } } }] },
        outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema: { schema } } } },
      }),
    );
    expect(output?.message?.content).toEqual([{ text: '{"name":"Arr"}' }]);
  });

  it("says why it ended, and what the caches held", async () => {
    double.onMessage("bomb", { refusal: "I can't help with that." });
    double.onMessage("long", { content: "x", finishReason: "length" });
    double.onMessage("filter", { content: "x", finishReason: "content_filter" });
    double.onMessage("cache", {
      content: "x",
      usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } },
    });
    const reason = async (text: string) => (await client.send(new ConverseCommand(ask(text)))).stopReason;
    expect([await reason("bomb"), await reason("long"), await reason("filter")]).toEqual([
      "content_filtered",
      "max_tokens",
      "content_filtered",
    ]);
    const { usage } = await client.send(new ConverseCommand(ask("cache")));
    expect(usage).toEqual({ inputTokens: 40, outputTokens: 5, totalTokens: 105, cacheReadInputTokens: 60 });
  });

  it("stops in mid-stream when the client goes", async () => {
    double.onMessage("hello", { content: "one two three" }, { streamingProfile: { ttft: 0, tps: 0.001 } });
    const abort = new AbortController();
    const { stream } = await client.send(new ConverseStreamCommand(ask("hello")), { abortSignal: abort.signal });
    for await (const event of stream ?? []) {
      expect(event).toEqual({ messageStart: { role: "assistant" } });
      abort.abort();
      break;
    }
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });
});

describe("a model", () => {
  const profile =
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0";

  it.each([
    [`/model/${CLAUDE}/converse`, CLAUDE],
    [`/model/${encodeURIComponent(CLAUDE)}/converse`, CLAUDE],
    [`/model/${profile}/converse`, profile],
    [`/model/${encodeURIComponent(profile)}/converse`, profile],
    [`/model/${profile.replace("/", "%2F")}/converse`, profile],
    [`/bedrock/model/${profile}/converse`, profile],
    [`/some/where/model/${encodeURIComponent(profile)}/converse/`, profile],
  ])("%s", async (path, model) => {
    double.on({ model }, { content: "Yes." });
    const { messages } = ask("hello");
    const response = await double.fetch(`http://double${path}`, { method: "POST", body: JSON.stringify({ messages }) });
    expect([response.status, double.lastCall()?.body]).toMatchObject([200, { model }]);
  });

  it("is asked for something that does not exist", async () => {
    for (const prefix of ["", "/bedrock"]) {
      const response = await double.fetch(`http://double${prefix}/model/${CLAUDE}/dance`, {
        method: "POST",
        body: "{}",
      });
      expect(response.status).toBe(404);
      expect(response.headers.get("x-amzn-errortype")).toMatch(/^UnknownOperationException:/);
    }
  });
});

describe("invoke", () => {
  const invoke = async (modelId: string, body: object) => {
    const { body: bytes } = await client.send(new InvokeModelCommand({ modelId, body: JSON.stringify(body) }));
    return JSON.parse(bytes.transformToString()) as unknown;
  };
  const stream = async (modelId: string, body: object) => {
    const command = new InvokeModelWithResponseStreamCommand({ modelId, body: JSON.stringify(body) });
    const events = await all((await client.send(command)).body);
    return events.map(({ chunk }) => JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()) as Record<string, unknown>);
  };
  const metrics = (inputTokenCount: number, outputTokenCount: number) => ({
    "amazon-bedrock-invocationMetrics": {
      inputTokenCount,
      outputTokenCount,
      invocationLatency: expect.any(Number),
      firstByteLatency: expect.any(Number),
    },
  });

  it("Nova", async () => {
    double.onMessage("hello", { content: "Hi, you!" }, { chunkSize: 4 });
    const body = { messages: [{ role: "user", content: [{ text: "hello" }] }], inferenceConfig: { max_new_tokens: 9 } };
    expect(await invoke("amazon.nova-micro-v1:0", body)).toMatchObject({
      output: { message: { role: "assistant", content: [{ text: "Hi, you!" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 2, outputTokens: 2, totalTokens: 4 },
    });
    const events = await stream("amazon.nova-micro-v1:0", body);
    expect(events.slice(0, 3)).toEqual([
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi, " } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "you!" } } },
    ]);
    expect(events.at(-1)).toMatchObject({ metadata: { usage: { totalTokens: 4 } }, ...metrics(2, 2) });
    expect(double.lastCall()?.body).toMatchObject({ max_tokens: 9 });
  });

  it("Llama", async () => {
    double.on(
      { systemMessage: "pirate", userMessage: "hello", turnIndex: 1 },
      { content: "Hi, you!" },
      { chunkSize: 4 },
    );
    const header = (role: string) => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
    const said = (role: string, text: string) => `${header(role)}${text}<|eot_id|>`;
    const prompt = `<|begin_of_text|>${said("system", "A pirate.")}${said("user", "yo")}${said("assistant", "yo")}${said("user", "hello")}${header("assistant")}`;
    const body = { prompt, max_gen_len: 9 };
    expect(await invoke("meta.llama3-8b-instruct-v1:0", body)).toEqual({
      generation: "Hi, you!",
      prompt_token_count: 5,
      generation_token_count: 2,
      stop_reason: "stop",
    });
    expect(await stream("meta.llama3-8b-instruct-v1:0", body)).toEqual([
      { generation: "Hi, ", prompt_token_count: 5, generation_token_count: null, stop_reason: null },
      { generation: "you!", prompt_token_count: null, generation_token_count: null, stop_reason: null },
      { generation: "", prompt_token_count: null, generation_token_count: 2, stop_reason: "stop", ...metrics(5, 2) },
    ]);
  });

  it("Mistral, in both of its forms", async () => {
    double.onMessage("hello", { content: "Hi, you!", finishReason: "length" }, { chunkSize: 4 });
    const model = "mistral.mistral-7b-instruct-v0:2";
    const prompt = "<s>[INST] yo [/INST] yo</s>[INST] hello [/INST]";
    expect(await invoke(model, { prompt })).toEqual({ outputs: [{ text: "Hi, you!", stop_reason: "length" }] });
    expect(await stream(model, { prompt })).toEqual([
      { outputs: [{ text: "Hi, ", stop_reason: null }] },
      { outputs: [{ text: "you!", stop_reason: null }] },
      { outputs: [{ text: "", stop_reason: "length" }], ...metrics(3, 2) },
    ]);
    const messages = [{ role: "user", content: "hello" }];
    expect(await invoke("mistral.mistral-large-2407-v1:0", { messages })).toMatchObject({
      choices: [{ index: 0, message: { role: "assistant", content: "Hi, you!" }, stop_reason: "length" }],
    });
  });

  it("Titan", async () => {
    double.onMessage("hello", { content: "Hi, you!" }, { chunkSize: 4 });
    const body = { inputText: "hello", textGenerationConfig: { maxTokenCount: 9 } };
    expect(await invoke("amazon.titan-text-express-v1", body)).toEqual({
      inputTextTokenCount: 2,
      results: [{ tokenCount: 2, outputText: "Hi, you!", completionReason: "FINISH" }],
    });
    const events = await stream("amazon.titan-text-express-v1", body);
    expect(events.map(({ outputText }) => outputText)).toEqual(["Hi, ", "you!", ""]);
    expect(events.at(-1)).toMatchObject({ completionReason: "FINISH", totalOutputTextTokenCount: 2, ...metrics(2, 2) });
  });

  it("models in the form of chat completions", async () => {
    double.onMessage("hello", { toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }] });
    const body = { messages: [{ role: "user", content: "hello" }] };
    const message = { tool_calls: [{ id: "call_1", function: { name: "weather", arguments: '{"city":"Bern"}' } }] };
    expect(await invoke("openai.gpt-oss-120b-1:0", body)).toMatchObject({
      choices: [{ message, finish_reason: "tool_calls" }],
    });
    const events = await stream("openai.gpt-oss-120b-1:0", body);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 2 }, ...metrics(2, 6) });
  });

  it("tells of the tier in the head, and of tokens where the body is whole", async () => {
    double.onMessage("hello", { content: "Hi, you!", serviceTier: "flex" });
    const asked = {
      modelId: "meta.llama3-8b-instruct-v1:0",
      body: JSON.stringify({ prompt: "hello" }),
    };
    const { serviceTier } = await client.send(new InvokeModelCommand(asked));
    const streamed = await client.send(new InvokeModelWithResponseStreamCommand(asked));
    await all(streamed.body);
    expect([serviceTier, streamed.serviceTier]).toEqual(["flex", "flex"]);
    const { headers } = await double.fetch(`http://double/model/${asked.modelId}/invoke`, {
      method: "POST",
      body: asked.body,
    });
    expect([...headers].filter(([name]) => name.endsWith("-token-count"))).toEqual([
      ["x-amzn-bedrock-input-token-count", "2"],
      ["x-amzn-bedrock-output-token-count", "2"],
    ]);
  });

  it("a model behind an ARN, by the form of the body", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const modelId = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";
    const claude = {
      anthropic_version: "bedrock-2023-05-31",
      max_tokens: 9,
      messages: [{ role: "user", content: "hello" }],
    };
    expect(await invoke(modelId, claude)).toMatchObject({ type: "message", content: [{ type: "text", text: "Hi!" }] });
    expect(await invoke(modelId, { prompt: "hello", max_gen_len: 9 })).toMatchObject({ generation: "Hi!" });
    expect(await invoke(modelId, { inputText: "hello" })).toMatchObject({ results: [{ outputText: "Hi!" }] });
    const nova = { messages: [{ role: "user", content: [{ text: "hello" }] }] };
    expect(await invoke(modelId, nova)).toMatchObject({ output: { message: { content: [{ text: "Hi!" }] } } });
  });

  it("embeddings of Titan for images, texts and both", async () => {
    const embed = (body: object) => invoke("amazon.titan-embed-image-v1", body) as Promise<{ embedding: number[] }>;
    const inputImage = Buffer.from("a picture").toString("base64");
    const embeddingConfig = { outputEmbeddingLength: 256 };
    const image = await embed({ inputImage, embeddingConfig });
    expect(image).toEqual({ embedding: expect.any(Array), inputTextTokenCount: 0, message: null });
    const text = await embed({ inputText: "a picture", embeddingConfig });
    expect(text).toMatchObject({ inputTextTokenCount: 3 });
    const both = await embed({ inputText: "a picture", inputImage, embeddingConfig });
    expect(both.embedding).toEqual(image.embedding.map((value, at) => (value + text.embedding[at]!) / 2));
    expect((await embed({ inputImage })).embedding).toHaveLength(1024);
    double.onEmbedding("fixed", { embedding: [0.5, -0.5] });
    expect((await embed({ inputText: "fixed", inputImage })).embedding).toEqual([0.5, -0.5]);
    await expect(embed({})).rejects.toMatchObject({ name: "ValidationException" });
    await expect(embed({ inputImage: "no base64!" })).rejects.toMatchObject({ name: "SerializationException" });
    await expect(embed({ inputImage, embeddingConfig: { outputEmbeddingLength: 0 } })).rejects.toThrow(
      "#/embeddingConfig/outputEmbeddingLength: 0",
    );
  });

  it("embeddings of Titan and Cohere", async () => {
    double.onEmbedding("fixed", { embedding: [0.5, -0.5] });
    const made = (await invoke("amazon.titan-embed-text-v2:0", { inputText: "any", dimensions: 256 })) as {
      embedding: number[];
    };
    expect([made.embedding.length, Math.hypot(...made.embedding).toFixed(6)]).toEqual([256, "1.000000"]);
    expect(await invoke("amazon.titan-embed-text-v2:0", { inputText: "fixed" })).toEqual({
      embedding: [0.5, -0.5],
      embeddingsByType: { float: [0.5, -0.5] },
      inputTextTokenCount: 2,
    });
    const cohere = { texts: ["fixed", "fixed"], input_type: "search_query" };
    expect(await invoke("cohere.embed-english-v3", cohere)).toMatchObject({
      response_type: "embeddings_floats",
      embeddings: [
        [0.5, -0.5],
        [0.5, -0.5],
      ],
      texts: ["fixed", "fixed"],
    });
  });
});

describe("@anthropic-ai/bedrock-sdk", () => {
  const anthropic = () =>
    new AnthropicBedrock({
      baseURL: double.url,
      awsAccessKey: "x",
      awsSecretKey: "x",
      awsRegion: "us-east-1",
      maxRetries: 0,
    });
  const question = { model: CLAUDE, max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };

  it("whole and streamed", async () => {
    double.onMessage("hello", {
      reasoning: "Hm.",
      reasoningSignature: "c2lnbmVk",
      content: "Hi!",
      toolCalls: [{ id: "toolu_1", name: "weather", arguments: { city: "Bern" } }],
    });
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" },
      { type: "text", text: "Hi!" },
      { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern" } },
    ];
    const whole = await anthropic().messages.create(question);
    expect(whole).toMatchObject({ content, stop_reason: "tool_use", usage: { input_tokens: 2 } });
    const events = await all(await anthropic().messages.create({ ...question, stream: true }));
    expect(events.map(({ type }) => type)).not.toContain("ping");
    expect(events.at(-1)).toMatchObject({ "amazon-bedrock-invocationMetrics": { inputTokenCount: 2 } });
    const streamed = events.flatMap((event) => (event.type === "content_block_delta" ? [event.delta.type] : []));
    expect(new Set(streamed)).toEqual(new Set(["thinking_delta", "signature_delta", "text_delta", "input_json_delta"]));
  });

  it("is refused in the words of the model's maker", async () => {
    const wrong = { ...question, messages: [{ role: "tool", content: "x" }] };
    await expect(anthropic().messages.create(wrong as never)).rejects.toThrow(
      /messages\.0\.role: Input should be 'user'/,
    );
  });
});

describe("errors", () => {
  it("have a type of Amazon's, whatever type another provider has", async () => {
    double.nextRequestError(429, { message: "Wait.", type: "rate_limit_error" });
    await expect(client.send(new ConverseCommand(ask("hello")))).rejects.toThrow(ThrottlingException);
  });

  it("a fixture may name its exception", async () => {
    double.nextRequestError(429, { message: "Wait.", type: "ModelNotReadyException" });
    await expect(client.send(new ConverseCommand(ask("hello")))).rejects.toMatchObject({
      name: "ModelNotReadyException",
    });
  });

  it("where nothing matches", async () => {
    await expect(client.send(new ConverseCommand(ask("nobody answers")))).rejects.toThrow(ResourceNotFoundException);
  });

  it.each([
    ["null", "null"],
    ["a list", "[]"],
    ["a number", "3"],
    ["broken", "{"],
    ["empty", ""],
    ["too deep", `{"messages":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["without messages", "{}"],
    ["of an unknown role", '{"messages":[{"role":"robot","content":[{"text":"x"}]}]}'],
    ["with a text for content", '{"messages":[{"role":"user","content":"x"}]}'],
    ["without content", '{"messages":[{"role":"user"}]}'],
    ["a number for a text", '{"messages":[{"role":"user","content":[{"text":3}]}]}'],
    ["a result without its call", '{"messages":[{"role":"user","content":[{"toolResult":{"content":[]}}]}]}'],
    [
      "an image that is no base64",
      '{"messages":[{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"?"}}}]}]}',
    ],
  ])("a body that is %s", async (_, body) => {
    for (const action of ["converse", "converse-stream", "invoke", "invoke-with-response-stream", "count-tokens"]) {
      const path = `/model/amazon.nova-micro-v1:0/${action}`;
      const response = await double.fetch(`http://double${path}`, { method: "POST", body });
      expect([action, response.status]).toEqual([action, 400]);
      expect(response.headers.get("x-amzn-errortype")).toMatch(/^(Validation|Serialization)Exception:/);
      expect(await response.json()).toEqual({ message: expect.any(String) });
    }
  });
});

it("counts tokens of both kinds of requests", async () => {
  const { messages } = ask("12345678");
  const count = async (input: ConstructorParameters<typeof CountTokensCommand>[0]["input"]) =>
    (await client.send(new CountTokensCommand({ modelId: CLAUDE, input }))).inputTokens;
  const body = { anthropic_version: "bedrock-2023-05-31", messages: [{ role: "user", content: "12345678" }] };
  expect(await count({ converse: { messages } })).toBe(2);
  expect(await count({ invokeModel: { body: Buffer.from(JSON.stringify(body)) } })).toBe(2);
});
