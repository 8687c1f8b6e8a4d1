import { afterEach, describe, expect, it } from "vitest";
import { StuntDouble, type StuntDoubleOptions } from "../index.ts";
import { ManualClock } from "../state/manual-clock.ts";

let double: StuntDouble;
afterEach(() => double.stop());

async function start(options: StuntDoubleOptions): Promise<void> {
  double = await StuntDouble.start({ metrics: true, ...options });
  double.onMessage("hello", { content: "Hi, how are you?" }).onEmbedding("x", { embedding: [1] });
}

async function send(path: string, body?: object, headers: Record<string, string> = {}): Promise<string> {
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return fetch(double.url + path, init).then(
    (answer) => answer.text(),
    () => "",
  );
}

const say = (content: string, more: object = {}) => ({
  model: "gpt-4o",
  messages: [{ role: "user", content }],
  ...more,
});

/** The samples of one name, by their labels. */
async function samples(name: string): Promise<Record<string, number>> {
  const text = await send("/metrics");
  const found = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"))];
  return Object.fromEntries(found.map(([, labels = "", value]) => [labels.replaceAll('"', ""), Number(value)]));
}

describe("GET /metrics", () => {
  it("counts calls by method, route and status, and who answered", async () => {
    await start({});
    await send("/v1/chat/completions", say("hello"));
    await send("/v1/chat/completions", say("hello", { stream: true }));
    await send("/v1/chat/completions", say("what?"));
    await send("/v1/chat/completions", { model: 1 });
    await send("/v1/models");
    await send("/v1/models/gpt-4o");
    await send("/prefix/v1/embeddings", { model: "e", input: "x" });
    await send("/v1beta/models/gemini-2.0-flash:generateContent", { contents: [{ parts: [{ text: "hello" }] }] });
    await send("/model/anthropic.claude-3/converse", { messages: [{ role: "user", content: [{ text: "hello" }] }] });
    await send("/nowhere/1");
    await send("/nowhere/2");
    expect(await samples("stuntdouble_requests_total")).toEqual({
      "method=POST,path=/v1/chat/completions,status=200": 2,
      "method=POST,path=/v1/chat/completions,status=404": 1,
      "method=POST,path=/v1/chat/completions,status=400": 1,
      "method=GET,path=/v1/models,status=200": 1,
      "method=GET,path=/v1/models/{id},status=200": 1,
      "method=POST,path=/v1/embeddings,status=200": 1,
      "method=POST,path=/v1beta/models/{model}:generateContent,status=200": 1,
      "method=POST,path=/model/{model}/converse,status=200": 1,
      "method=GET,path={other},status=404": 2,
    });
    expect(await samples("stuntdouble_answers_total")).toEqual({
      "source=fixture": 5,
      "source=fallback": 2,
      "source=miss": 1,
      "source=refused": 3,
    });
    expect(await samples("stuntdouble_fixtures_loaded")).toEqual({ "": 2 });
  });

  it("measures a call until its reply is over", async () => {
    const clock = new ManualClock();
    double = await StuntDouble.start({ metrics: true, clock });
    const all = async (answer: Promise<Response>): Promise<string> => (await answer).text();
    const ask = (body: object): Promise<string> =>
      all(double.fetch("http://x/v1/chat/completions", { method: "POST", body: JSON.stringify(body) }));
    double.onMessage("hello", { content: "Hi" }).onMessage("slowly", { content: "one" }, { latency: 500 });
    await ask(say("hello"));
    const slow = ask(say("slowly", { stream: true }));
    for (let chunk = 0; chunk < 3; chunk++) {
      while (clock.pending.length === 0) await new Promise(setImmediate);
      clock.advance(500);
    }
    await slow;
    const text = await all(double.fetch("http://x/metrics"));
    const name = "stuntdouble_request_duration_seconds";
    const labels = 'method="POST",path="/v1/chat/completions"';
    const bucket = (bound: string): string => `${name}_bucket{${labels},le="${bound}"}`;
    for (const line of [
      `${name}_sum{${labels}} 1.5`,
      `${name}_count{${labels}} 2`,
      `${bucket("0.005")} 1`,
      `${bucket("1")} 1`,
      `${bucket("2.5")} 2`,
      `${bucket("+Inf")} 2`,
    ]) {
      expect(text.split("\n")).toContain(line);
    }
  });

  it("counts what chance does", async () => {
    await start({});
    await send("/v1/chat/completions", say("hello"), { "x-stuntdouble-chaos-drop": "1" });
    await send("/v1/chat/completions", say("hello"), { "x-stuntdouble-chaos-disconnect": "1" });
    await send("/v1/chat/completions", say("what?"), { "x-stuntdouble-chaos-malformed": "1" });
    expect(await samples("stuntdouble_chaos_triggered_total")).toEqual({
      "action=drop,source=fixture": 1,
      "action=disconnect,source=fixture": 1,
      "action=malformed,source=chaos": 1,
    });
    expect(await samples("stuntdouble_requests_total")).toMatchObject({
      "method=POST,path=/v1/chat/completions,status=0": 1,
    });
  });

  it("counts what guardrails have found, and who cut", async () => {
    await start({ guard: { rules: [{ name: "people", action: "block", detectors: ["email"] }] } });
    await send("/v1/chat/completions", say("hello"));
    await send("/v1/chat/completions", say("hello, ada@example.com"));
    expect(await samples("stuntdouble_guard_findings_total")).toEqual({
      "rule=people,action=block,detector=email,direction=request": 1,
    });
    expect(await samples("stuntdouble_guard_cuts_total")).toEqual({ "by=guardrail": 1, "by=breaker": 0 });
    expect(await samples("stuntdouble_answers_total")).toEqual({ "source=fixture": 1, "source=guard": 1 });
  });

  it("has aimock's names where they are wanted", async () => {
    await start({ metricsCompat: true });
    await send("/v1/chat/completions", say("hello"), { "x-aimock-chaos-drop": "1" });
    const text = await send("/metrics");
    const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(names).toEqual([
      "aimock_requests_total counter",
      "aimock_request_duration_seconds histogram",
      "aimock_answers_total counter",
      "aimock_chaos_triggered_total counter",
      "aimock_fixtures_loaded gauge",
    ]);
    expect(text).toContain('aimock_chaos_triggered_total{action="drop",source="fixture"} 1');
  });

  it("is not there unless it is asked for", async () => {
    double = await StuntDouble.start();
    expect((await fetch(`${double.url}/metrics`)).status).toBe(404);
  });
});
