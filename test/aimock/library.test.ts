import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock as TheirMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatMessage, type Fixture, LLMock as OurMock } from "../../src/testing/aimock/index.ts";

interface Asked {
  model?: string;
  messages?: object[];
  headers?: Record<string, string>;
  [field: string]: unknown;
}

interface Answered {
  status: number;
  text: string | null;
  tools: { name: string; arguments: string }[];
  body: Record<string, unknown>;
}

const user = (content: unknown): object => ({ role: "user", content });

/** The same tests hold for aimock itself: whoever changes the import changes nothing else. */
describe.each([
  ["stuntdouble/aimock", OurMock],
  ["@copilotkit/aimock", TheirMock as unknown as typeof OurMock],
])("LLMock of %s", (_, LLMock) => {
  let mock: OurMock;
  beforeEach(async () => {
    mock = await LLMock.create({ port: 0 });
  });
  afterEach(() => mock.stop());

  async function chat(asked: string | Asked, url = mock.url): Promise<Answered> {
    const { headers, ...given } = typeof asked === "string" ? { messages: [user(asked)], headers: {} } : asked;
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "gpt-4o", ...given }),
    });
    const body = await response.json();
    const message = body.choices?.[0].message;
    const tools = message?.tool_calls ?? [];
    return {
      status: response.status,
      text: message?.content ?? null,
      tools: tools.map((tool: { function: object }) => tool.function),
      body,
    };
  }

  async function embed(input: string): Promise<number[]> {
    const response = await fetch(`${mock.url}/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify({ model: "text-embedding-3-small", input }),
    });
    return ((await response.json()) as { data: { embedding: number[] }[] }).data[0]!.embedding;
  }

  it("url, baseUrl and port say where it is, and nobody is there after stop()", async () => {
    expect(mock.url).toBe(`http://127.0.0.1:${mock.port}`);
    expect(mock.baseUrl).toBe(mock.url);
    const { url } = mock;
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await mock.stop();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    expect(() => mock.url).toThrow();
    expect(await mock.start()).toBe(mock.url);
    expect((await fetch(`${mock.url}/health`)).status).toBe(200);
  });

  it("addFixture, addFixtures and prependFixture: the first that matches is served", async () => {
    mock.addFixture({ match: { userMessage: "hello" }, response: { content: "one" } });
    mock.addFixtures([
      { match: { userMessage: "hello" }, response: { content: "two" } },
      { match: { userMessage: "bye" }, response: { content: "three" } },
    ]);
    expect((await chat("hello")).text).toBe("one");
    expect((await chat("bye")).text).toBe("three");
    mock.prependFixture({ match: {}, response: { content: "first" } });
    expect((await chat("hello")).text).toBe("first");
  });

  it("getFixtures gives the list that is served, and clearFixtures empties the same array", async () => {
    const fixtures = mock.getFixtures() as Fixture[];
    mock.onMessage("hello", { content: "one" });
    expect(fixtures).toHaveLength(1);
    fixtures.push({ match: { userMessage: "pushed" }, response: { content: "two" } });
    expect((await chat("pushed")).text).toBe("two");
    fixtures[0]!.response = { content: "edited" };
    expect((await chat("hello")).text).toBe("edited");
    mock.clearFixtures();
    expect(mock.getFixtures()).toBe(fixtures);
    expect(fixtures).toHaveLength(0);
    expect((await chat("hello")).status).toBe(404);
  });

  it("addFixturesFromJSON takes a text and a list, with values in the place of their JSON texts", async () => {
    mock.addFixturesFromJSON('[{ "match": { "userMessage": "hello" }, "response": { "content": "one" } }]');
    mock.addFixturesFromJSON([
      {
        match: { userMessage: "weather" },
        response: { toolCalls: [{ name: "get_weather", arguments: { city: "SF", units: "fahrenheit" } }] },
      },
    ]);
    expect((await chat("hello")).text).toBe("one");
    expect((await chat("weather?")).tools).toEqual([
      { name: "get_weather", arguments: '{"city":"SF","units":"fahrenheit"}' },
    ]);
    expect(() => mock.addFixturesFromJSON("[{]")).toThrow();
    expect(() => mock.addFixturesFromJSON([{ match: {}, response: {} }])).toThrow();
  });

  describe("files", () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "aimock-files-"));
      mkdirSync(join(folder, "all"));
      const fixture = (userMessage: string, content: unknown): string =>
        JSON.stringify({ fixtures: [{ match: { userMessage }, response: { content } }] });
      writeFileSync(join(folder, "greetings.json"), fixture("hello", "Hi!"));
      writeFileSync(join(folder, "all", "a.json"), fixture("alpha", "A"));
      writeFileSync(join(folder, "all", "b.json"), fixture("beta", { b: 1 }));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it("loadFixtureFile and loadFixtureDir add what they hold", async () => {
      mock.loadFixtureFile(join(folder, "greetings.json"));
      mock.loadFixtureDir(join(folder, "all"));
      expect(mock.getFixtures()).toHaveLength(3);
      expect((await chat("hello")).text).toBe("Hi!");
      expect((await chat("alpha")).text).toBe("A");
      expect((await chat("beta")).text).toBe('{"b":1}');
    });
  });

  it("on matches by every field that is given, with options beside it", async () => {
    mock.on({ userMessage: "status", model: /^gpt-4/ }, { content: "cut" }, { truncateAfterChunks: 1 });
    expect((await chat({ model: "claude", messages: [user("status")] })).status).toBe(404);
    const streamed = fetch(`${mock.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "gpt-4o", messages: [user("status")], stream: true }),
    });
    await expect(streamed.then((response) => response.text())).rejects.toThrow();
  });

  it("onMessage matches a part and a pattern of the last user message, in parts too", async () => {
    mock.onMessage("hello", { content: "Hi there!" });
    mock.onMessage(/^bye\b/i, { content: "See you." });
    expect((await chat("well, hello!")).text).toBe("Hi there!");
    expect((await chat("Bye now")).text).toBe("See you.");
    expect((await chat({ messages: [user([{ type: "text", text: "hello" }])] })).text).toBe("Hi there!");
  });

  it("onEmbedding answers its vector, and others are made from the text", async () => {
    mock.onEmbedding("search query", { embedding: [0.1, 0.2, 0.3, 0.4, 0.5] });
    mock.onEmbedding(/product.*description/, { embedding: [0.9, -0.1, 0.5, 0.3, 0.2] });
    expect(await embed("a search query")).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(await embed("product 7, its description")).toEqual([0.9, -0.1, 0.5, 0.3, 0.2]);
    const made = await embed("something else");
    expect(made.length).toBeGreaterThan(100);
    expect(await embed("something else")).toEqual(made);
    expect(await embed("something different")).not.toEqual(made);
  });

  it("onJsonOutput answers JSON where JSON is asked for", async () => {
    const entities = { entities: [{ name: "Acme Corp", type: "company" }] };
    mock.onJsonOutput("extract entities", entities);
    const asked = { messages: [user("extract entities")], response_format: { type: "json_object" } };
    expect(JSON.parse((await chat(asked)).text!)).toEqual(entities);
    expect((await chat("extract entities")).status).toBe(404);
  });

  it("onToolCall answers who offers the tool, onToolResult who brings its result", async () => {
    mock.onToolResult("call_1", { content: "It is 72 degrees." });
    mock.onToolCall("get_weather", { toolCalls: [{ id: "call_1", name: "get_weather", arguments: "{}" }] });
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    const first = await chat({ messages: [user("weather")], tools });
    expect(first.tools).toEqual([{ name: "get_weather", arguments: "{}" }]);
    const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } };
    const messages = [
      user("weather"),
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "72" },
    ];
    expect((await chat({ messages, tools })).text).toBe("It is 72 degrees.");
    expect((await chat("weather")).status).toBe(404);
  });

  it("onTurn answers by how often the model has spoken", async () => {
    mock.onTurn(0, "trip to mars", { toolCalls: [{ id: "call_001", name: "generate_steps", arguments: "{}" }] });
    mock.onTurn(1, "trip to mars", { content: "Great choices! Proceeding." });
    expect((await chat("trip to mars")).tools[0]!.name).toBe("generate_steps");
    const messages = [user("trip to mars"), { role: "assistant", content: "Which?" }, user("trip to mars, then")];
    expect((await chat({ messages })).text).toBe("Great choices! Proceeding.");
  });

  it("a response may be a function, also one that takes its time", async () => {
    mock.onMessage("now", (request) => ({ content: `You said ${request.messages.length} thing.` }));
    mock.onMessage("later", async () => ({ content: "Here it is." }));
    expect((await chat("now")).text).toBe("You said 1 thing.");
    expect((await chat("later")).text).toBe("Here it is.");
  });

  it("nextRequestError befalls the next call, whosever it is, and no other", async () => {
    mock.onMessage("hello", { content: "Hi!" });
    mock.nextRequestError(429, { message: "Rate limited", type: "rate_limit_error" });
    const failed = await chat({ messages: [user("hello")], headers: { "x-test-id": "somebody" } });
    expect(failed.status).toBe(429);
    expect(failed.body["error"]).toMatchObject({ message: "Rate limited", type: "rate_limit_error" });
    expect((await chat("hello")).text).toBe("Hi!");
    mock.nextRequestError(503);
    expect((await chat("hello")).body["error"]).toMatchObject({ message: "Injected error", type: "server_error" });
    expect(() => mock.nextRequestError(99)).toThrow(RangeError);
  });

  it("setChaos makes calls fail until clearChaos", async () => {
    mock.onMessage("hello", { content: "Hi!" });
    mock.setChaos({ dropRate: 1 });
    const dropped = await chat("hello");
    expect(dropped.status).toBe(500);
    expect(dropped.body["error"]).toMatchObject({ message: "Chaos: request dropped", code: "chaos_drop" });
    expect(mock.getLastRequest()?.response).toMatchObject({ status: 500, chaosAction: "drop" });
    mock.clearChaos();
    expect((await chat("hello")).text).toBe("Hi!");
  });

  it("a fixture's own chaos befalls its calls", async () => {
    mock.addFixture({
      match: { userMessage: "flaky" },
      response: { content: "Sometimes works!" },
      chaos: { dropRate: 1 },
    });
    mock.onMessage("steady", { content: "Always works." });
    expect((await chat("flaky")).status).toBe(500);
    expect((await chat("steady")).text).toBe("Always works.");
  });

  it("getRequests, getLastRequest and clearRequests: every call in aimock's shape, misses too", async () => {
    expect(mock.getRequests()).toEqual([]);
    expect(mock.getLastRequest()).toBeNull();
    mock.onMessage("hello", { content: "Hi!" });
    const [fixture] = mock.getFixtures();
    await chat({ messages: [user("hello")], headers: { authorization: "Bearer sk-secret" } });
    await chat("who?");
    const [served, missed] = mock.getRequests();
    expect(served).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(served!.body).toMatchObject({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] });
    expect(served!.response).toMatchObject({ status: 200 });
    expect(served!.response.fixture).toBe(fixture);
    expect(JSON.stringify(served)).not.toContain("sk-secret");
    expect(Math.abs(Date.now() - served!.timestamp)).toBeLessThan(60_000);
    expect(missed!.response).toMatchObject({ status: 404, fixture: null });
    expect(missed!.response.source).toBeUndefined();
    expect(mock.getLastRequest()?.id).toBe(missed!.id);
    expect(mock.journal.findByFixture(fixture!).map(({ id }) => id)).toEqual([served!.id]);
    mock.clearRequests();
    expect(mock.getRequests()).toEqual([]);
  });

  it("resetMatchCounts begins sequences anew, for one test id or for all; clearRequests does not", async () => {
    mock.on({ userMessage: "status", sequenceIndex: 0 }, { toolCalls: [{ name: "check_status", arguments: {} }] });
    mock.on({ userMessage: "status", sequenceIndex: 1 }, { content: "All systems operational." });
    const asWhom = (id: string): Asked => ({ messages: [user("status")], headers: { "x-test-id": id } });
    expect((await chat("status")).tools[0]!.name).toBe("check_status");
    expect((await chat(asWhom("other"))).tools[0]!.name).toBe("check_status");
    mock.clearRequests();
    expect((await chat("status")).text).toBe("All systems operational.");
    mock.resetMatchCounts("other");
    expect((await chat(asWhom("other"))).tools[0]!.name).toBe("check_status");
    expect((await chat("status")).status).toBe(404);
    mock.resetMatchCounts();
    expect((await chat("status")).tools[0]!.name).toBe("check_status");
  });

  it("reset leaves nothing: no fixtures, no calls, no counts, no error to come", async () => {
    mock.onMessage("hello", { content: "Hi!" });
    await chat("hello");
    mock.nextRequestError(500);
    const fixtures = mock.getFixtures();
    mock.reset();
    expect(mock.getFixtures()).toBe(fixtures);
    expect(fixtures).toHaveLength(0);
    expect(mock.getRequests()).toEqual([]);
    expect((await chat("hello")).status).toBe(404);
  });

  it("mount takes its path off; what the handler leaves is answered as before", async () => {
    const seen: string[] = [];
    const bases: string[] = [];
    mock.mount("/tools", {
      setBaseUrl: (url) => bases.push(url),
      handleRequest: async (request, response, pathname) => {
        seen.push(`${request.method} ${pathname}`);
        if (pathname === "/leave") return false;
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        response.writeHead(201, { "content-type": "text/plain" });
        response.end(`got ${Buffer.concat(chunks)}`);
        return true;
      },
    });
    mock.onMessage("hello", { content: "Hi!" });
    const taken = await fetch(`${mock.url}/tools/list?x=1`, { method: "POST", body: "this" });
    expect([taken.status, await taken.text()]).toEqual([201, "got this"]);
    expect((await fetch(`${mock.url}/tools`)).status).toBe(201);
    expect((await fetch(`${mock.url}/tools/leave`)).status).toBe(404);
    expect((await fetch(`${mock.url}/toolset`)).status).toBe(404);
    expect((await chat("hello")).text).toBe("Hi!");
    expect(seen).toEqual(["POST /list", "GET /", "GET /leave"]);
    expect(bases).toEqual([`${mock.url}/tools`]);
  });

  it("says no more of a miss than aimock does, in lax and in strict mode", async () => {
    mock.onMessage("hello", { content: "Hi!" });
    const { status, body } = await chat("who?");
    expect(status).toBe(404);
    expect(body).toEqual({
      error: {
        message: "No fixture matched",
        type: "invalid_request_error",
        param: null,
        code: "no_fixture_match",
      },
    });
    const strict = await chat({ messages: [user("who?")], headers: { "x-aimock-strict": "1" } });
    expect(strict.status).toBe(503);
    expect(strict.body["error"]).toMatchObject({ code: "no_fixture_match" });
    expect((strict.body["error"] as { message: string }).message).toMatch(/strict/i);
  });

  it("metrics have aimock's names", async () => {
    const measured = await LLMock.create({ port: 0, metrics: true });
    measured.onMessage("hello", { content: "Hi!" });
    await chat("hello", measured.url);
    const text = await (await fetch(`${measured.url}/metrics`)).text();
    await measured.stop();
    expect(text).toMatch(
      /^aimock_requests_total\{(?=.*method="POST")(?=.*path="\/v1\/chat\/completions")(?=.*status="200").*\} 1$/m,
    );
    expect(text).toMatch(/^aimock_fixtures_loaded(\{\})? \d$/m);
    expect(text).toContain("aimock_request_duration_seconds_bucket");
  });

  describe("patterns of the guide", () => {
    it("tool call, tool result, answer", async () => {
      mock.onMessage("weather", { toolCalls: [{ name: "get_weather", arguments: { city: "SF" } }] });
      mock.prependFixture({
        match: { predicate: (request) => request.messages.at(-1)?.role === "tool" },
        response: { content: "It's 72°F in San Francisco." },
      });
      const asked = await chat("weather in SF");
      expect(asked.tools).toEqual([{ name: "get_weather", arguments: '{"city":"SF"}' }]);
      const messages = [user("weather in SF"), { role: "tool", tool_call_id: "x", content: "72" }];
      expect((await chat({ messages })).text).toBe("It's 72°F in San Francisco.");
    });

    it("routing by the system message, and a catch-all", async () => {
      mock.addFixture({
        match: {
          predicate: (request) => {
            const system = request.messages.find(({ role }: ChatMessage) => role === "system")?.content ?? "";
            return typeof system === "string" && system.includes("Flights found: false");
          },
        },
        response: { toolCalls: [{ name: "search_flights", arguments: {} }] },
      });
      mock.addFixture({
        match: { predicate: () => true },
        response: { content: "I understand. How can I help?" },
      });
      const messages = [{ role: "system", content: "Flights found: false" }, user("go")];
      expect((await chat({ messages })).tools).toMatchObject([{ name: "search_flights" }]);
      expect((await chat("go")).text).toBe("I understand. How can I help?");
    });

    it("an approval and a refusal with the same tool call id", async () => {
      mock.on(
        { toolCallId: "call_001", toolResultContains: '"cancelled"' },
        { content: "No problem — nothing was booked." },
      );
      mock.on({ toolCallId: "call_001" }, { content: "Booked: Monday 9:00 AM confirmed." });
      const result = (content: string): Asked => ({
        messages: [user("book"), { role: "tool", tool_call_id: "call_001", content }],
      });
      expect((await chat(result('{"cancelled": true}'))).text).toBe("No problem — nothing was booked.");
      expect((await chat(result('{"chosen_time": "9"}'))).text).toBe("Booked: Monday 9:00 AM confirmed.");
    });

    it("two steps told apart by the tool's result", async () => {
      mock.on(
        { userMessage: "trip to mars", hasToolResult: false },
        { toolCalls: [{ id: "call_001", name: "generate_steps", arguments: "{}" }] },
      );
      mock.on({ userMessage: "trip to mars", hasToolResult: true }, { content: "Great choices!" });
      expect((await chat("trip to mars")).tools[0]!.name).toBe("generate_steps");
      const messages = [user("trip to mars"), { role: "tool", tool_call_id: "call_001", content: "{}" }];
      expect((await chat({ messages })).text).toBe("Great choices!");
    });

    it("blocks: a call before the text", async () => {
      mock.onMessage("blocks", {
        blocks: [
          { type: "toolCall", name: "get_weather", arguments: '{"city":"SF"}' },
          { type: "text", text: "Checking the weather for you…" },
        ],
      });
      const { text, tools } = await chat("blocks");
      expect(text).toBe("Checking the weather for you…");
      expect(tools).toEqual([{ name: "get_weather", arguments: '{"city":"SF"}' }]);
    });

    it("overrides of the envelope", async () => {
      mock.onMessage("hello", {
        content: "Hi!",
        model: "gpt-4-turbo-2024-04-09",
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        systemFingerprint: "fp_abc123",
      });
      const { body } = await chat("hello");
      expect(body).toMatchObject({
        model: "gpt-4-turbo-2024-04-09",
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        system_fingerprint: "fp_abc123",
      });
    });

    it("an error fixture", async () => {
      mock.onMessage("limit", { error: { message: "Rate limited", type: "rate_limit_error" }, status: 429 });
      const { status, body } = await chat("limit");
      expect([status, body["error"]]).toMatchObject([429, { message: "Rate limited", type: "rate_limit_error" }]);
    });

    it("a realistic stream, and OpenRouter's failover", async () => {
      mock.onMessage(
        "tell me a story",
        { content: "Once upon a time..." },
        { streamingProfile: { ttft: 2, tps: 10_000, jitter: 0.1 } },
      );
      const streamed = await fetch(`${mock.url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "gpt-4o", messages: [user("tell me a story")], stream: true }),
      });
      expect(await streamed.text()).toContain("Once upon a time...");
      mock.on({ model: "openai/gpt-4o", userMessage: "route" }, { error: { message: "rate limited" }, status: 429 });
      mock.on(
        { model: "anthropic/claude-3.5-sonnet", userMessage: "route" },
        { content: "served by the fallback", provider: "Anthropic", usage: { cost: 0.0021 } },
      );
      const routed = await fetch(`${mock.url}/api/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({
          model: "openai/gpt-4o",
          models: ["anthropic/claude-3.5-sonnet"],
          messages: [user("route")],
        }),
      });
      expect(await routed.json()).toMatchObject({
        model: "anthropic/claude-3.5-sonnet",
        provider: "Anthropic",
        usage: { cost: 0.0021 },
        choices: [{ message: { content: "served by the fallback" } }],
      });
    });
  });
});
