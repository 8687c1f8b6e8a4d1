import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Cassette } from "../../src/cassettes/types.ts";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { verifyFile } from "../../src/cassettes/verify.ts";
import { StuntDouble } from "../../src/index.ts";
import { dialects } from "../../src/services/registry.ts";
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
  stream,
} from "./support.ts";

const OTHER = { ...CHAT, messages: [{ role: "user" as const, content: "And in Bern?" }] };
const DAY_MS = 24 * 60 * 60 * 1000;

/** A folder with the recordings of two calls. */
async function recorded(more: Parameters<typeof recording>[1] = {}): Promise<{ folder: string; url: string }> {
  const folder = newFolder();
  const url = await provider(json(completion("Sunny")));
  const live = await recording(url, { folder, ...more });
  for (const body of [CHAT, OTHER]) await (await post(live.url, body)).text();
  await live.stop();
  return { folder, url };
}

describe("cassettes that nobody asked for", () => {
  it("are removed at the end with prune, and those that were replayed or recorded stay", async () => {
    const { folder, url } = await recorded();
    const [first] = filesIn(folder);
    const auto = await recording(url, { folder, prune: true }, "auto");
    for (const body of [CHAT, { ...CHAT, model: "new" }]) await (await post(auto.url, body)).text();
    await auto.stop();
    const left = filesIn(folder);
    expect(left).toHaveLength(2);
    expect(left).toContain(first);
    expect(left.map((name) => latest(read(folder, name)).request_context.model)).toEqual(["gpt-5", "new"]);
  });

  it("stay where nothing was asked for at all", async () => {
    const { folder } = await recorded();
    const replay = await replaying({ folder, prune: true });
    await expect(replay.stop()).rejects.toThrow("Nothing was recorded");
    expect(filesIn(folder)).toHaveLength(2);
  });
});

describe("recordings that are too old", () => {
  it("fail and say so, and nothing is recorded in their place", async () => {
    const { folder, url } = await recorded();
    const [name] = filesIn(folder);
    const cassette = read(folder, name!);
    const recordedAt = Date.parse(latest(cassette).stuntdouble!.recorded_at!);
    const before = readFileSync(join(folder, name!), "utf8");
    const ask = async (ageMs: number): Promise<{ status: number; text: string }> => {
      const double = new StuntDouble({
        clock: new ManualClock(recordedAt + ageMs),
        record: { providers: { openai: url } },
        cassettes: { mode: "auto", folder, maxAgeMs: 30 * DAY_MS },
      });
      const response = await double.fetch("http://double/v1/chat/completions", {
        method: "POST",
        body: JSON.stringify(CHAT),
      });
      const text = await response.text();
      await double.stop().catch(() => {});
      return { status: response.status, text };
    };
    expect(await ask(30 * DAY_MS)).toEqual({ status: 200, text: completion("Sunny") });
    const { status, text } = await ask(31 * DAY_MS);
    expect(status).toBe(500);
    expect(text).toContain(`${name} was recorded`);
    expect(text).toContain("31 days ago, which is more than --max-age allows. Record it anew (--vcr record).");
    expect(readFileSync(join(folder, name!), "utf8")).toBe(before);
  });
});

describe("without the raw layer", () => {
  it("the timeline alone is recorded and replayed, and verification does not pass what nothing speaks for", async () => {
    const folder = newFolder();
    const live = await recording(await provider(stream), { folder, raw: false });
    await (await post(live.url, { ...CHAT, stream: true })).text();
    await live.stop();
    const [name] = filesIn(folder);
    const trace = latest(read(folder, name!));
    expect(trace.raw_payload).toBeUndefined();
    expect(trace.stuntdouble?.http).not.toHaveProperty("body");
    expect(trace.stuntdouble?.http).not.toHaveProperty("framing");
    const replay = await replaying({ folder });
    const text = await (await post(replay.url, { ...CHAT, stream: true })).text();
    expect(text).not.toBe(STREAM.join(""));
    for (const piece of ["Sunny, ", "18 °C"]) expect(text).toContain(`"content":"${piece}"`);
    const operations = dialects.flatMap((dialect) => dialect.operations);
    expect(await verifyFile(join(folder, name!), folder, { operations, rules: new UserRules() })).toMatchObject([
      { status: "skipped", notes: ["unverified: there is no raw payload"] },
    ]);
  });
});

describe("a file that Fiber named", () => {
  const five = (folder: string, name: string): Cassette => {
    cpSync("examples/cassettes/five-takes.json", join(folder, name));
    return JSON.parse(readFileSync("examples/cassettes/five-takes.json", "utf8")) as Cassette;
  };
  const said = async (double: StuntDouble, headers: Record<string, string> = {}): Promise<string> =>
    JSON.parse(await (await post(double.url, OTHER, headers)).text()).choices?.[0].message.content;

  it("answers whatever is asked in its scenario by its latest trace, every time", async () => {
    const folder = newFolder();
    five(folder, "fixture_app_planner_coin toss.json");
    const double = await replaying({ folder, scenario: "coin toss" });
    for (let times = 0; times < 3; times++) expect(await said(double)).toBe("It landed on its edge.");
    expect((await post(double.url, OTHER, { "x-vcr-scenario": "other" })).status).toBe(404);
  });

  it("answers by the trace that is routed to its scenario, or to every one", async () => {
    const folder = newFolder();
    const cassette = five(folder, "fixture_app_planner_coin toss.json");
    const [id] = cassette.history_keys;
    const text = cassette.traces[id!]!.response_timeline.map(({ chunk }) => chunk).join("");
    for (const traces of [`coin toss:${id}`, id!, ` ${"0".repeat(32)} , ${id!.toUpperCase()} `]) {
      const double = await replaying({ folder, scenario: "coin toss", traces }, { onWarning: () => {} });
      expect(await said(double)).toBe(text);
    }
    const elsewhere = await replaying({ folder, scenario: "coin toss", traces: `tide:${id}` });
    expect(await said(elsewhere)).toBe("It landed on its edge.");
  });

  it("is of the invoker in its name, where there are several", async () => {
    const folder = newFolder();
    five(folder, "fixture_app_planner_coin toss.json");
    const other = five(folder, "fixture_app_writer_coin toss.json");
    other.latest_trace_id = other.history_keys[0]!;
    writeFileSync(join(folder, "fixture_app_writer_coin toss.json"), JSON.stringify(other));
    const double = await replaying({ folder, scenario: "coin toss" });
    expect(await said(double, { "x-vcr-invoker": "app.planner" })).toBe("It landed on its edge.");
    expect(await said(double, { "x-vcr-invoker": "app.writer" })).toBe(
      other.traces[other.latest_trace_id]!.response_timeline[0]!.chunk,
    );
    // Nothing tells which of the two is meant.
    expect((await post(double.url, OTHER)).status).toBe(404);
  });
});

describe("matching", () => {
  it("leaves out what is to be ignored, in replay as when it was recorded", async () => {
    const { folder } = await recorded({ ignore: ["/metadata/run", "[0-9]{4}-[0-9]{2}-[0-9]{2}"] });
    expect(JSON.parse(readFileSync(join(folder, "cassettes.json"), "utf8"))).toEqual({
      match: "exact",
      ignore: ["/metadata/run", "[0-9]{4}-[0-9]{2}-[0-9]{2}"],
    });
    const replay = await replaying({ folder, repeat: "last" });
    expect((await post(replay.url, { ...CHAT, metadata: { run: "17" } })).status).toBe(404);
    const dated = { ...CHAT, metadata: { run: 1, kept: "2026-01-02" } };
    const again = newFolder();
    const live = await recording(await provider(json(completion("dated"))), {
      folder: again,
      ignore: ["/metadata/run", "[0-9-]{10}"],
    });
    await (await post(live.url, dated)).text();
    await live.stop();
    const later = await replaying({ folder: again });
    const other = { ...dated, metadata: { run: "2", kept: "2027-11-30" } };
    expect(await (await post(later.url, other)).text()).toBe(completion("dated"));
  });

  it("refuses to match in another way than was recorded, also the usual one, which no file says", async () => {
    const usual = await recorded({});
    expect(existsSync(join(usual.folder, "cassettes.json"))).toBe(false);
    const inOrder = await recorded({ match: "position" });
    for (const [folder, match] of [
      [usual.folder, "position"],
      [inOrder.folder, "messages"],
    ] as const) {
      await expect(replaying({ folder, match })).rejects.toThrow(
        `The cassettes in ${folder} were recorded with match ${match === "position" ? "exact" : "position"}, but match ${match} was asked for.`,
      );
    }
  });

  it("by the last message or by position lets all else differ", async () => {
    const { folder } = await recorded({ match: "last-message" });
    const replay = await replaying({ folder });
    const longer = { model: "any", messages: [{ role: "user", content: "Hello" }, ...CHAT.messages] };
    expect((await post(replay.url, longer)).status).toBe(200);
    expect((await post(replay.url, { ...CHAT, messages: [{ role: "user", content: "Hello" }] })).status).toBe(404);
    const inOrder = await recorded({ match: "position" });
    const second = await replaying({ folder: inOrder.folder });
    for (const status of [200, 200, 404]) {
      expect((await post(second.url, { model: "x", messages: [{ role: "user", content: "?" }] })).status).toBe(status);
    }
  });
});
