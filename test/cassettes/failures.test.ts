import { truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ReplaySpeed } from "../../src/cassettes/replay.ts";
import type { Cassette, ExceptionBoundary, TimelineFrame } from "../../src/cassettes/types.ts";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { verifyFile } from "../../src/cassettes/verify.ts";
import { StuntDouble } from "../../src/index.ts";
import { dialects } from "../../src/services/registry.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import { CHAT, filesIn, latest, newFolder, post, provider, read, recording, replaying, STREAM } from "./support.ts";

const operations = dialects.flatMap((dialect) => dialect.operations);

/** A cassette that was written by hand: a call that ended with an exception. */
function failing(boundary: Omit<ExceptionBoundary, "occurred">, timeline: TimelineFrame[] = []): string {
  const folder = newFolder();
  const id = "a".repeat(32);
  const cassette: Cassette = {
    scenario: "auto",
    latest_trace_id: id,
    history_keys: [id],
    traces: {
      [id]: {
        trace_id: id,
        request_context: {
          model: CHAT.model,
          provider: "openai",
          messages: CHAT.messages,
          parameters: { temperature: null, max_tokens: null, stream: timeline.length > 0 },
        },
        network_metrics: { ttfb_ms: timeline[0]?.delta_ms ?? 700, total_duration_ms: 700 },
        response_timeline: timeline,
        exception_boundary: { occurred: true, ...boundary },
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      },
    },
  };
  writeFileSync(join(folder, "by-hand.json"), JSON.stringify(cassette));
  return folder;
}

const ask = (double: StuntDouble, stream: boolean, signal?: AbortSignal): Promise<Response> =>
  double.fetch("http://double/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ ...CHAT, stream }),
    ...(signal && { signal }),
  });

/** All that can happen without the clock going on. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

const TIMEOUT = { error_type: "TimeoutError", message: "Request timed out." };
const FRAMES = [
  { delta_ms: 100, chunk: "So " },
  { delta_ms: 50, chunk: "far" },
];
const doubleOf = (folder: string, speed: ReplaySpeed, clock = new ManualClock()): StuntDouble =>
  new StuntDouble({ clock, cassettes: { mode: "replay", folder, speed, repeat: "last" } });

describe("a recorded timeout", () => {
  it("is a 504 at once at full speed, and a broken connection after frames", async () => {
    const before = await ask(doubleOf(failing(TIMEOUT), "max"), false);
    expect(before.status).toBe(504);
    expect(await before.json()).toMatchObject({ error: { message: "Request timed out. (replayed)" } });
    const after = await ask(doubleOf(failing(TIMEOUT, FRAMES), "max"), true);
    const reader = after.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toContain('"content":"So "');
    await expect(reader.read()).rejects.toThrow(TypeError);
  });

  it("stalls until the client gives up when time counts", async () => {
    const clock = new ManualClock();
    const leaving = new AbortController();
    const answer = ask(doubleOf(failing(TIMEOUT), "real", clock), false, leaving.signal);
    await settled();
    clock.advance(60 * 60 * 1000);
    expect(await Promise.race([answer.catch(() => "gone"), settled().then(() => "waiting")])).toBe("waiting");
    leaving.abort(new Error("my own limit"));
    await expect(answer).rejects.toThrow("my own limit");
  });

  it("stalls after the frames that came, each at its time", async () => {
    const clock = new ManualClock();
    const leaving = new AbortController();
    const response = await ask(doubleOf(failing(TIMEOUT, FRAMES), "real", clock), true, leaving.signal);
    const reader = response.body!.getReader();
    for (const [atMs, text] of [
      [100, "So "],
      [150, "far"],
    ] as const) {
      const next = reader.read();
      clock.advance(atMs - clock.now());
      expect(Buffer.from((await next).value!).toString()).toContain(`"content":"${text}"`);
    }
    const never = reader.read();
    clock.advance(60 * 60 * 1000);
    expect(await Promise.race([never.catch(() => "gone"), settled().then(() => "waiting")])).toBe("waiting");
    leaving.abort(new Error("my own limit"));
    await expect(never).rejects.toThrow("my own limit");
  });
});

describe("a failure that was written by hand", () => {
  it.each<[string, string | undefined, number]>([
    ["PermissionError", "Guardrail Block: too long", 403],
    ["RateLimitError", undefined, 429],
    ["AuthenticationError", undefined, 401],
    ["NotFoundError", undefined, 404],
    ["ValueError", undefined, 400],
    ["SomeError", "HTTP 529: overloaded", 529],
    ["SomeError", "Too many requests", 429],
    ["SomeError", undefined, 500],
  ])("of the class %s saying %s is a %i in the provider's shape", async (error_type, message, status) => {
    const response = await ask(doubleOf(failing({ error_type, ...(message && { message }) }), "max"), false);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: `${message ?? error_type} (replayed)` } });
  });

  it("of the connection breaks the connection", async () => {
    await expect(ask(doubleOf(failing({ error_type: "ConnectionError" }), "max"), false)).rejects.toThrow(TypeError);
  });
});

describe("a failure of the connection", () => {
  /** A port at which nobody listens. */
  async function closedPort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    await new Promise((done) => server.close(done));
    return port;
  }

  it("before an answer is recorded as such, and breaks the connection in replay", async () => {
    const folder = newFolder();
    const live = await recording(`http://127.0.0.1:${await closedPort()}`, { folder });
    expect((await post(live.url, CHAT)).status).toBe(502);
    await live.stop();
    const [name] = filesIn(folder);
    const trace = latest(read(folder, name!));
    expect(trace).toMatchObject({
      response_timeline: [],
      exception_boundary: { occurred: true, error_type: "ConnectionError" },
      usage: { total_tokens: 0 },
    });
    expect(trace.exception_boundary.message).toContain("gave no answer");
    const replay = await replaying({ folder, repeat: "last" });
    await expect(post(replay.url, CHAT)).rejects.toThrow(TypeError);
    await expect(ask(replay, false)).rejects.toThrow(TypeError);
    expect(replay.lastCall()?.response).toMatchObject({ source: "cassette", fixture: name });
  });

  it("in the middle of a stream gives in replay what came before it, and breaks there", async () => {
    const folder = newFolder();
    const url = await provider((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(STREAM[0]);
      response.write(STREAM[1], () => setImmediate(() => response.destroy()));
    });
    const told = async (base: string, fetch?: typeof globalThis.fetch): Promise<[string, unknown]> => {
      const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0, ...(fetch && { fetch }) });
      let text = "";
      try {
        for await (const chunk of await client.chat.completions.create({ ...CHAT, stream: true })) {
          text += chunk.choices[0]?.delta.content ?? "";
        }
        return [text, "ended well"];
      } catch (error) {
        return [text, (error as Error).message];
      }
    };
    const warnings: string[] = [];
    const live = await StuntDouble.start({
      record: { providers: { openai: url } },
      cassettes: { mode: "record", folder },
      onWarning: (message) => warnings.push(message),
    });
    const first = await told(live.url);
    expect(first).toEqual(["Sunny, ", "terminated"]);
    await live.stop();
    expect(warnings).toEqual([expect.stringContaining("is not whole: The provider broke off before the end.")]);
    const [name] = filesIn(folder);
    const verdicts = await verifyFile(join(folder, name!), folder, { operations, rules: new UserRules() });
    expect(verdicts).toMatchObject([{ status: "passed", differences: [] }]);
    expect(latest(read(folder, name!))).toMatchObject({
      response_timeline: [{ chunk: "Sunny, " }],
      exception_boundary: { occurred: true, error_type: "ConnectionError" },
      stuntdouble: { ending: "truncated" },
    });
    const replay = await replaying({ folder, repeat: "last" });
    expect(await told(replay.url)).toEqual(first);
    expect(await told("http://double", replay.fetch)).toEqual(first);
  });
});

describe("a file that is too large", () => {
  it("gets its verdict without being read, and fails the call that it is for", async () => {
    const folder = newFolder();
    const file = join(folder, "auto", "01-weather-in-paris-0123abcd.json");
    const [live] = [await recording(await provider((_, response) => response.end("{}")), { folder })];
    await (await post(live.url, CHAT)).text();
    await live.stop();
    writeFileSync(file, "");
    // Sparse: it takes no room.
    truncateSync(file, 200 * 1024 * 1024);
    const [verdict] = await verifyFile(file, folder, { operations: [], rules: new UserRules() });
    expect(verdict).toMatchObject({ status: "failed" });
    expect(verdict!.differences[0]!.detail).toContain("the file has 200 MB, and more than 100 MB are not read");
    const own = join(folder, filesIn(folder).find((name) => !name.includes("0123abcd"))!);
    truncateSync(own, 200 * 1024 * 1024);
    const replay = await replaying({ folder });
    const response = await post(replay.url, CHAT);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("200 MB");
  });
});
