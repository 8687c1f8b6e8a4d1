import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import type { ResponseCreateParamsNonStreaming, ResponseStreamEvent } from "openai/resources/responses/responses";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let client: OpenAI;
beforeAll(() => {
  client = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "x", maxRetries: 0 });
});

const ask = (input: ResponseCreateParamsNonStreaming["input"], more: object = {}) => ({
  model: "gpt-5",
  input,
  ...more,
});
/** The same answer whole and streamed. */
const bothWays = async (input: string, more: object = {}): Promise<OpenAI.Responses.Response[]> => [
  await client.responses.create(ask(input, more)),
  await client.responses.stream(ask(input, more)).finalResponse(),
];
const events = async (input: string, more: object = {}): Promise<ResponseStreamEvent[]> => {
  const all: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({ ...ask(input, more), stream: true })) all.push(event);
  return all;
};
/** What predicates were given last, once this has been called. */
let seen: unknown;
const watch = (): void => {
  const predicate = (request: unknown): boolean => {
    seen = request;
    return false;
  };
  double.prependFixture({ match: { predicate }, response: { content: "never" } });
};
const weather = {
  type: "function" as const,
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};

describe("a response", () => {
  it("has the text, and says again what was asked", async () => {
    double.onMessage("hello", { content: "Hi! 👋" });
    const metadata = { run: "7" };
    const { data, request_id } = await client.responses
      .create(
        ask("well, hello", { instructions: "Be kind.", tools: [weather], temperature: 0.5, metadata, user: "me" }),
      )
      .withResponse();
    expect(data).toMatchObject({
      object: "response",
      status: "completed",
      model: "gpt-5",
      output_text: "Hi! 👋",
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hi! 👋", annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      incomplete_details: null,
      instructions: "Be kind.",
      tools: [weather],
      temperature: 0.5,
      top_p: 1,
      metadata,
      user: "me",
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      previous_response_id: null,
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 7,
      },
    });
    expect(data.id).toMatch(/^resp_[0-9A-Za-z]{24}$/);
    expect(data.output[0]?.id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(request_id).toMatch(/^req_/);
  });

  it("is matched by instructions, tool, format and turn like that of any provider", async () => {
    double.on(
      {
        systemMessage: "pirate",
        userMessage: "name",
        toolName: "weather",
        turnIndex: 1,
        responseFormat: "json_object",
      },
      { content: "Arr!" },
    );
    const response = await client.responses.create(
      ask(
        [
          { role: "developer", content: "You are a pirate." },
          { role: "user", content: "hi" },
          { role: "assistant", content: "yo" },
          { role: "user", content: [{ type: "input_text", text: "What's your name?" }] },
        ],
        { tools: [weather], text: { format: { type: "json_object" } } },
      ),
    );
    expect(response.output_text).toBe("Arr!");
  });

  it("calls functions, in parallel too, and goes on from their outputs", async () => {
    watch();
    double.onToolResult("call_2", { content: "20 °C and noon." });
    double.onMessage("weather", {
      blocks: [
        { type: "text", text: "Let me see." },
        { type: "toolCall", id: "call_1", name: "weather", arguments: { city: "Bern" } },
        { type: "toolCall", id: "call_2", name: "time", arguments: {} },
        { type: "text", text: "One moment." },
      ],
    });
    for (const response of await bothWays("weather and time?", { tools: [weather] })) {
      expect(response.output).toMatchObject([
        { type: "message", content: [{ text: "Let me see." }] },
        {
          type: "function_call",
          call_id: "call_1",
          name: "weather",
          arguments: '{"city":"Bern"}',
          status: "completed",
        },
        { type: "function_call", call_id: "call_2", name: "time", arguments: "{}" },
        { type: "message", content: [{ text: "One moment." }] },
      ]);
      const outputs = ["call_1", "call_2"].map((call_id) => ({
        type: "function_call_output" as const,
        call_id,
        output: "20 °C",
      }));
      const answer = await client.responses.create(ask(outputs, { previous_response_id: response.id }));
      expect(answer.output_text).toBe("20 °C and noon.");
      expect(seen).toMatchObject({
        messages: [
          { role: "user", content: "weather and time?" },
          {
            role: "assistant",
            content: "Let me see.One moment.",
            tool_calls: [
              { id: "call_1", function: { name: "weather", arguments: '{"city":"Bern"}' } },
              { id: "call_2", function: { name: "time", arguments: "{}" } },
            ],
          },
          { role: "tool", tool_call_id: "call_1", content: "20 °C" },
          { role: "tool", tool_call_id: "call_2", content: "20 °C" },
        ],
      });
    }
  });

  it("calls custom tools with text as their input", async () => {
    double.onToolCall("sql", { toolCalls: [{ id: "call_1", name: "sql", arguments: "SELECT 1" }] });
    for (const { output } of await bothWays("query", { tools: [{ type: "custom", name: "sql" }] })) {
      expect(output).toMatchObject([{ type: "custom_tool_call", call_id: "call_1", name: "sql", input: "SELECT 1" }]);
    }
  });

  it("reasons in summaries, and encrypted where that is asked for", async () => {
    double.onMessage("why", { reasoning: "Because of the sky.", content: "It is blue." });
    for (const { output } of await bothWays("why?")) {
      expect(output[0]).toEqual({
        id: output[0]!.id,
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Because of the sky." }],
      });
    }
    for (const { output } of await bothWays("why?", { include: ["reasoning.encrypted_content"] })) {
      expect(output[0]).toMatchObject({ type: "reasoning", encrypted_content: expect.stringMatching(/^gAAAAAB\w+/) });
      expect(output[1]).toMatchObject({ content: [{ text: "It is blue." }] });
    }
  });

  it("searches the web", async () => {
    double.onMessage("news", { webSearches: ["news today"], content: "None." });
    for (const { output } of await bothWays("news?")) {
      expect(output).toMatchObject([
        { type: "web_search_call", status: "completed", action: { type: "search", query: "news today" } },
        { type: "message", content: [{ text: "None." }] },
      ]);
    }
  });

  it("refuses", async () => {
    double.onMessage("bomb", { refusal: "I can't help with that." });
    for (const { output, status } of await bothWays("a bomb")) {
      expect(status).toBe("completed");
      expect(output).toMatchObject([
        { type: "message", content: [{ type: "refusal", refusal: "I can't help with that." }] },
      ]);
    }
  });

  it("answers JSON where a schema asks for it", async () => {
    double.on({ userMessage: "capital", responseFormat: "json_schema" }, { content: { capital: "Bern" } });
    const text = { format: zodTextFormat(z.object({ capital: z.string() }), "answer") };
    expect((await client.responses.parse({ ...ask("What is the capital?"), text })).output_parsed).toEqual({
      capital: "Bern",
    });
    const streamed = await client.responses.stream({ ...ask("What is the capital?"), text }).finalResponse();
    expect(streamed.output_parsed).toEqual({ capital: "Bern" });
  });

  it("is incomplete at its length, and failed by a content filter", async () => {
    double.onMessage("long", { content: "Once upon", finishReason: "length" });
    double.onMessage("bad", { content: "", finishReason: "content_filter" });
    for (const response of await bothWays("long")) {
      expect(response).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output_text: "Once upon",
      });
    }
    for (const response of await bothWays("bad")) {
      expect(response).toMatchObject({ status: "failed", error: { code: "content_filter" }, incomplete_details: null });
    }
    expect((await events("bad")).at(-1)?.type).toBe("response.failed");
    expect((await events("long")).at(-1)?.type).toBe("response.incomplete");
  });

  it("takes what a fixture overrides", async () => {
    double.onMessage("hello", {
      content: "x",
      id: "resp_mine",
      created: 12,
      model: "other",
      serviceTier: "flex",
      usage: {
        input_tokens: 100,
        output_tokens: 9,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens_details: { reasoning_tokens: 4 },
      },
    });
    for (const response of await bothWays("hello")) {
      expect(response).toMatchObject({
        id: "resp_mine",
        created_at: 12,
        model: "other",
        service_tier: "flex",
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 4 },
          total_tokens: 109,
        },
      });
    }
  });

  it("is found without a version, behind a prefix, and without a socket", async () => {
    double.onMessage("hello", { content: "Hi!" });
    for (const baseURL of [double.url, `${double.url}/openai/v1`, `${double.url}/api/v1`]) {
      const other = new OpenAI({ baseURL, apiKey: "x" });
      expect((await other.responses.create(ask("hello"))).output_text).toBe("Hi!");
    }
    const direct = new OpenAI({ baseURL: "http://anywhere/v1", fetch: double.fetch, apiKey: "x" });
    expect((await direct.responses.stream(ask("hello")).finalResponse()).output_text).toBe("Hi!");
  });
});

describe("a stream", () => {
  it("has the provider's sequence, and numbers that agree with the response at its end", async () => {
    double.onMessage(
      "go",
      {
        reasoning: "Hmm.",
        webSearches: ["q"],
        content: "Hi there!",
        toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }],
      },
      { chunkSize: 5 },
    );
    const all = await events("go");
    expect(all.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.web_search_call.in_progress",
      "response.web_search_call.searching",
      "response.web_search_call.completed",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
    const last = all.at(-1)!;
    if (last.type !== "response.completed") throw new Error(`ends with ${last.type}`);
    const { output } = last.response;
    for (const event of all) {
      if ("output_index" in event && "item_id" in event) expect(event.item_id).toBe(output[event.output_index]!.id);
      if (event.type === "response.output_item.done") expect(event.item).toEqual(output[event.output_index]);
      if (event.type === "response.output_item.added") expect(event.item.id).toBe(output[event.output_index]!.id);
    }
    const first = all[0]!;
    if (first.type !== "response.created") throw new Error(`begins with ${first.type}`);
    expect(first.response).toMatchObject({ id: last.response.id, status: "in_progress", output: [], usage: null });
  });

  it("stops in the middle when the client goes", async () => {
    double.onMessage("hello", { content: "one two three" }, { streamingProfile: { ttft: 0, tps: 0.001 } });
    const stream = await client.responses.create({ ...ask("hello"), stream: true });
    for await (const event of stream) {
      expect(event.type).toBe("response.created");
      break;
    }
    await vi.waitFor(() => expect(double.lastCall()?.response.interrupted).toBe(true));
  });

  it("breaks where it is cut", async () => {
    double.onMessage("hello", { content: "one two three" }, { truncateAfterChunks: 3 });
    await expect(client.responses.stream(ask("hello")).finalResponse()).rejects.toThrow();
  });
});

describe("state", () => {
  it("is asked for, listed and deleted", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const { id } = await client.responses.create(ask("hello"));
    expect((await client.responses.retrieve(id)).output_text).toBe("Hi!");
    const items = await client.responses.inputItems.list(id);
    expect(items.data).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "user",
        status: "completed",
        content: [{ type: "input_text", text: "hello" }],
      },
    ]);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toThrow(`404 Response with id '${id}' not found.`);
    await expect(client.responses.delete(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is not kept of a response that is not to be stored", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const { id } = await client.responses.create(ask("hello", { store: false }));
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("goes on from a previous response: fixtures see the whole conversation, but not its old instructions", async () => {
    watch();
    double.onTurn(0, "name", { content: "I am Ada." });
    double.onTurn(1, "again", { content: "Ada, as I said." });
    double.onTurn(2, "once more", { content: "Ada!" });
    const first = await client.responses.create(ask("your name?", { instructions: "Be brief." }));
    const second = await client.responses.stream(ask("again?", { previous_response_id: first.id })).finalResponse();
    const third = await client.responses.create(ask("once more", { previous_response_id: second.id }));
    expect([first, second, third].map(({ output_text }) => output_text)).toEqual([
      "I am Ada.",
      "Ada, as I said.",
      "Ada!",
    ]);
    expect(third.previous_response_id).toBe(second.id);
    expect(seen).toMatchObject({
      messages: [
        { role: "user", content: "your name?" },
        { role: "assistant", content: "I am Ada." },
        { role: "user", content: "again?" },
        { role: "assistant", content: "Ada, as I said." },
        { role: "user", content: "once more" },
      ],
    });
  });

  it("finds the items that references name", async () => {
    watch();
    double.onToolResult("call_1", { content: "Sunny." });
    double.onMessage("weather", { toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Bern" } }] });
    const { output } = await client.responses.create(ask("weather?"));
    const call = { type: "item_reference" as const, id: output[0]!.id! };
    const result = { type: "function_call_output" as const, call_id: "call_1", output: "sun" };
    const question = { role: "user" as const, content: "weather?" };
    expect((await client.responses.create(ask([question, call, result]))).output_text).toBe("Sunny.");
    expect(seen).toMatchObject({
      messages: [
        { role: "user" },
        { role: "assistant", tool_calls: [{ function: { name: "weather" } }] },
        { role: "tool" },
      ],
    });
  });

  it("runs in the background: queued, in progress, completed, as it is polled", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const queued = await client.responses.create(ask("hello", { background: true }));
    expect(queued).toMatchObject({ status: "queued", background: true, output: [], usage: null });
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ status: "in_progress", output: [] });
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ status: "completed", output_text: "Hi!" });
    expect(await client.responses.cancel(queued.id)).toMatchObject({ status: "completed" });
  });

  it("is cancelled in the background only", async () => {
    double.onMessage("hello", { content: "Hi!" });
    const { id } = await client.responses.create(ask("hello", { background: true }));
    expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled", output: [] });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: "cancelled" });
    const other = await client.responses.create(ask("hello"));
    await expect(client.responses.cancel(other.id)).rejects.toThrow("400 Cannot cancel a synchronous response.");
  });

  it("is streamed again from any event on, in the pieces that it had", async () => {
    double.onMessage("hello", { content: "Hi there, you!" }, { chunkSize: 5 });
    const all = await events("hello", { background: true });
    expect(all.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    const first = all[0]!;
    if (first.type !== "response.created") throw new Error(`begins with ${first.type}`);
    for (const last of [4, 6, all.length - 2]) {
      const again: ResponseStreamEvent[] = [];
      const rest = await client.responses.retrieve(first.response.id, { stream: true, starting_after: last });
      for await (const event of rest) again.push(event);
      expect(again).toEqual(all.slice(last + 1));
    }
  });

  it("keeps conversations, their items and what is said in them", async () => {
    double.onTurn(1, "more", { content: "Two." });
    double.onMessage("say", { content: "One." });
    const { id, metadata } = await client.conversations.create({
      metadata: { topic: "numbers" },
      items: [{ role: "developer", content: "Count." }],
    });
    expect(metadata).toEqual({ topic: "numbers" });
    expect((await client.responses.create(ask("say", { conversation: id }))).conversation).toEqual({ id });
    expect((await client.responses.create(ask("more", { conversation: { id } }))).output_text).toBe("Two.");
    const texts = (items: { data: unknown[] }): string[] =>
      items.data.map((item) => (item as { content: { text: string }[] }).content[0]!.text);
    expect(texts(await client.conversations.items.list(id, { order: "asc" }))).toEqual([
      "Count.",
      "say",
      "One.",
      "more",
      "Two.",
    ]);
    const page = await client.conversations.items.list(id, { limit: 2 });
    expect(texts(page)).toEqual(["Two.", "more"]);
    expect(texts(await page.getNextPage())).toEqual(["One.", "say"]);

    const added = await client.conversations.items.create(id, { items: [{ role: "user", content: "three?" }] });
    const item = added.data[0]!.id!;
    expect(await client.conversations.items.retrieve(item, { conversation_id: id })).toEqual(added.data[0]);
    await client.conversations.items.delete(item, { conversation_id: id });
    await expect(client.conversations.items.retrieve(item, { conversation_id: id })).rejects.toThrow("404");

    await client.conversations.update(id, { metadata: { topic: "letters" } });
    expect((await client.conversations.retrieve(id)).metadata).toEqual({ topic: "letters" });
    expect(await client.conversations.delete(id)).toEqual({ id, object: "conversation.deleted", deleted: true });
    await expect(client.conversations.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is compacted, and what the user said stays", async () => {
    double.onMessage("and now", { content: "Go on." });
    const compacted = await client.responses.compact({
      model: "gpt-5",
      input: [
        { role: "user", content: "hello" },
        { role: "assistant", content: "Hi!" },
      ],
    });
    expect(compacted).toMatchObject({
      object: "response.compaction",
      output: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        { type: "compaction", encrypted_content: expect.stringMatching(/^gAAAAAB/) },
      ],
    });
    const input = [...compacted.output, { role: "user", content: "and now?" }] as OpenAI.Responses.ResponseInput;
    expect((await client.responses.create(ask(input))).output_text).toBe("Go on.");
  });

  it("counts input tokens", async () => {
    expect(await client.responses.inputTokens.count({ model: "gpt-5", input: "12345678" })).toEqual({
      object: "response.input_tokens",
      input_tokens: 2,
    });
  });
});

describe("errors", () => {
  it("tell of a miss", async () => {
    await expect(client.responses.create(ask("unheard of"))).rejects.toMatchObject({
      status: 404,
      code: "no_fixture_match",
    });
  });

  it.each<[string, unknown, string | null]>([
    ["no model", { input: "hello" }, "model"],
    ["no input", { model: "m" }, "input"],
    ["a wrong model", { model: 3, input: "hello" }, "model"],
    ["a wrong input", { model: "m", input: 3 }, "input"],
    ["an unknown role", { model: "m", input: [{ role: "wizard", content: "x" }] }, "input[0].role"],
    ["no content", { model: "m", input: [{ role: "user" }] }, "input[0].content"],
    ["an item without a type", { model: "m", input: [{}] }, "input[0].type"],
    [
      "an output of no call",
      { model: "m", input: [{ type: "function_call_output", output: "x" }] },
      "input[0].call_id",
    ],
    [
      "a part without text",
      { model: "m", input: [{ role: "user", content: [{ type: "input_text" }] }] },
      "input[0].content[0].text",
    ],
    [
      "wrong base64",
      {
        model: "m",
        input: [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,§§" }] }],
      },
      "input[0].content[0].image_url",
    ],
    ["a tool without a name", { model: "m", input: "x", tools: [{ type: "function" }] }, "tools[0].name"],
    ["a wrong temperature", { model: "m", input: "x", temperature: "hot" }, "temperature"],
    [
      "a schema without a name",
      { model: "m", input: "x", text: { format: { type: "json_schema" } } },
      "text.format.name",
    ],
    ["null", null, null],
    ["a list", [], null],
    ["a number", 3, null],
  ])("name the place: %s", async (_, body, param) => {
    const reply = await double.fetch("http://double/v1/responses", { method: "POST", body: JSON.stringify(body) });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  it.each([
    ["POST", "/v1/conversations", "3", 400],
    ["POST", "/v1/conversations", '{"items":[{}]}', 400],
    ["POST", "/v1/conversations/conv_none/items", '{"items":[{"role":"user","content":"x"}]}', 404],
    ["POST", "/v1/responses/compact", '{"input":[null]}', 400],
    ["POST", "/v1/responses/input_tokens", "[]", 400],
    ["GET", "/v1/responses/resp_none?stream=true&starting_after=x", undefined, 400],
    ["GET", "/v1/responses/resp_none/input_items", undefined, 404],
  ])("refuse %s %s with %s", async (method, path, body, status) => {
    const reply = await double.fetch(`http://double${path}`, { method, ...(body !== undefined && { body }) });
    expect([reply.status, ((await reply.json()) as { error: { type: string } }).error.type]).toEqual([
      status,
      "invalid_request_error",
    ]);
  });
});
