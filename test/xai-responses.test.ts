import { createXai } from "@ai-sdk/xai";
import { APICallError, generateText } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { wholeAndStreamed } from "./support/ai-sdk.ts";
import { sharedDouble } from "./support/double.ts";

/** xAI's Responses are OpenAI's but for the status of reasoning and for errors; OpenAI's stay as they are. */
const double = sharedDouble();

const model = "grok-4";
const THOUGHT = { reasoning: "A capital is asked for.", content: "Bern." };
const clientAt = (base: string) => new OpenAI({ baseURL: double.url + base, apiKey: "x", maxRetries: 0 });
const grok = () => createXai({ baseURL: `${double.url}/xai/v1`, apiKey: "x" }).responses(model);

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(double.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function eventsOf(path: string, input: string): Promise<Record<string, unknown>[]> {
  const text = await (await post(path, { model, input, stream: true })).text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

describe("reasoning", () => {
  it("has a status behind xAI's segment and for its client, and none elsewhere", async () => {
    double.onMessage("capital", THOUGHT);
    const asked = { model, input: "the capital?" };
    const statusOf = async (path: string, headers?: Record<string, string>): Promise<unknown> => {
      const { output } = (await (await post(path, asked, headers)).json()) as { output: Record<string, unknown>[] };
      expect(output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
      return output[0]!["status"];
    };
    expect(await statusOf("/xai/v1/responses")).toBe("completed");
    expect(await statusOf("/@a test/xai/v1/responses")).toBe("completed");
    expect(await statusOf("/v1/responses", { "user-agent": "ai-sdk/xai/3.0.138" })).toBe("completed");
    expect(await statusOf("/v1/responses")).toBe(undefined);
    expect(await statusOf("/openai/v1/responses")).toBe(undefined);
  });

  it("has begun and then ended, streamed", async () => {
    double.onMessage("capital", THOUGHT);
    const items = (await eventsOf("/xai/v1/responses", "the capital?")).flatMap(({ type, item }) =>
      String(type).startsWith("response.output_item.") ? [item as Record<string, unknown>] : [],
    );
    expect(items.map(({ type, status }) => [type, status])).toEqual([
      ["reasoning", "in_progress"],
      ["reasoning", "completed"],
      ["message", "in_progress"],
      ["message", "completed"],
    ]);
  });

  it("is told by xAI's client, and comes back encrypted where that is asked for", async () => {
    double.onMessage("capital", { ...THOUGHT, usage: { prompt_tokens: 5, completion_tokens: 6 } });
    const providerOptions = { xai: { store: false } };
    for (const result of await wholeAndStreamed({ model: grok(), prompt: "the capital?", providerOptions })) {
      expect(result).toMatchObject({
        text: "Bern.",
        reasoningText: THOUGHT.reasoning,
        finishReason: "stop",
        usage: { inputTokens: 5, outputTokens: 6 },
      });
    }
    // The client asks for it where nothing is stored.
    expect(double.lastCall()?.body).toMatchObject({ include: ["reasoning.encrypted_content"] });
  });
});

describe("errors", () => {
  it.each([
    [400, OpenAI.BadRequestError, false],
    [401, OpenAI.AuthenticationError, false],
    [403, OpenAI.PermissionDeniedError, false],
    [404, OpenAI.NotFoundError, false],
    [429, OpenAI.RateLimitError, true],
    [500, OpenAI.InternalServerError, true],
    [503, OpenAI.InternalServerError, true],
  ])("%d has a code and a text", async (status, kind, isRetryable) => {
    double.onMessage("fail", { error: { message: "No.", code: "why" }, status });
    expect(await (await post("/xai/v1/responses", { model, input: "fail" })).json()).toEqual({
      code: "why",
      error: "No.",
    });
    const error = await clientAt("/xai/v1")
      .responses.create({ model, input: "fail" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, message: `${status} "No."` });
    const thrown = await generateText({ model: grok(), prompt: "fail", maxRetries: 0 }).catch((one: unknown) => one);
    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ statusCode: status, isRetryable, message: "why: No." });
  });

  it("says what is wrong with a request in the same form", async () => {
    const response = await post("/xai/v1/responses", { model });
    expect([response.status, await response.json()]).toEqual([
      400,
      { code: "missing_required_parameter", error: "Missing required parameter: 'input'." },
    ]);
  });

  it("in mid-stream are an event without an object in it", async () => {
    double.onMessage("break", { content: "So far", streamError: { message: "Overloaded.", status: 503 } });
    const events = await eventsOf("/xai/v1/responses", "break");
    expect(events.at(-1)).toEqual({
      type: "error",
      sequence_number: events.length - 1,
      code: "service_unavailable_error",
      message: "Overloaded.",
      param: null,
    });
    expect((await eventsOf("/v1/responses", "break")).at(-1)).toMatchObject({ error: { message: "Overloaded." } });
  });

  it("are in the same form before a response that has failed", async () => {
    double.onMessage("fail", { content: "So far", finishReason: "error" });
    const told = (await eventsOf("/xai/v1/responses", "fail")).slice(-2);
    expect(told).toMatchObject([
      { type: "error", code: "server_error", message: "The model failed to generate a response." },
      { type: "response.failed", response: { status: "failed", error: { code: "server_error" } } },
    ]);
    expect(told[0]).not.toHaveProperty("error");
  });
});

describe("what is stored", () => {
  it("is gone on from, given again, and deleted", async () => {
    double.on({ userMessage: "and then", turnIndex: 1 }, { content: "Thun." });
    double.onMessage("capital", THOUGHT);
    const { responses } = clientAt("/xai/v1");
    const first = await responses.create({ model, input: "the capital?" });
    const second = await responses.create({ model, input: "and then?", previous_response_id: first.id });
    expect(second.output_text).toBe("Thun.");
    expect((await responses.retrieve(first.id)).output).toEqual(first.output);
    await responses.delete(first.id);
    const error = await responses.retrieve(first.id).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect((error as InstanceType<typeof OpenAI.NotFoundError>).error).toContain(first.id);
  });
});
