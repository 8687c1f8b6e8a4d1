import { GoogleGenAI, type Interactions } from "@google/genai";
import { beforeAll, describe, expect, it } from "vitest";
import type { ChatRequest } from "../src/chat/request.ts";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();
let interactions: GoogleGenAI["interactions"];
beforeAll(() => {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: double.url, retryOptions: { attempts: 1 } } });
  interactions = client.interactions;
});

const MODEL = "gemini-2.5-flash";
const ask = (input: string) => ({ model: MODEL, input });

type Event = Awaited<ReturnType<typeof eventsOf>>[number];

async function eventsOf(input: string) {
  const events = [];
  for await (const event of await interactions.create({ ...ask(input), stream: true })) events.push(event);
  return events;
}

const types = (events: Event[]) => events.map((event) => event.event_type);

describe("an interaction", () => {
  it("unary", async () => {
    double.onMessage("hello", { content: "Hi! 👋", usage: { prompt_tokens: 7, completion_tokens: 5 } });
    const interaction = await interactions.create(ask("well, hello"));
    expect(interaction).toMatchObject({
      status: "completed",
      model: MODEL,
      output_text: "Hi! 👋",
      steps: [{ type: "model_output", content: [{ type: "text", text: "Hi! 👋" }] }],
      usage: { total_input_tokens: 7, total_output_tokens: 5, total_thought_tokens: 0, total_tokens: 12 },
      service_tier: "standard",
    });
    expect(interaction.id).toMatch(/^v1_[0-9A-Za-z]{24}$/);
  });

  it("streamed", async () => {
    double.onMessage("hello", { content: "Hello to you." }, { chunkSize: 6 });
    const events = await eventsOf("hello");
    expect(types(events)).toEqual([
      "interaction.created",
      "interaction.status_update",
      "step.start",
      "step.delta",
      "step.delta",
      "step.delta",
      "step.stop",
      "interaction.completed",
    ]);
    const text = events.map((event) =>
      event.event_type === "step.delta" && "text" in event.delta ? event.delta.text : "",
    );
    expect(text.join("|")).toBe("|||Hello |to you|.||");
    expect(events.at(-1)).toMatchObject({ interaction: { status: "completed", model: MODEL } });
  });

  it("thinks, calls functions in parallel, and matches their results", async () => {
    let seen: ChatRequest | undefined;
    double.onToolResult("call_b", (request) => {
      seen = request;
      return { content: "20 °C at noon." };
    });
    double.onMessage("weather", {
      reasoning: "Two things are asked.",
      reasoningSignature: "c2lnbmVk",
      content: "Let me see.",
      toolCalls: [
        { id: "call_a", name: "weather", arguments: { city: "Bern" } },
        { id: "call_b", name: "weather", arguments: { city: "Basel" } },
      ],
    });
    const steps = [
      { type: "thought", signature: "c2lnbmVk", summary: [{ type: "text", text: "Two things are asked." }] },
      { type: "model_output", content: [{ type: "text", text: "Let me see." }] },
      { type: "function_call", id: "call_a", name: "weather", arguments: { city: "Bern" } },
      { type: "function_call", id: "call_b", name: "weather", arguments: { city: "Basel" } },
    ];
    const asked = await interactions.create(ask("weather?"));
    expect(asked).toMatchObject({ status: "requires_action", steps });
    const completed = (await eventsOf("weather?")).at(-1);
    expect(completed).toMatchObject({ interaction: { status: "requires_action" } });
    const answered = await interactions.create({
      model: MODEL,
      previous_interaction_id: asked.id,
      input: [
        { type: "function_result", call_id: "call_a", name: "weather", result: { degrees: 20 } },
        { type: "function_result", call_id: "call_b", name: "weather", result: [{ type: "text", text: "noon" }] },
      ],
    });
    expect(answered.output_text).toBe("20 °C at noon.");
    expect(answered.previous_interaction_id).toBe(asked.id);
    expect(seen?.messages).toMatchObject([
      { role: "user", content: "weather?" },
      { role: "assistant", content: "Let me see.", tool_calls: [{ id: "call_a" }, { id: "call_b" }] },
      { role: "tool", tool_call_id: "call_a", content: '{"degrees":20}' },
      { role: "tool", tool_call_id: "call_b", content: "noon" },
    ]);
  });

  it("answers JSON where a schema asks for it, matched by system instruction and tool too", async () => {
    const match = { responseFormat: "json_schema", systemMessage: "geographer", toolName: "lookup" };
    double.on({ userMessage: "capital", ...match }, { content: { capital: "Bern" } });
    const interaction = await interactions.create({
      ...ask("What is the capital?"),
      system_instruction: "You are a geographer.",
      tools: [{ type: "function", name: "lookup", parameters: { type: "object" } }],
      response_format: { type: "text", mime_type: "application/json", schema: { type: "object" } },
    });
    expect(interaction.output_text).toBe('{"capital":"Bern"}');
  });

  it.each([
    ["length", "incomplete"],
    ["content_filter", "failed"],
    ["stop", "completed"],
  ])("ends for %s as %s", async (finishReason, status) => {
    double.onMessage("go", { content: "so far", finishReason });
    expect((await interactions.create(ask("go"))).status).toBe(status);
    expect((await eventsOf("go")).at(-1)).toMatchObject({ interaction: { status } });
  });

  it("takes overrides", async () => {
    double.onMessage("go", { content: "x", id: "v1_mine", model: "gemini-9", created: 1_700_000_000 });
    expect(await interactions.create(ask("go"))).toMatchObject({
      id: "v1_mine",
      model: "gemini-9",
      created: "2023-11-14T22:13:20.000Z",
    });
  });

  it("shows web searches as steps", async () => {
    double.onMessage("news", { content: "Nothing.", webSearches: ["news today"] });
    const { steps } = await interactions.create(ask("news"));
    expect(steps).toMatchObject([
      { type: "google_search_call", arguments: { queries: ["news today"] } },
      { type: "google_search_result" },
      { type: "model_output" },
    ]);
  });
});

describe("state", () => {
  it("goes on from an interaction, streamed or not, so that fixtures see the whole conversation", async () => {
    double.on({ userMessage: "name", turnIndex: 1 }, { content: "Anna." });
    double.onMessage("I am Anna", { content: "Hello Anna." });
    const events = await eventsOf("I am Anna");
    const created = events[0];
    if (created?.event_type !== "interaction.created") throw new Error("not created first");
    const next = await interactions.create({ ...ask("my name?"), previous_interaction_id: created.interaction.id });
    expect(next.output_text).toBe("Anna.");
  });

  it("is fetched, with its input if asked, streamed too, and deleted", async () => {
    double.onMessage("hello", { content: "Hi there." });
    const { id } = await interactions.create(ask("hello"));
    expect(await interactions.get(id)).toMatchObject({ id, status: "completed", output_text: "Hi there." });
    expect((await interactions.get(id)).input).toBeUndefined();
    expect((await interactions.get(id, { include_input: true })).input).toBe("hello");
    const events = [];
    for await (const event of await interactions.get(id, { stream: true })) events.push(event);
    expect(events.at(0)).toMatchObject({ interaction: { id, model: MODEL } });
    expect(events.at(3)).toMatchObject({ delta: { type: "text", text: "Hi there." } });
    await interactions.delete(id);
    await expect(interactions.get(id)).rejects.toMatchObject({ status: 404 });
    await expect(interactions.delete(id)).rejects.toMatchObject({ status: 404 });
    await expect(interactions.create({ ...ask("hello"), previous_interaction_id: id })).rejects.toMatchObject({
      status: 404,
    });
  });

  it("is streamed from any event on, in the pieces that it had, where it runs in the background", async () => {
    const reply = { reasoning: "Look.", content: "Hi there, you!", toolCalls: [{ name: "find", arguments: { a: 1 } }] };
    double.onMessage("hello", reply, { chunkSize: 5 });
    const whole: Interactions.InteractionSSEEvent[] = [];
    const started = await interactions.create({ ...ask("hello"), background: true, stream: true });
    for await (const event of started) whole.push(event);
    const [created] = whole;
    if (created?.event_type !== "interaction.created") throw new Error("not created first");
    const ids = whole.map(({ event_id }) => event_id!);
    expect(new Set(ids).size).toBe(whole.length);
    for (const [place, last_event_id] of ids.entries()) {
      const rest: Interactions.InteractionSSEEvent[] = [];
      const again = await interactions.get(created.interaction.id, { stream: true, last_event_id });
      for await (const event of again) rest.push(event);
      expect(rest).toEqual(whole.slice(place + 1));
    }
    await expect(
      interactions.get(created.interaction.id, { stream: true, last_event_id: "of nobody" }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it("has no ids of events where it cannot be taken up again", async () => {
    double.onMessage("hello", { content: "Hi." });
    for (const event of await eventsOf("hello")) expect(event.event_id).toBeUndefined();
  });

  it("is not kept where `store` is false", async () => {
    double.onMessage("hello", { content: "Hi." });
    expect((await interactions.create({ ...ask("hello"), store: false })).id).toBe("");
  });

  it("runs in the background until it is asked for, or cancelled", async () => {
    double.onMessage("research", { content: "Found." });
    const agent = { agent: "deep-research", input: "research this", background: true } as const;
    const started = await interactions.create(agent);
    expect(started).toMatchObject({ status: "in_progress", agent: "deep-research", steps: [] });
    expect(await interactions.get(started.id)).toMatchObject({ status: "completed", output_text: "Found." });
    await expect(interactions.cancel(started.id)).rejects.toMatchObject({ status: 400 });
    const other = await interactions.create(agent);
    expect(await interactions.cancel(other.id)).toMatchObject({ status: "cancelled" });
    expect((await interactions.get(other.id)).status).toBe("cancelled");
  });
});

describe("errors", () => {
  it("a miss", async () => {
    await expect(interactions.create(ask("nobody knows"))).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ["no model", { input: "x" }],
    ["no input", { model: MODEL }],
    ["an empty input", { model: MODEL, input: [] }],
    ["an input of another type", { model: MODEL, input: 3 }],
    ["a step without a type", { model: MODEL, input: [{ content: "x" }] }],
    ["a result without its call", { model: MODEL, input: [{ type: "function_result", result: "x" }] }],
    ["a call without a name", { model: MODEL, input: [{ type: "function_call", id: "1" }] }],
    ["an image that is not base64", { model: MODEL, input: [{ type: "image", data: "%%%", mime_type: "image/png" }] }],
    ["a tool without a name", { model: MODEL, input: "x", tools: [{ type: "function" }] }],
    ["a stream that is no boolean", { model: MODEL, input: "x", stream: "yes" }],
    ["null", null],
    ["a list", []],
    ["a number", 3],
  ])("refuses %s", async (_, body) => {
    const response = await double.fetch("http://double/v1beta/interactions", {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_request", message: expect.any(String) } });
  });

  it("breaks off in mid-stream", async () => {
    double.onMessage("hello", { content: "Hello to you." }, { chunkSize: 1, truncateAfterChunks: 5 });
    await expect(eventsOf("hello")).rejects.toThrow();
  });
});
