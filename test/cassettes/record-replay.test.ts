import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import {
  CHAT,
  completion,
  filesIn,
  json,
  latest,
  newFolder,
  post,
  provider,
  read,
  recording,
  replaying,
  STREAM,
  started,
  stream,
} from "./support.ts";

describe("a recorded call", () => {
  it("is one file that a person finds, in the seed's form, and replays byte for byte", async () => {
    const folder = newFolder();
    const live = await recording(await provider(json(completion("Sunny"))), { folder, scenario: "checkout" });
    const text = await (await post(live.url, CHAT)).text();
    await live.stop();
    const [name, ...others] = filesIn(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^checkout\/01-weather-in-paris-[0-9a-f]{8}\.json$/);
    const cassette = read(folder, name!);
    expect(Object.keys(cassette)).toEqual(["scenario", "latest_trace_id", "history_keys", "traces", "stuntdouble"]);
    expect(latest(cassette)).toMatchObject({
      request_context: {
        model: "gpt-5",
        provider: "openai",
        messages: CHAT.messages,
        parameters: { temperature: null, max_tokens: null, stream: false },
      },
      response_timeline: [{ delta_ms: 0, chunk: "Sunny", finish_reason: "stop" }],
      exception_boundary: { occurred: false },
      usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
      raw_payload: { sync_response: JSON.parse(text) },
    });
    const replay = await replaying({ folder, scenario: "checkout" });
    const reply = await post(replay.url, CHAT);
    expect(await reply.text()).toBe(text);
    expect(replay.lastCall()?.response).toMatchObject({ source: "cassette", fixture: name });
    await replay.stop();
  });

  it("replays a stream's chunks at their times, on a clock of the test's", async () => {
    const folder = newFolder();
    const live = await recording(await provider(stream), { folder, tickMs: 0 });
    const text = await (await post(live.url, { ...CHAT, stream: true })).text();
    await live.stop();
    const [name] = filesIn(folder);
    const cassette = read(folder, name!);
    const trace = latest(cassette);
    expect(trace.response_timeline.map(({ chunk }) => chunk)).toEqual(["Sunny, ", "18 °C", ""]);
    expect(trace.response_timeline.map((frame) => frame.finish_reason)).toEqual([undefined, undefined, "stop"]);
    expect(trace.stuntdouble?.http).toMatchObject({ framing: "sse-done" });
    const clock = new ManualClock();
    const double = new StuntDouble({ clock, cassettes: { mode: "replay", folder, speed: "real", chaosLatencyMs: 5 } });
    const response = await double.fetch("http://double/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ ...CHAT, stream: true }),
    });
    const reader = response.body!.getReader();
    const times = trace.stuntdouble!.http!.times_ms!;
    let seen = "";
    for (const moment of [...new Set(times)]) {
      expect(clock.pending[0]).toBeCloseTo(moment + 5, 6);
      const next = reader.read();
      clock.advance(clock.pending[0]! - clock.now());
      seen += Buffer.from((await next).value!).toString();
      expect(seen).toBe(STREAM.slice(0, times.lastIndexOf(moment) + 1).join(""));
    }
    expect(seen).toBe(text);
    await double.stop();
  });

  it("of a kill switch that was written by hand gives what came before it, and then the error", async () => {
    const double = await replaying({ folder: "examples/cassettes", scenario: "long essay" });
    const ask = {
      model: "gpt-5-mini",
      messages: [{ role: "user" as const, content: "Write an essay of ten thousand words about lighthouses." }],
    };
    for (const url of [double.url, undefined]) {
      const client = new OpenAI({
        baseURL: `${url ?? "http://double"}/v1`,
        apiKey: "none",
        maxRetries: 0,
        ...(url === undefined && { fetch: double.fetch }),
      });
      let text = "";
      const run = async (): Promise<void> => {
        for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
          text += chunk.choices[0]?.delta.content ?? "";
        }
      };
      await expect(run()).rejects.toThrow("Guardrail Block: the stream ran past its quota of tokens. (replayed)");
      expect(text).toBe("Lighthouses have guided sailors home for centuries; ");
      double.resetCounts();
      await expect(client.chat.completions.create(ask)).rejects.toMatchObject({ status: 403 });
      double.resetCounts();
    }
  });

  it.each([
    [
      "packing list",
      {
        model: "claude-haiku-4-5-20251001",
        max_tokens: 200,
        messages: [{ role: "user" as const, content: "What should I pack for a day at the sea?" }],
      },
      "Sunscreen, a towel, and a book.",
    ],
    [
      "coin toss",
      { model: "gpt-5-mini", max_tokens: 5, messages: [{ role: "user" as const, content: "Toss a coin." }] },
      "It landed on its edge.",
    ],
  ])("of the scenario %s, written by hand, answers every dialect", async (scenario, ask, text) => {
    const double = await replaying({ folder: "examples/cassettes", scenario, repeat: "last" });
    const anthropic = new Anthropic({ baseURL: double.url, apiKey: "none", maxRetries: 0 });
    const pieces: string[] = [];
    const message = await anthropic.messages
      .stream(ask)
      .on("text", (piece) => pieces.push(piece))
      .finalMessage();
    expect(message.content).toEqual([{ type: "text", text }]);
    if (scenario === "packing list") expect(pieces).toEqual(["Sunscreen, ", "a towel, ", "and a book."]);
    const openai = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "none", maxRetries: 0 });
    const completion = await openai.chat.completions.create(ask);
    expect(completion.choices[0]).toMatchObject({ message: { content: text }, finish_reason: "stop" });
  });

  it("of the scenario tide times, written by hand, calls its tool in every dialect", async () => {
    const { scenario, ...cassette } = read("examples/cassettes", "tool-call.json");
    const { request_context: context, response_timeline: timeline } = latest({ scenario, ...cassette });
    const [{ function: called } = { function: undefined }] = timeline[0]!.tool_calls!;
    const double = await replaying({ folder: "examples/cassettes", scenario, repeat: "last" });
    const ask = { model: context.model, messages: context.messages as typeof CHAT.messages };
    const openai = new OpenAI({ baseURL: `${double.url}/v1`, apiKey: "none", maxRetries: 0 });
    const completion = await openai.chat.completions.create(ask);
    expect(completion.choices[0]).toMatchObject({
      message: { tool_calls: [{ type: "function", function: called }] },
      finish_reason: "tool_calls",
    });
    const anthropic = new Anthropic({ baseURL: double.url, apiKey: "none", maxRetries: 0 });
    const message = await anthropic.messages.stream({ ...ask, max_tokens: 100 }).finalMessage();
    expect(message).toMatchObject({ stop_reason: "tool_use" });
    expect(message.content.at(-1)).toMatchObject({
      type: "tool_use",
      name: called!.name,
      input: JSON.parse(called!.arguments),
    });
  });

  it("counts the same call's occurrences, and what failed is one of them", async () => {
    const folder = newFolder();
    let calls = 0;
    const url = await provider((request, response, body) => {
      if (calls++ > 0) return json(completion("at last"))(request, response, body);
      response.writeHead(429, { "content-type": "application/json", "retry-after": "0" });
      response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}');
    });
    const live = await recording(url, { folder });
    expect((await post(live.url, CHAT)).status).toBe(429);
    await (await post(live.url, CHAT)).text();
    await live.stop();
    const names = filesIn(folder);
    expect(names.map((name) => name.replace(/[0-9a-f]{8}/, "*"))).toEqual([
      "auto/01-weather-in-paris-*.json",
      "auto/02-weather-in-paris-*-2.json",
    ]);
    expect(latest(read(folder, names[0]!)).exception_boundary).toEqual({
      occurred: true,
      error_type: "RateLimitError",
      message: "slow down",
    });
    const replay = await replaying({ folder });
    expect((await post(replay.url, CHAT)).status).toBe(429);
    expect(await (await post(replay.url, CHAT)).text()).toBe(completion("at last"));
    const third = await post(replay.url, CHAT);
    expect(third.status).toBe(404);
    expect(await third.text()).toContain("came for the 3rd time");
    const last = await replaying({ folder, repeat: "last" });
    for (let index = 0; index < 2; index++) await post(last.url, CHAT);
    expect(await (await post(last.url, CHAT)).text()).toBe(completion("at last"));
  });

  it("takes its scenario from header, metadata and path, and hides it from the provider", async () => {
    const folder = newFolder();
    const seen: { url: string; headers: string[]; body: string }[] = [];
    const url = await provider((request, response, body) => {
      seen.push({ url: request.url!, headers: Object.keys(request.headers), body });
      json(completion("ok"))(request, response, body);
    });
    const live = await recording(url, { folder });
    await post(live.url, CHAT, { "x-vcr-scenario": "by header", "x-vcr-invoker": "app.planner" });
    await post(live.url, { ...CHAT, metadata: { vcr_scenario: "by metadata", vcr_invoker: "me", keep: 1 } });
    await fetch(`${live.url}/@by-path/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...CHAT, metadata: { vcr_filename: "Mine" } }),
    });
    await live.stop();
    expect(filesIn(folder).map((name) => name.replace(/[0-9a-f]{8}/, "*"))).toEqual([
      "by-header/01-app-planner-weather-in-paris-*.json",
      "by-metadata/01-me-weather-in-paris-*.json",
      "by-path/mine.json",
    ]);
    expect(seen.map((call) => call.url)).toEqual(Array(3).fill("/v1/chat/completions"));
    expect(seen.flatMap(({ headers }) => headers).filter((name) => name.startsWith("x-vcr"))).toEqual([]);
    expect(seen.map(({ body }) => JSON.parse(body).metadata)).toEqual([undefined, { keep: 1 }, undefined]);
    const replay = await replaying({ folder });
    const again = await fetch(`${replay.url}/@by-path/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...CHAT, metadata: { vcr_filename: "Mine" } }),
    });
    expect(again.status).toBe(200);
  });

  it("becomes one take a run, five at most, and any of them can be asked for", async () => {
    const folder = newFolder();
    for (let run = 1; run <= 6; run++) {
      const live = await recording(await provider(json(completion(`run ${run}`))), { folder });
      await (await post(live.url, CHAT)).text();
      await live.stop();
    }
    const [name] = filesIn(folder);
    const cassette = read(folder, name!);
    expect(cassette.history_keys.map((id) => cassette.traces[id]!.response_timeline[0]!.chunk)).toEqual([
      "run 2",
      "run 3",
      "run 4",
      "run 5",
      "run 6",
    ]);
    const warnings: string[] = [];
    const double = await replaying(
      { folder, traces: `auto:${cassette.history_keys[1]},deadbeef` },
      { onWarning: (message) => warnings.push(message) },
    );
    expect(await (await post(double.url, CHAT)).text()).toBe(completion("run 3"));
    expect(warnings).toEqual([`--traces: no cassette in ${folder} holds the take deadbeef.`]);
  });

  it("says of a call that was not recorded where it parts from the nearest recording", async () => {
    const folder = newFolder();
    const live = await recording(await provider(json(completion("ok"))), { folder });
    await (await post(live.url, { ...CHAT, temperature: 0 })).text();
    await live.stop();
    const replay = await replaying({ folder });
    const reply = await post(replay.url, {
      ...CHAT,
      temperature: 0,
      messages: [...CHAT.messages, { role: "assistant", content: "Sunny" }],
    });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error.message).toContain("The conversations part at message 2 of 2.");
    expect(error.message).toContain('/messages/1: recorded nothing, asked {"role":"assistant","content":"Sunny"}');
  });

  it("fails a run in which nothing was replayed, and lists what nobody asked for", async () => {
    const folder = newFolder();
    const live = await recording(await provider(json(completion("ok"))), { folder });
    await (await post(live.url, CHAT)).text();
    await live.stop();
    const replay = await replaying({ folder });
    expect(replay.unusedCassettes).toEqual(filesIn(folder));
    await expect(replay.stop()).rejects.toThrow("Nothing was recorded and nothing replayed");
  });
});

describe("modes", () => {
  it("replay never calls a provider, auto calls it for what is new, once only for a new scenario", async () => {
    const folder = newFolder();
    let calls = 0;
    const url = await provider((request, response, body) => {
      calls++;
      json(completion("ok"))(request, response, body);
    });
    const other = { ...CHAT, model: "other" };
    const auto = await recording(url, { folder }, "auto");
    for (const body of [CHAT, CHAT]) expect((await post(auto.url, body)).status).toBe(200);
    await auto.stop();
    const again = await recording(url, { folder }, "auto");
    for (const body of [CHAT, other]) expect((await post(again.url, body)).status).toBe(200);
    await again.stop();
    expect(calls).toBe(3);
    const once = await recording(url, { folder }, "once");
    expect((await post(once.url, { ...CHAT, model: "third" })).status).toBe(404);
    expect((await post(once.url, { ...CHAT, model: "third" }, { "x-vcr-scenario": "new" })).status).toBe(200);
    await once.stop();
    expect(calls).toBe(4);
    const replay = await started({
      record: { providers: { openai: url } },
      cassettes: { mode: "replay", folder },
    });
    expect((await post(replay.url, { ...CHAT, model: "fourth" })).status).toBe(404);
    expect(calls).toBe(4);
  });

  it("matches as the folder keeps it, and refuses to match another way", async () => {
    const folder = newFolder();
    const url = await provider(json(completion("ok")));
    const live = await recording(url, { folder, match: "messages" });
    await (await post(live.url, { ...CHAT, temperature: 0.5 })).text();
    await live.stop();
    const replay = await replaying({ folder });
    const text = await (await post(replay.url, { ...CHAT, model: "any", temperature: 1 })).text();
    expect(JSON.parse(text).choices[0].message.content).toBe("ok");
    await expect(replaying({ folder, match: "exact" })).rejects.toThrow("match messages");
  });

  it("answers another dialect, and another mode, from the timeline", async () => {
    const folder = newFolder();
    const live = await recording(await provider(stream), { folder, match: "position" });
    await (await post(live.url, { ...CHAT, stream: true })).text();
    await live.stop();
    const replay = await replaying({ folder });
    const unary = (await (await post(replay.url, CHAT)).json()) as OpenAI.ChatCompletion;
    expect(unary.choices[0]!.message.content).toBe("Sunny, 18 °C");
    replay.resetCounts();
    const anthropic = new Anthropic({ baseURL: replay.url, apiKey: "none", maxRetries: 0 });
    const message = await anthropic.messages.create({ ...CHAT, model: "claude", max_tokens: 10 });
    expect(message.content).toEqual([{ type: "text", text: "Sunny, 18 °C" }]);
    expect(message.stop_reason).toBe("end_turn");
  });
});
