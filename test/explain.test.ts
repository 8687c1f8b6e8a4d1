import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StuntDouble } from "../src/index.ts";

let double: StuntDouble;
beforeEach(async () => {
  double = await StuntDouble.start({ port: 0 });
});
afterEach(() => double.stop());

const KEY = `sk-proj-${"Ab1Cd2Ef3Gh4".repeat(5)}`;

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return double.fetch(`http://double${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const hello = (text: string) => ({ model: "gpt-4o", messages: [{ role: "user", content: text }] });
const LINES = [
  "The nearest fixtures:",
  '  greeting: userMessage: expected a text with "hello", but it is "hallo". It would have answered "Hi there!".',
].join("\n");

describe("a miss", () => {
  test("names the nearest fixtures to the official client, and the journal keeps them", async () => {
    double.addFixture({ id: "greeting", match: { userMessage: "hello" }, response: { content: "Hi there!" } });
    const client = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "sk-none", maxRetries: 0 });
    const error = await client.chat.completions
      .create({ model: "gpt-4o", messages: [{ role: "user", content: "hallo" }] })
      .catch((thrown: Error) => thrown);
    expect((error as Error).message).toBe(`404 No fixture matched. ${LINES}`);
    const { response } = double.lastCall()!;
    expect(response).toMatchObject({ status: 404, source: "miss", detail: `No fixture matched. ${LINES}` });
    expect(response.explanation).toEqual({
      fixtures: 1,
      nearest: [
        {
          fixture: "greeting",
          field: "userMessage",
          expected: 'a text with "hello"',
          actual: '"hallo"',
          alsoFailing: [],
          wouldAnswer: '"Hi there!"',
        },
      ],
      passedOver: { sequence: 0, turn: 0 },
    });
  });

  test.each([
    ["/v1/messages", { model: "claude-4", max_tokens: 9, messages: [{ role: "user", content: "hallo" }] }],
    ["/v1beta/models/gemini-3:generateContent", { contents: [{ role: "user", parts: [{ text: "hallo" }] }] }],
    ["/api/chat", { model: "llama3", messages: [{ role: "user", content: "hallo" }] }],
    ["/v1/responses", { model: "gpt-4o", input: "hallo" }],
  ])("is explained in the words of %s", async (path, body) => {
    double.addFixture({ id: "greeting", match: { userMessage: "hello" }, response: { content: "Hi there!" } });
    const response = await post(path, body);
    expect(response.status).toBe(404);
    expect(JSON.stringify(await response.json())).toContain(JSON.stringify(LINES).slice(1, -1));
  });

  test("counts what was passed over by its sequence", async () => {
    double.on({ userMessage: "status", sequenceIndex: 0 }, { content: "one" });
    await post("/v1/chat/completions", hello("status"));
    await post("/v1/chat/completions", hello("status"));
    expect(double.lastCall()!.response.detail).toContain("Passed over although the content holds: 1 by sequence.");
  });

  test("shows no credential of the request and none of a fixture", async () => {
    double.on({ userMessage: `key ${KEY}x` }, { content: `your key is ${KEY}` });
    const response = await post("/v1/chat/completions", hello(`my key is ${KEY}, thanks`), {
      authorization: `Bearer ${KEY}`,
    });
    const told = (await response.text()) + JSON.stringify(double.lastCall()!.response);
    expect(told).toContain("my key is «");
    expect(told).not.toContain(KEY.slice(8, 30));
  });

  test("sees the request as a transform made it", async () => {
    const other = new StuntDouble({
      requestTransform: (request) => ({ ...request, messages: [{ role: "user", content: "same" }] }),
    });
    other.onMessage("sam", { content: "x" });
    const response = await other.fetch("http://double/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(hello("whatever")),
    });
    expect(await response.text()).toContain('userMessage: expected exactly \\"sam\\", but it is \\"same\\"');
  });

  test("has the plain message where that was asked for, and the journal explains", async () => {
    const plain = new StuntDouble({ plainMisses: true });
    const response = await plain.fetch("http://double/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(hello("x")),
    });
    expect(await response.json()).toEqual({
      error: { message: "No fixture matched", type: "invalid_request_error", param: null, code: "no_fixture_match" },
    });
    expect(plain.lastCall()!.response.detail).toBe("No fixture matched. There are no fixtures.");
  });
});

describe("POST /__stuntdouble/explain", () => {
  test("tells who would answer, and serves nothing", async () => {
    double.on({ userMessage: "status", sequenceIndex: 0 }, { content: "one" }, { id: "first" });
    for (let time = 0; time < 2; time++) {
      const response = await post("/__stuntdouble/explain", hello("status"));
      expect(await response.json()).toMatchObject({
        operation: "openai-chat",
        path: "/v1/chat/completions",
        fixture: "first",
        answer: '"one"',
        nearest: [],
        text: 'first answers "one".',
      });
    }
    expect(double.calls()).toEqual([]);
    expect(double.unusedFixtures()).toHaveLength(1);
  });

  test("takes a whole request, and the test id of who asks", async () => {
    const body = { model: "claude-4", max_tokens: 9, messages: [{ role: "user", content: "status" }] };
    double.on({ userMessage: "status", context: "a", sequenceIndex: 0 }, { content: "one" }, { id: "first" });
    const request = { path: "/anthropic/v1/messages", headers: { "X-AIMock-Context": "a" }, body };
    await post("/v1/messages", body, { "x-aimock-context": "a", "x-test-id": "t" });
    const used = await post("/__stuntdouble/explain", request, { "x-test-id": "t" });
    expect(await used.json()).toMatchObject({ fixture: null, passedOver: { sequence: 1, turn: 0 } });
    const fresh = await post("/__aimock/explain", request);
    expect(await fresh.json()).toMatchObject({ fixture: "first", operation: "anthropic-messages" });
  });

  test.each([
    [[], /The body must be a JSON object/],
    [{ path: "/v1/nowhere", body: {} }, /No provider has the path POST \/v1\/nowhere/],
    [{ path: 1 }, /"path" has to be a string/],
    [{ messages: "no" }, /Missing required parameter/],
  ])("refuses %j with a reason", async (body, reason) => {
    const response = await post("/__stuntdouble/explain", body);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(reason);
  });

  test.each([
    [{ model: "m", messages: [] }, "/v1/chat/completions"],
    [{ model: "m", messages: [], system: "x" }, "/v1/messages"],
    [{ model: "claude-4", max_tokens: 1, messages: [{ role: "user", content: "x" }] }, "/v1/messages"],
    [{ contents: [{ role: "user", parts: [{ text: "x" }] }] }, "/v1beta/models/gemini:generateContent"],
    [{ model: "text-embedding-3-small", input: "x" }, "/v1/embeddings"],
    [{ model: "gpt-4o", input: "x" }, "/v1/responses"],
    [{ model: "gpt-3.5", prompt: "x" }, "/v1/completions"],
    [
      { modelId: "m", messages: [{ role: "user", content: [{ text: "x" }] }], inferenceConfig: {} },
      "/model/model/converse",
    ],
  ])("takes %j as sent to %s", async (body, path) => {
    const { guessPath } = await import("../src/server/explain-request.ts");
    expect(guessPath(body)).toBe(path);
  });
});
