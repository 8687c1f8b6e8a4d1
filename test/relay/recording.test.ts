import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FixtureResponse, loadFixtures, StuntDouble } from "../../src/index.ts";
import { providerCalls } from "../support/provider-calls.ts";
import { chat, completion, everyProvider, folder, onCleanup, post, provider, replaying, started } from "./support.ts";

const PATH = "/v1/chat/completions";
const EVENT = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

const ANSWERS: [string, FixtureResponse][] = [
  ["a text", { content: "Grüezi 👋, mitenand" }],
  ["a tool call", { content: "", toolCalls: [{ id: "call_1", name: "look", arguments: { at: "the sky" } }] }],
  ["thoughts", { reasoning: "It was asked.", content: "Yes." }],
  ["nothing", { content: "" }],
  ["an error", { error: { message: "slow down", type: "rate_limit_error" }, status: 429, retryAfter: 3 }],
];

describe.each(providerCalls.map((call) => [call.title, call] as const))("%s through the relay", (_, call) => {
  it.each(ANSWERS)("%s is what a direct connection gives, and is replayed", async (_label, answer) => {
    const upstream = await started({ seed: 1 });
    upstream.onMessage("hi", answer);
    const fixturePath = folder();
    const relay = await started({ record: { providers: everyProvider(upstream.url), fixturePath } });
    const ask = async (url: string, streamed: boolean, send?: typeof fetch): Promise<[number, string | null, string]> =>
      read(await post(url + call.path(streamed), call.body("hi", streamed), {}, send));
    const live: [number, string | null, string][] = [];
    for (const streamed of [false, true]) {
      upstream.resetCounts();
      const direct = await ask(upstream.url, streamed);
      upstream.resetCounts();
      live.push(await ask(relay.url, streamed));
      expect(live.at(-1)).toEqual(direct);
    }
    await relay.stop();
    // Unary and streamed ask for the same content, so that they are one sequence.
    const double = replaying(fixturePath);
    for (const [index, streamed] of [false, true].entries()) {
      expect(await ask("http://double", streamed, double.fetch)).toEqual(live[index]);
    }
  });

  it("has the beginning of a stream with the client before its provider says more", async () => {
    const upstream = new StuntDouble({ seed: 1 }).onMessage("hi", { content: "Grüezi mitenand" });
    const reply = await post(`http://double${call.path(true)}`, call.body("hi", true), {}, upstream.fetch);
    const whole = Buffer.from(await reply.arrayBuffer());
    let goOn = (): void => {};
    const url = await provider((_request, response) => {
      response.writeHead(200, { "content-type": reply.headers.get("content-type")! });
      response.write(whole.subarray(0, FIRST));
      goOn = () => response.end(whole.subarray(FIRST));
    });
    const relay = await started({ record: { providers: everyProvider(url), fixturePath: folder() } });
    const reader = (await post(relay.url + call.path(true), call.body("hi", true))).body!.getReader();
    const pieces = [Buffer.from((await reader.read()).value!)];
    expect(pieces[0]).toEqual(whole.subarray(0, FIRST));
    goOn();
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(Buffer.from(next.value));
    expect(Buffer.concat(pieces)).toEqual(whole);
  });
});

/** Bytes of a stream that its provider sends first: not even a message. */
const FIRST = 5;

async function read(response: Response): Promise<[number, string | null, string]> {
  return [
    response.status,
    response.headers.get("content-type"),
    Buffer.from(await response.arrayBuffer()).toString("latin1"),
  ];
}

describe("what is recorded", () => {
  it("answers in the other mode too", async () => {
    const url = await provider((_, response) =>
      response.setHeader("content-type", "application/json").end(completion("hello there")),
    );
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath } });
    await (await post(relay.url + PATH, chat("hi"))).text();
    await relay.stop();
    const text = await (
      await post(`http://d${PATH}`, chat("hi", { stream: true }), {}, replaying(fixturePath).fetch)
    ).text();
    expect(text).toContain('"content":"hello there"');
    expect(text).toContain("data: [DONE]");
  });

  it("tells calls apart that differ in model, tools or format only, and replays a tool loop step by step", async () => {
    const url = await provider((_, response, body) =>
      response.setHeader("content-type", "application/json").end(completion(body)),
    );
    const tools = (name: string): object => ({ tools: [{ type: "function", function: { name } }] });
    const loop = [
      { role: "user", content: "weather" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "w", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "sun" },
    ];
    const asked = [
      ...[chat("x"), chat("x", { model: "gpt-4" }), chat("x", tools("a")), chat("x", tools("b"))],
      ...[chat("x", { response_format: { type: "json_object" } }), chat("x", { temperature: 1 })],
      ...[1, 3].map((length) => ({ model: "gpt-5", messages: loop.slice(0, length) })),
    ];
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath } });
    for (const body of asked) await (await post(relay.url + PATH, body)).text();
    await relay.stop();
    const double = replaying(fixturePath, { repeat: "miss" });
    for (const body of [...asked].reverse()) {
      expect(await (await post(`http://d${PATH}`, body, {}, double.fetch)).text()).toBe(
        completion(JSON.stringify(body)),
      );
    }
    expect((await post(`http://d${PATH}`, chat("y"), {}, double.fetch)).status).toBe(404);
  });

  it("gives vectors in the form that is asked for", async () => {
    const vector = [0.5, -0.25, 1];
    const base64 = Buffer.from(new Float32Array(vector).buffer).toString("base64");
    const url = await provider((_, response, body) => {
      const embedding = JSON.parse(body).encoding_format === "base64" ? base64 : vector;
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          object: "list",
          data: [{ object: "embedding", index: 0, embedding }],
          model: "m",
          usage: { prompt_tokens: 1, total_tokens: 1 },
        }),
      );
    });
    for (const [recorded, asked] of [
      ["base64", "float"],
      ["float", "base64"],
    ]) {
      const fixturePath = folder();
      const relay = await started({ record: { providers: { openai: url }, fixturePath } });
      const ask = { model: "text-embedding-3-small", input: "x" };
      await (await post(`${relay.url}/v1/embeddings`, { ...ask, encoding_format: recorded })).text();
      await relay.stop();
      expect(loadFixtures(fixturePath)[0]!.response).toEqual({ embedding: vector });
      const { data } = await (
        await post("http://d/v1/embeddings", { ...ask, encoding_format: asked }, {}, replaying(fixturePath).fetch)
      ).json();
      expect(data[0].embedding).toEqual(asked === "base64" ? base64 : vector);
    }
  });

  it("is found again although what is ignored has changed, without the flag", async () => {
    const url = await provider((_, response) =>
      response.setHeader("content-type", "application/json").end(completion("one")),
    );
    const fixturePath = folder();
    const ignore = ["/metadata/run", "[0-9]+ o'clock"];
    const relay = await started({ record: { providers: { openai: url }, fixturePath, ignore } });
    await (await post(relay.url + PATH, chat("It is 9 o'clock.", { metadata: { run: "a" } }))).text();
    await relay.stop();
    const double = replaying(fixturePath);
    expect(
      (await post(`http://d${PATH}`, chat("It is 10 o'clock.", { metadata: { run: "b" } }), {}, double.fetch)).status,
    ).toBe(200);
    expect(
      (await post(`http://d${PATH}`, chat("It is late.", { metadata: { run: "b" } }), {}, double.fetch)).status,
    ).toBe(404);
  });

  it("answers by what its author wrote into the response since", async () => {
    const url = await provider((_, response) =>
      response.setHeader("content-type", "application/json").end(completion("one")),
    );
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath } });
    await (await post(relay.url + PATH, chat("hi"))).text();
    await relay.stop();
    const [file] = readdirSync(fixturePath);
    const path = join(fixturePath, file!);
    writeFileSync(path, readFileSync(path, "utf8").replace('"content": "one"', '"content": "edited"'));
    const { choices } = await (await post(`http://d${PATH}`, chat("hi"), {}, replaying(fixturePath).fetch)).json();
    expect(choices[0].message.content).toBe("edited");
  });

  it("is laid out by test id and context, and loses nothing when a hundred record at once", async () => {
    const url = await provider((_, response, body) =>
      response.setHeader("content-type", "application/json").end(completion(body)),
    );
    const fixturePath = folder();
    const doubles = await Promise.all(
      [1, 2].map(() => started({ record: { providers: { openai: url }, fixturePath } })),
    );
    const bodies = Array.from({ length: 100 }, (_, index) => chat(`question ${index}`));
    const headers = (index: number): Record<string, string> => ({
      "content-type": "application/json",
      ...(index % 2 === 0 && { "x-test-id": `Suite / ../case ${index % 3}` }),
      ...(index % 5 === 0 && { "x-stuntdouble-context": "Shop" }),
    });
    await Promise.all(
      bodies.map(async (body, index) =>
        (await post(doubles[index % 2]!.url + PATH, body, { headers: headers(index) })).text(),
      ),
    );
    await Promise.all(doubles.map((double) => double.stop()));
    const fixtures = loadFixtures(fixturePath);
    expect(new Set(fixtures.map(({ match }) => match.userMessage)).size).toBe(100);
    expect(existsSync(join(fixturePath, "shop", "suite-case-0", "openai.json"))).toBe(true);
    expect(existsSync(join(fixturePath, "suite-case-1", "openai.json"))).toBe(true);
  });

  it("replays whatever was recorded to the same request, in every dialect (property)", async () => {
    const upstream = await started({ seed: 1 });
    let answers = 0;
    upstream.on({}, () => ({ content: `answer ${answers++}`, reasoning: "It was asked." }));
    const request = fc.record({
      call: fc.constantFrom(...providerCalls),
      streamed: fc.boolean(),
      prompt: fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
      query: fc.option(fc.string({ unit: "grapheme", maxLength: 10 })),
      extra: fc.jsonValue({ maxDepth: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), async (requests) => {
        const fixturePath = folder();
        const relay = new StuntDouble({ record: { providers: everyProvider(upstream.url), fixturePath } });
        const ask = ({ call, streamed, prompt, query, extra }: (typeof requests)[number], double: StuntDouble) => {
          const path = call.path(streamed);
          const more = query === null ? "" : `${path.includes("?") ? "&" : "?"}note=${encodeURIComponent(query)}`;
          const body = { ...call.body(prompt, streamed), metadata: { extra } };
          return post(`http://d${path}${more}`, body, {}, double.fetch).then(read);
        };
        const live: Awaited<ReturnType<typeof read>>[] = [];
        for (const asked of requests) live.push(await ask(asked, relay));
        await relay.stop();
        const double = replaying(fixturePath, { repeat: "miss" });
        for (const [index, asked] of requests.entries()) expect(await ask(asked, double)).toEqual(live[index]);
      }),
      { numRuns: 40 },
    );
  });
});

describe("what goes wrong", () => {
  async function recorded(handler: Parameters<typeof provider>[0], more: object = {}) {
    const url = await provider(handler);
    const fixturePath = folder();
    const warnings: string[] = [];
    const relay = await started({
      record: { providers: { openai: url }, fixturePath, ...more },
      onWarning: (message) => warnings.push(message),
    });
    return { relay, warnings, read: () => loadFixtures(fixturePath), fixturePath };
  }
  const stream = { "content-type": "text/event-stream" };

  it("a stream that ends without its terminal event is truncated, and breaks off when it is replayed", async () => {
    const { relay, warnings, read, fixturePath } = await recorded((_, response) =>
      response.writeHead(200, stream).end(EVENT("half")),
    );
    expect(await (await post(relay.url + PATH, chat("hi", { stream: true }))).text()).toBe(EVENT("half"));
    await relay.stop();
    expect(read()[0]!.recording?.ending).toBe("truncated");
    expect(warnings.join()).toContain("is not whole: the provider broke off");
    const replay = await post(`http://d${PATH}`, chat("hi", { stream: true }), {}, replaying(fixturePath).fetch);
    await expect(replay.text()).rejects.toThrow("terminated");
  });

  it("a client that goes before the terminal event leaves a recording that is cut, after it one that is whole", async () => {
    for (const [events, ending] of [
      [EVENT("half"), "cut"],
      [`${EVENT("whole", "stop")}data: [DONE]\n\n`, undefined],
    ] as const) {
      const { relay, read } = await recorded((_, response) => void response.writeHead(200, stream).write(events));
      const abort = new AbortController();
      const reply = await post(relay.url + PATH, chat("hi", { stream: true }), { signal: abort.signal });
      await reply.body!.getReader().read();
      abort.abort();
      await relay.stop();
      expect(read()[0]!.recording?.ending).toBe(ending);
    }
  });

  it("an answer beyond the limit reaches the client whole, and its recording says that it is partial", async () => {
    const body = completion("x".repeat(200_000));
    const { relay, read } = await recorded(
      (_, response) => response.setHeader("content-type", "application/json").end(body),
      { maxProxyBufferBytes: 1000 },
    );
    expect(await (await post(relay.url + PATH, chat("hi"))).text()).toBe(body);
    await relay.stop();
    expect(read()[0]!.recording?.ending).toBe("partial");
  });

  it("a broken compression reaches the client as it is, and the recording says so", async () => {
    const broken = gzipSync(completion("hi")).subarray(0, 60);
    const { relay, read, warnings } = await recorded((_, response) =>
      response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", "content-length": "60" })
        .end(Buffer.from(broken.map((byte, index) => (index > 30 ? byte ^ 255 : byte)))),
    );
    const reply = await post(`http://d${PATH}`, chat("hi"), {}, relay.fetch);
    expect((await reply.arrayBuffer()).byteLength).toBe(60);
    await relay.stop();
    expect(read()[0]!.recording?.ending).toBe("truncated");
    expect(warnings.join()).toContain("no valid gzip");
  });

  it("a body that is shorter than its length breaks the client's connection, and is truncated", async () => {
    const { relay, read } = await recorded((_, response) => {
      response
        .writeHead(200, { "content-type": "application/json", "content-length": "500" })
        .write(completion("hi").slice(0, 50));
      setImmediate(() => response.destroy());
    });
    await expect((await post(relay.url + PATH, chat("hi"))).text()).rejects.toThrow();
    await relay.stop();
    expect(read()[0]!.recording?.ending).toBe("truncated");
  });

  it("a folder that cannot be written to leaves the client unharmed and fails the run", async () => {
    const url = await provider((_, response) =>
      response.setHeader("content-type", "application/json").end(completion("fine")),
    );
    const file = join(folder(), "file");
    writeFileSync(file, "");
    const warnings: string[] = [];
    const relay = await StuntDouble.start({
      record: { providers: { openai: url }, fixturePath: join(file, "below") },
      onWarning: (message) => warnings.push(message),
    });
    onCleanup(() => relay.stop().catch(() => {}));
    expect(await (await post(relay.url + PATH, chat("hi"))).text()).toBe(completion("fine"));
    await expect(relay.stop()).rejects.toThrow("The recording of POST /v1/chat/completions could not be written");
    expect(warnings).toHaveLength(1);
  });

  it("a context that holds a secret is not written, and the run fails without showing it", async () => {
    const { relay, fixturePath, warnings } = await recorded((_, response) => response.end(completion("fine")));
    const context = "ada@example.com";
    const headers = { "x-stuntdouble-context": context };
    expect(await (await post(relay.url + PATH, chat("hi"), { headers })).text()).toBe(completion("fine"));
    await expect(relay.stop()).rejects.toThrow("The context that it belongs to holds a secret");
    expect(readdirSync(fixturePath)).toEqual([]);
    expect(warnings.join()).not.toContain(context);
  });

  it("a long stream goes through in the memory of its limit", async () => {
    const piece = Buffer.from(`data: ${"x".repeat(256 * 1024)}\n\n`);
    const pieces = 200;
    const { relay } = await recorded(
      (_, response) => {
        response.writeHead(200, stream);
        let sent = 0;
        const send = (): void => {
          while (sent++ < pieces) if (!response.write(piece)) return void response.once("drain", send);
          response.end();
        };
        send();
      },
      { maxProxyBufferBytes: 1_000_000 },
    );
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let length = 0;
    for await (const chunk of (await post(relay.url + PATH, chat("hi", { stream: true }))).body!) {
      length += chunk.byteLength;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(length).toBe(piece.length * pieces);
    expect(most).toBeLessThan(100_000_000);
  });
});

describe("the switch", () => {
  it("turns recording on and off while the double runs", async () => {
    let calls = 0;
    const url = await provider((_, response) => {
      calls++;
      response.setHeader("content-type", "application/json").end(completion("live"));
    });
    const fixturePath = folder();
    const relay = await started({ record: { providers: { openai: url }, fixturePath } });
    const turn = async (mode: string): Promise<number> => {
      expect(await (await post(`${relay.url}/__stuntdouble/record`, { mode })).json()).toEqual({ mode });
      return (await post(relay.url + PATH, chat(mode))).status;
    };
    expect(await turn("off")).toBe(404);
    expect(await turn("proxy-only")).toBe(200);
    expect(await turn("record")).toBe(200);
    expect((await post(`${relay.url}/__stuntdouble/record`, { mode: "x" })).status).toBe(400);
    await relay.stop();
    expect(calls).toBe(2);
    expect(readdirSync(fixturePath)).toHaveLength(1);
  });
});
