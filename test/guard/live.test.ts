import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parseCassette } from "../../src/cassettes/damage.ts";
import type { Trace } from "../../src/cassettes/types.ts";
import type { GuardOptions, StuntDouble, StuntDoubleOptions } from "../../src/index.ts";
import { ManualClock } from "../../src/state/manual-clock.ts";
import { chat, completion, folder, post, provider, started } from "../relay/support.ts";

const ADDRESS = "ada@example.com";
const PATH = "/v1/chat/completions";
const noAddresses = (action: "block" | "redact" | "report", direction: "request" | "response"): GuardOptions => ({
  rules: [{ name: "no-addresses", action, detectors: ["email"], directions: [direction] }],
});

/** Everything that was written below a folder. */
function written(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

function takeIn(path: string): Trace {
  const [name] = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const file = join(name!.parentPath, name!.name);
  const cassette = parseCassette(readFileSync(file, "utf8"), file);
  return cassette.traces[cassette.latest_trace_id]!;
}

const recording = (url: string, cassettes: string, guard: GuardOptions, more: StuntDoubleOptions = {}) =>
  started({
    record: { providers: { openai: url, anthropic: url } },
    cassettes: { mode: "record", folder: cassettes },
    guard,
    ...more,
  });
const replaying = (cassettes: string, more: StuntDoubleOptions = {}) =>
  started({ cassettes: { mode: "replay", folder: cassettes }, ...more });

const delta = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-5", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

function stream(response: ServerResponse, pieces: readonly string[], end = true): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const piece of pieces) response.write(delta(piece));
  if (end) response.end(`${delta("", "stop")}data: [DONE]\n\n`);
}

/** The text of a streamed reply, and the errors in it. */
function told(text: string): { content: string; errors: { message: string; code: string }[] } {
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));
  return {
    content: events.map((event) => event.choices?.[0]?.delta?.content ?? "").join(""),
    errors: events.flatMap((event) => (event.error === undefined ? [] : [event.error])),
  };
}

const ask = (double: StuntDouble, content: string, more: object = {}, inProcess = false) =>
  inProcess
    ? post(`http://double${PATH}`, chat(content, more), {}, double.fetch)
    : post(double.url + PATH, chat(content, more));

describe.each([
  ["over the socket", false],
  ["in process", true],
])("a guard %s", (_, inProcess) => {
  it("keeps a request from its provider, and records that", async () => {
    let asked = 0;
    const url = await provider((_request, response) => {
      asked++;
      response.end(completion("fine"));
    });
    const cassettes = folder();
    const double = await recording(url, cassettes, noAddresses("block", "request"));
    const refused = await ask(double, `Write to ${ADDRESS}`, {}, inProcess);
    expect(refused.status).toBe(403);
    const message = 'Guardrail Block: the request holds what "email" finds (rule "no-addresses").';
    expect(await refused.json()).toEqual({
      error: { message, type: "permission_error", param: null, code: "guardrail_block" },
    });
    expect(asked).toBe(0);
    expect(double.lastCall()?.response).toMatchObject({
      status: 403,
      source: "guard",
      detail: message,
      guard: [{ rule: "no-addresses", action: "block", detector: "email", direction: "request" }],
    });
    expect(JSON.stringify(double.calls())).not.toContain(ADDRESS);
    await double.stop();
    expect(written(cassettes)).not.toContain(ADDRESS);
    expect(takeIn(cassettes)).toMatchObject({
      response_timeline: [],
      exception_boundary: { occurred: true, error_type: "PermissionError", message },
    });

    const unguarded = await replaying(cassettes);
    const replayed = await ask(unguarded, `Write to ${ADDRESS}`, {}, inProcess);
    expect(replayed.status).toBe(403);
    expect(await replayed.text()).toContain(`${message.replaceAll('"', '\\"')} (replayed)`);
    const guarded = await replaying(cassettes, { guard: noAddresses("block", "request") });
    expect((await ask(guarded, `Write to ${ADDRESS}`, {}, inProcess)).status).toBe(403);
    expect(guarded.unusedCassettes).toEqual([]);
  });

  it("redacts a request before anybody sees it", async () => {
    const bodies: string[] = [];
    const url = await provider((_request, response, body) => {
      bodies.push(body);
      response.end(completion("fine"));
    });
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: noAddresses("redact", "request"),
    });
    expect((await ask(double, `Write to ${ADDRESS}`, {}, inProcess)).status).toBe(200);
    expect(JSON.parse(bodies[0]!)).toEqual(chat("Write to «email:1»"));
    expect(double.lastCall()?.body).toEqual(chat("Write to «email:1»"));
  });

  it("passes on and notes what is only to be reported", async () => {
    const url = await provider((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(completion(`Ask ${ADDRESS}.`));
    });
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: { rules: [{ action: "report" }] },
    });
    const response = await ask(double, `Write to ${ADDRESS}`, {}, inProcess);
    expect(await response.text()).toBe(completion(`Ask ${ADDRESS}.`));
    const entry = double.lastCall()!;
    expect(entry.response.guard).toEqual([
      { rule: "rule-1", action: "report", detector: "email", direction: "request" },
      { rule: "rule-1", action: "report", detector: "email", direction: "response" },
    ]);
    expect(JSON.stringify(entry)).not.toContain(ADDRESS);
    expect(double.guard?.findings.map(({ direction, count }) => [direction, count])).toEqual([
      ["request", 1],
      ["response", 1],
    ]);
  });

  it("keeps a reply that is not streamed from its client, compressed or not, and records that", async () => {
    for (const coding of ["identity", "gzip"]) {
      const url = await provider((_request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-encoding": coding });
        const body = completion(`Ask ${ADDRESS}.`);
        response.end(coding === "gzip" ? gzipSync(body) : body);
      });
      const cassettes = folder();
      const double = await recording(url, cassettes, noAddresses("block", "response"));
      const refused = await ask(double, "Whom do I ask?", {}, inProcess);
      expect(refused.status).toBe(403);
      const { error } = (await refused.json()) as { error: { message: string } };
      expect(error.message).toBe('Guardrail Block: the response holds what "email" finds (rule "no-addresses").');
      expect(double.lastCall()?.response).toMatchObject({ status: 403, source: "guard", detail: error.message });
      await double.stop();
      expect(written(cassettes)).not.toContain(ADDRESS);
      expect(takeIn(cassettes).exception_boundary).toEqual({
        occurred: true,
        error_type: "PermissionError",
        message: error.message,
      });
      expect((await ask(await replaying(cassettes), "Whom do I ask?", {}, inProcess)).status).toBe(403);
    }
  });

  it("cuts a stream before what must not pass, towards both sides, and replays it so", async () => {
    let left: Promise<unknown> = Promise.resolve();
    const url = await provider((_request, response) => {
      left = new Promise((resolve) => response.on("close", resolve));
      stream(response, ["Well, ", "ask ", "ada@ex", "ample.c", "om, ", "who knows."], false);
    });
    const cassettes = folder();
    const double = await recording(url, cassettes, noAddresses("block", "response"));
    const response = await ask(double, "Whom do I ask?", { stream: true }, inProcess);
    expect(response.status).toBe(200);
    const text = await response.text();
    const message = 'Guardrail Block: the response holds what "email" finds (rule "no-addresses").';
    expect(told(text)).toEqual({
      content: "Well, ask ",
      errors: [{ message, type: "permission_error", param: null, code: "guardrail_block" }],
    });
    await left;
    expect(double.lastCall()?.response).toMatchObject({ interrupted: true, interruptReason: "guardrail" });
    await double.stop();
    expect(written(cassettes)).not.toContain("ada@");
    const take = takeIn(cassettes);
    expect(take.exception_boundary).toEqual({ occurred: true, error_type: "PermissionError", message });
    expect(take.response_timeline.map(({ chunk }) => chunk).join("")).toBe("Well, ask ");

    const unguarded = await replaying(cassettes);
    expect(await (await ask(unguarded, "Whom do I ask?", { stream: true }, inProcess)).text()).toBe(text);
    const guarded = await replaying(cassettes, { guard: noAddresses("block", "response") });
    expect(await (await ask(guarded, "Whom do I ask?", { stream: true }, inProcess)).text()).toBe(text);
  });

  it("redacts a stream where it is asked to, over the borders of its events", async () => {
    const url = await provider((_request, response) =>
      stream(response, ["Well, ", "ask ", "ada@ex", "ample.c", "om, ", "who knows."]),
    );
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: noAddresses("redact", "response"),
    });
    const response = await ask(double, "Whom do I ask?", { stream: true }, inProcess);
    const text = await response.text();
    expect(told(text)).toEqual({ content: "Well, ask «email:1», who knows.", errors: [] });
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("holds a stream back only while something may still grow", async () => {
    const waiting: (() => void)[] = [];
    const url = await provider((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const pieces = ["One. ", "ada", "@", " Two. "];
      waiting.push(...pieces.map((piece) => () => response.write(delta(piece))), () =>
        response.end("data: [DONE]\n\n"),
      );
      waiting.shift()!();
    });
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: noAddresses("block", "response"),
    });
    const response = await ask(double, "Whom do I ask?", { stream: true }, inProcess);
    const reader = response.body!.getReader();
    const next = async () => told(Buffer.from((await reader.read()).value ?? []).toString()).content;
    expect(await next()).toBe("One. ");
    for (const write of waiting.splice(0, 3)) write();
    // The address that it might have become is none: all that waited comes together.
    let rest = "";
    while (!rest.endsWith(" Two. ")) rest += await next();
    expect(rest).toBe("ada@ Two. ");
    waiting.shift()!();
    expect((await reader.read()).done || (await reader.read()).done).toBe(true);
  });
});

describe("what is written with a guard", () => {
  it("goes without what its rules look for", async () => {
    const url = await provider((_request, response) => response.end(completion("Falcon flies, TICKET-12.")));
    const cassettes = folder();
    const rules = [
      { action: "report" as const, words: ["falcon"], patterns: [{ name: "ticket", pattern: "TICKET-\\d+" }] },
    ];
    const double = await recording(url, cassettes, { rules });
    await ask(double, "What does the Falcon do?");
    await double.stop();
    expect(written(cassettes)).not.toMatch(/falcon|TICKET-12/i);
    const replay = await replaying(cassettes, { guard: { rules } });
    expect((await ask(replay, "What does the Falcon do?")).status).toBe(200);
  });

  it("shows nothing of a request that nobody answers", async () => {
    const double = await started({ guard: { rules: [{ action: "report" }] } });
    double.onMessage("bob", { content: "fine" });
    await ask(double, `Write to ${ADDRESS}`);
    expect(double.lastCall()?.response.source).toBe("miss");
    expect(JSON.stringify([double.calls(), double.misses()])).not.toContain(ADDRESS);
  });
});

describe("a breaker", () => {
  const many = Array.from({ length: 20 }, (_, index) => `word${index} `);

  it("cuts a stream at the event that goes past its limit, and replays it so", async () => {
    let left: Promise<unknown> = Promise.resolve();
    const url = await provider((_request, response) => {
      left = new Promise((resolve) => response.on("close", resolve));
      stream(response, many, false);
    });
    const cassettes = folder();
    const guard = { breaker: { call: { outputCharacters: 33 } } };
    const double = await recording(url, cassettes, guard);
    const text = await (await ask(double, "Talk.", { stream: true })).text();
    const message = "StreamBreaker: more than 33 output characters, the limit of the call (outputCharacters).";
    expect(told(text)).toEqual({
      content: many.slice(0, 5).join(""),
      errors: [{ message, type: "permission_error", param: null, code: "stream_breaker" }],
    });
    await left;
    expect(double.lastCall()?.response).toMatchObject({ interrupted: true, interruptReason: "breaker" });
    await double.stop();
    expect(takeIn(cassettes).exception_boundary).toEqual({ occurred: true, error_type: "StreamBreakerError", message });
    expect(await (await ask(await replaying(cassettes), "Talk.", { stream: true })).text()).toBe(text);
  });

  it.each([
    ["outputTokens", { outputTokens: 8 }, many.slice(0, 5)],
    ["repeatedText", { repeatedText: { times: 2, minCharacters: 3 } }, undefined],
  ])("counts %s", async (limit, call, passed) => {
    const url = await provider((_request, response) =>
      stream(response, limit === "repeatedText" ? ["So: ", "no ", "no ", "no ", "no "] : many),
    );
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: { breaker: { call } },
    });
    const { content, errors } = told(await (await ask(double, "Talk.", { stream: true })).text());
    expect(content).toBe(passed?.join("") ?? "So: no no ");
    expect(errors[0]?.message).toContain(`(${limit})`);
  });

  it("cuts a stream that takes too long, and one that says nothing", async () => {
    for (const [limit, afterMs] of [
      ["seconds", 30_000],
      ["idleSeconds", 5_000],
    ] as const) {
      const clock = new ManualClock();
      const url = await provider((_request, response) => stream(response, ["One. "], false));
      const double = await started({
        clock,
        record: { proxyOnly: true, providers: { openai: url } },
        guard: { breaker: { call: { [limit]: afterMs / 1000 } } },
      });
      const response = await ask(double, "Talk.", { stream: true });
      const reader = response.body!.getReader();
      await reader.read();
      clock.advance(afterMs - 1);
      const next = reader.read();
      clock.advance(1);
      const text = Buffer.from((await next).value!).toString();
      expect(told(text).errors[0]?.message).toContain(`(${limit})`);
      expect((await reader.read()).done).toBe(true);
    }
  });

  it("refuses a call whose provider does not begin in time", async () => {
    const clock = new ManualClock();
    let begun: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const url = await provider(() => begun());
    const double = await started({
      clock,
      record: { proxyOnly: true, providers: { openai: url } },
      guard: { breaker: { call: { idleSeconds: 5 } } },
    });
    const response = ask(double, "Talk.");
    await asked;
    clock.advance(5_000);
    expect([(await response).status, await (await response).text()]).toEqual([
      403,
      expect.stringContaining("idleSeconds"),
    ]);
  });

  it("adds the calls of a scenario and of a run together, and lets none begin once they are used up", async () => {
    let asked = 0;
    const url = await provider((_request, response) => {
      asked++;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(completion("ten chars."));
    });
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: { breaker: { scenario: { outputCharacters: 20 }, run: { outputCharacters: 40 } } },
    });
    const statusOf = async (scenario: string) =>
      (await post(`${double.url}/@${scenario}${PATH}`, chat("Talk."))).status;
    expect([await statusOf("one"), await statusOf("one"), await statusOf("one")]).toEqual([200, 200, 403]);
    expect([await statusOf("two"), await statusOf("two"), await statusOf("three")]).toEqual([200, 200, 403]);
    expect(asked).toBe(4);
    expect(double.guard?.used?.run.outputCharacters).toBe(40);
    double.reset();
    expect(await statusOf("one")).toBe(200);
  });

  it("counts what a model costs", async () => {
    const url = await provider((_request, response) => stream(response, many));
    const double = await started({
      record: { proxyOnly: true, providers: { openai: url } },
      guard: {
        breaker: { call: { cost: 10 }, prices: { models: { "gpt-5": { input: 0, output: 1_000_000 } } } },
      },
    });
    const { content, errors } = told(await (await ask(double, "Talk.", { stream: true })).text());
    expect(errors[0]?.message).toContain("(cost)");
    // Ten tokens of four characters.
    expect(content).toBe(many.slice(0, 6).join(""));
  });
});
