import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { type ConvertedTool, convert } from "../src/cli/run-convert.ts";
import { UsageError } from "../src/cli/run-verb.ts";
import { lintFixtures } from "../src/fixtures/lint.ts";
import { StuntDouble } from "../src/index.ts";

let folder: string;
let said: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-convert-"));
  said = "";
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => {
      said += text;
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function put(file: string, content: unknown): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** A double that serves what came of a conversion, which has nothing for lint to find. */
async function converted(tool: ConvertedTool, from: string): Promise<StuntDouble> {
  const out = join(folder, "out.json");
  expect(await convert(tool, from, out)).toBe(0);
  const double = new StuntDouble({ replaySpeed: 1000 }).load(out);
  expect(lintFixtures(double.fixtures).map(({ message }) => message)).toEqual([]);
  return double;
}

async function post(double: StuntDouble, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return double.fetch(`http://double${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function chat(double: StuntDouble, content: string, more: object = {}): Promise<unknown> {
  const messages = [{ role: "user", content }];
  const reply = await post(double, "/v1/chat/completions", { model: "gpt-4o", messages, ...more });
  const body = (await reply.json()) as { choices?: { message: { content: string } }[] };
  return body.choices?.[0]?.message.content ?? reply.status;
}

const completion = (content: string): string =>
  JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });

describe("aimock", () => {
  it("reads what aimock reads, and writes it as JSON", async () => {
    put(
      "in/a.jsonc",
      '{ "fixtures": [ // as it is\n { "match": { "userMessage": "hello" }, "response": { "content": "Hi!" } } ] }',
    );
    const double = await converted("aimock", join(folder, "in"));
    expect(await chat(double, "hello")).toBe("Hi!");
    expect(said).toContain("1 fixture written to");
  });

  it("says what is wrong with a file, and where", async () => {
    const file = put("bad.json", { fixtures: [{ match: { usrMessage: "x" }, response: { content: "y" } }] });
    await expect(convert("aimock", file, join(folder, "out.json"))).rejects.toThrow(/bad\.json:1: .*usrMessage/);
  });
});

describe("mock-llm", () => {
  it("carries rules over: the last that matches wins, with status, pace, sequence and conditions", async () => {
    const rule = (match: string, content: string, more: object = {}): object => ({
      ...{ path: "/v1/chat/completions", match, response: { status: 200, content } },
      ...more,
    });
    const file = put(
      "mock-llm.yaml",
      stringify({
        streaming: { chunkSize: 10, chunkIntervalMs: 1 },
        oauth: { enabled: true },
        rules: [
          rule("@", completion("anything")),
          rule("contains(body.messages[-1].content, 'hello')", completion("Hi there!")),
          rule("body.model == 'gpt-5' && contains(body.messages[-1].content, 'hello')", completion("Hi from five")),
          rule("contains(body.messages[-1].content, 'step')", completion("one"), { sequence: 0 }),
          rule("contains(body.messages[-1].content, 'step')", completion("two"), { sequence: 1 }),
          rule("body.messages[-1].content == 'exactly'", completion("equal")),
          rule("length(body.messages) > `3`", completion("long")),
          {
            ...(rule("contains(body.messages[-1].content, 'error-401')", "") as object),
            response: {
              status: 401,
              content: '{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}',
            },
          },
          { path: "/somewhere/else", response: { status: 200, content: "{}" } },
        ],
      }),
    );
    const double = await converted("mockllm", file);
    expect(await chat(double, "what?")).toBe("anything");
    expect(await chat(double, "hello")).toBe("Hi there!");
    expect(await chat(double, "hello", { model: "gpt-5" })).toBe("Hi from five");
    expect(await chat(double, "step")).toBe("one");
    expect(await chat(double, "step")).toBe("two");
    expect(await chat(double, "exactly")).toBe("equal");
    expect(await chat(double, "not exactly")).toBe("anything");
    expect(await chat(double, "error-401")).toBe(401);
    expect(double.fixtures[0]).toMatchObject({ chunkSize: 10, latency: 1 });
    expect(said).toContain("rules[6]: the expression length(body.messages) > `3` has no counterpart");
    expect(said).toContain("rules[8]: no dialect knows the path /somewhere/else");
    expect(said).toContain('"oauth" is left out');
  });

  it("leaves ids and models to the double, and shows what else a template stood for", async () => {
    const content = `{ "id": "chatcmpl-{{timestamp}}", "created": {{timestamp}}, "model": "{{jmes request body.model}}",
      "choices": [{ "message": { "role": "assistant", "content": "You said: {{jmes request body.messages[-1].content}}" }, "finish_reason": "stop" }] }`;
    const file = put("echo.yaml", stringify({ rules: [{ path: "/v1/chat/completions", response: { content } }] }));
    const double = await converted("mockllm", file);
    expect(double.fixtures[0]!.response).toEqual({ content: "You said: [jmes request body.messages[-1].content]" });
    expect(said).toContain("[jmes request body.messages[-1].content]");
  });
});

describe("VidaiMock", () => {
  it("carries providers and their templates over, branch by branch", async () => {
    put(
      "config/providers/openai.yaml",
      'name: my-openai\nmatcher: "^/v1/chat/completions$"\nresponse_template: openai/chat.json.j2\nstream:\n  enabled: true\n  lifecycle: { on_chunk: { template_path: x } }\n',
    );
    put(
      "config/templates/openai/chat.json.j2",
      `{# three ways #}
      {% if json.tools and has_tool_result(messages=json.messages, provider="openai") %}
      { "id": "chatcmpl-{{ uuid() }}", "model": "{{ model }}", "choices": [{ "index": 0, "message": { "role": "assistant", "content": "By the tool." }, "finish_reason": "stop" }], "usage": { "prompt_tokens": {{ random_int(min=1, max=9) }} } }
      {% elif json.tools %}
      { "choices": [] }
      {% else %}
      { "choices": [{ "index": 0, "message": { "role": "assistant", "content": "Plain." }, "finish_reason": "stop" }] }
      {% endif %}`,
    );
    put(
      "config/providers/broken.yaml",
      `name: always-429\nmatcher: "^/v1/messages$"\npriority: 10\nstatus_code: "429"\nresponse_body: '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'\n`,
    );
    put("config/providers/other.yaml", 'name: odd\nmatcher: "^/odd$"\nresponse_body: "{}"\n');
    const double = await converted("vidaimock", join(folder, "config"));
    const limited = await chat(double, "hello");
    expect(limited).toBe(429);
    expect(said).toContain("several paths for chat (^/v1/chat/completions$, ^/v1/messages$)");
    rmSync(join(folder, "config/providers/broken.yaml"));
    const single = await converted("vidaimock", join(folder, "config"));
    expect(await chat(single, "hello")).toBe("Plain.");
    const messages = [
      { role: "user", content: "hello" },
      { role: "tool", tool_call_id: "x", content: "42" },
    ];
    expect(await chat(single, "", { messages })).toBe("By the tool.");
    expect(said).toContain('the branch "json.tools" of its template has no counterpart');
    expect(said).toContain("provider odd: no dialect knows a path that fits ^/odd$");
    expect(said).toContain("its templates of a stream are left out");
  });
});

describe("WireMock", () => {
  it("carries mappings over: priorities, conditions, scenarios, faults, delays, bodies of every kind", async () => {
    const stub = (bodyPatterns: object[], response: object, more: object = {}): object => ({
      request: { method: "POST", urlPath: "/v1/chat/completions", bodyPatterns },
      response,
      ...more,
    });
    const json = (content: string): object => ({ status: 200, jsonBody: JSON.parse(completion(content)) });
    const scenario = (requiredScenarioState: string, newScenarioState?: string): object => ({
      scenarioName: "retry",
      requiredScenarioState,
      ...(newScenarioState && { newScenarioState }),
    });
    put("wiremock/__files/hello.json", completion("from a file"));
    const mappings = [
      stub([], json("anything"), { priority: 10 }),
      stub([{ contains: "hello" }], { status: 200, bodyFileName: "hello.json" }),
      stub([{ matchesJsonPath: { expression: "$.messages[-1].content", equalTo: "exactly" } }], json("equal")),
      stub([{ matchesJsonPath: "$[?(@.model == 'gpt-5')]" }, { contains: "five" }], json("five")),
      stub([{ contains: "again" }], { status: 503, body: '{"error":{"message":"busy"}}' }, scenario("Started", "up")),
      stub([{ contains: "again" }], json("now"), scenario("up")),
      stub([{ contains: "slow" }], { ...json("slow"), fixedDelayMilliseconds: 3 }),
      stub([{ contains: "break" }], { fault: "CONNECTION_RESET_BY_PEER" }),
      stub([{ equalToJson: { model: "gpt-4o", messages: [{ role: "user", content: "whole" }] } }], json("whole")),
      stub([{ matchesXPath: "//x" }, { contains: "odd" }], json("odd"), { name: "odd one" }),
      stub([{ contains: "hello" }], json("never"), { priority: 6 }),
      { request: { method: "GET", url: "/unknown" }, response: { status: 200 } },
      {
        request: {
          method: "POST",
          urlPathPattern: "/v1beta/models/.*:generateContent",
          bodyPatterns: [{ contains: "gem" }],
        },
        response: {
          jsonBody: { candidates: [{ content: { role: "model", parts: [{ text: "Gemini" }] }, finishReason: "STOP" }] },
        },
      },
    ];
    put("wiremock/mappings/all.json", { mappings });
    const double = await converted("wiremock", join(folder, "wiremock"));
    expect(await chat(double, "what?")).toBe("anything");
    expect(await chat(double, "hello")).toBe("from a file");
    expect(await chat(double, "exactly")).toBe("equal");
    expect(await chat(double, "five", { model: "gpt-5" })).toBe("five");
    expect(await chat(double, "five")).toBe("anything");
    expect([await chat(double, "again"), await chat(double, "again")]).toEqual([503, "now"]);
    expect(await chat(double, "slow")).toBe("slow");
    expect(double.fixtures.find(({ match }) => match.userMessage === "slow")!.chaos).toEqual({ latencyMs: 3 });
    await expect(chat(double, "break")).rejects.toThrow();
    expect(await chat(double, "whole")).toBe("whole");
    const contents = [{ role: "user", parts: [{ text: "gem" }] }];
    const gemini = await post(double, "/v1beta/models/gemini-2.5-flash:generateContent", { contents });
    expect(await gemini.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: "Gemini" }] } }] });
    expect(said).toContain("mapping 10 (odd one): the condition");
    expect(said).toContain("mapping 12: no dialect knows the path /unknown");
    expect(said).toContain("of equalToJson, the model and the last user message");
    expect(said).toMatch(/"userMessage":"hello".* is left out: /);
  });
});

const asked = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] };
const sse = ["one ", "two"]
  .map(
    (content) =>
      `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] })}\n\n`,
  )
  .concat(
    `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`,
    "data: [DONE]\n\n",
  )
  .join("");

describe("VCR.py", () => {
  const interaction = (body: unknown, response: object, more: object = {}): object => ({
    request: {
      ...{ method: "POST", uri: "https://api.openai.com/v1/chat/completions", body },
      headers: {
        authorization: ["Bearer sk-proj-abcdefghijklmnopqrstuvwxyz012345"],
        "content-type": ["application/json"],
      },
      ...more,
    },
    response,
  });
  const ok = (string: unknown, headers: object): object => ({
    body: { string },
    headers,
    status: { code: 200, message: "OK" },
  });
  const typed = { "content-type": ["application/json"] };

  it("replays what was recorded: in order, streams byte for byte, also what was compressed", async () => {
    const file = put(
      "cassette.yaml",
      stringify(
        {
          version: 1,
          interactions: [
            interaction(JSON.stringify(asked), ok(completion("first"), typed)),
            interaction(
              JSON.stringify(asked),
              ok(gzipSync(completion("second")), { ...typed, "Content-Encoding": ["gzip"] }),
            ),
            interaction(JSON.stringify({ ...asked, stream: true }), ok(sse, { "content-type": ["text/event-stream"] })),
            interaction("{}", ok("{}", typed), { uri: "not a url" }),
          ],
        },
        { customTags: ["binary"] },
      ),
    );
    const double = await converted("vcrpy", file);
    expect(await chat(double, "hello")).toBe("first");
    expect(await chat(double, "hello")).toBe("second");
    const streamed = await post(double, "/v1/chat/completions", { ...asked, stream: true });
    expect(await streamed.text()).toBe(sse);
    expect(await chat(double, "hello, but another")).toBe(404);
    expect(said).toContain("interactions[3]: not a url is no URL");
    expect(readFileSync(join(folder, "out.json"), "utf8")).not.toContain("abcdefghijklmnopqrstuvwxyz012345");
  });

  it("JSON cassettes, folders, and bodies that a serializer has parsed", async () => {
    const parsed = { method: "POST", uri: "https://api.anthropic.com/v1/messages", headers: {} };
    const claude = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
    const reply = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: "Hi." }],
      stop_reason: "end_turn",
    };
    put("tapes/one.json", {
      version: 1,
      interactions: [interaction(JSON.stringify(asked), ok(completion("a"), typed))],
    });
    put(
      "tapes/deep/two.yaml",
      stringify({
        interactions: [
          {
            request: { ...parsed, parsed_body: claude },
            response: { status: { code: 200 }, headers: typed, parsed_body: reply },
          },
        ],
      }),
    );
    expect(await convert("vcrpy", join(folder, "tapes"), join(folder, "out"))).toBe(0);
    expect(readdirSync(join(folder, "out"), { recursive: true }).sort()).toEqual(["deep", "deep/two.json", "one.json"]);
    const double = new StuntDouble({ replaySpeed: 1000 }).load(join(folder, "out"));
    expect(await (await post(double, "/v1/messages", claude)).json()).toEqual(reply);
  });
});

describe("HAR", () => {
  it("replays what a browser or a proxy has recorded", async () => {
    const entry = (body: object, response: object): object => ({
      startedDateTime: "2026-01-02T03:04:05.000Z",
      time: 20,
      timings: { wait: 10 },
      request: {
        method: "POST",
        url: "https://api.openai.com/v1/chat/completions",
        headers: [{ name: "Content-Type", value: "application/json" }],
        postData: { mimeType: "application/json", text: JSON.stringify(body) },
      },
      response: { status: 200, headers: [], ...response },
    });
    const file = put("log.har", {
      log: {
        version: "1.2",
        entries: [
          entry(asked, { content: { mimeType: "application/json", text: completion("from a HAR") } }),
          entry(
            { ...asked, stream: true },
            {
              content: { mimeType: "text/event-stream", encoding: "base64", text: Buffer.from(sse).toString("base64") },
            },
          ),
        ],
      },
    });
    const double = await converted("har", file);
    expect(await chat(double, "hello")).toBe("from a HAR");
    expect(await (await post(double, "/v1/chat/completions", { ...asked, stream: true })).text()).toBe(sse);
    expect(double.fixtures[0]).toMatchObject({
      recording: { recordedAt: "2026-01-02T03:04:05.000Z" },
      recordedTimings: { totalDurationMs: 20 },
    });
  });
});

describe("what is no file of the tool", () => {
  it.each<[ConvertedTool, unknown, RegExp]>([
    ["mockllm", { routes: [] }, /no list of "rules"/],
    ["vidaimock", { name: "x" }, /no provider of VidaiMock/],
    ["wiremock", { mappings: [] }, /no mapping of WireMock/],
    ["wiremock", "{", /it is not JSON/],
    ["vcrpy", { interaction: [] }, /no list of "interactions"/],
    ["har", { log: {} }, /no "log" with "entries"/],
    ["har", "log:", /it is not JSON/],
  ])("%s: %j", async (tool, content, message) => {
    const failed = convert(tool, put("in.json", content), join(folder, "out.json"));
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
  });

  it("says when there is nothing", async () => {
    mkdirSync(join(folder, "empty"));
    await expect(convert("har", join(folder, "empty"), "out.json")).rejects.toThrow(/no file of har/);
    await expect(convert("har", join(folder, "missing"), "out.json")).rejects.toThrow(/cannot be read/);
    const nothing = put("nothing.json", { log: { entries: [] } });
    expect(await convert("har", nothing, join(folder, "out.json"))).toBe(1);
  });
});
