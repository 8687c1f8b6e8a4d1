import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inspect, parseCassette, tooLarge } from "./damage.ts";
import { CassetteError, formatCassette, withTake } from "./format.ts";
import type { Cassette, Trace } from "./types.ts";

const EXAMPLES = "examples/cassettes";
const example = (name: string): string => readFileSync(`${EXAMPLES}/${name}.json`, "utf8");
const parsed = (text: string): Cassette => parseCassette(text, "it");

describe("a rewrite", () => {
  it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith(".json")))(
    "of %s that changes nothing is the same bytes",
    (name) => {
      const text = readFileSync(`${EXAMPLES}/${name}`, "utf8");
      expect(text).toContain(".0");
      expect(formatCassette(parsed(text), { text, cassette: parsed(text) })).toBe(text);
    },
  );

  it("with one take more changes the pointers and adds the take, and nothing else", () => {
    const text = example("text-stream").replace('"scenario"', '"x_other": { "kept":1.0 },\n  "scenario"');
    const cassette = parsed(text);
    const trace: Trace = { ...cassette.traces[cassette.latest_trace_id]!, trace_id: "0".repeat(32) };
    const after = formatCassette(withTake(cassette, trace), { text, cassette });
    const before = new Set(text.split("\n"));
    const changed = after.split("\n").filter((line) => !before.has(line));
    expect(changed[0]).toBe(`  "latest_trace_id": "${"0".repeat(32)}",`);
    expect(after).toContain('"x_other": { "kept":1.0 }');
    expect(after).toContain('"delta_ms": 160.0');
    expect(parsed(after).history_keys).toEqual([cassette.latest_trace_id, "0".repeat(32)]);
  });

  it("keeps whatever else a file holds, wherever it stands", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        const own = JSON.parse(JSON.stringify({ ...members, ...parsed(example("unary")) })) as Cassette;
        const text = JSON.stringify(own);
        const trace = { ...own.traces[own.latest_trace_id]!, trace_id: "f".repeat(32), x_members: members };
        const after = JSON.parse(formatCassette(withTake(own, trace), { text, cassette: own })) as Cassette;
        expect(after).toEqual(JSON.parse(JSON.stringify(withTake(own, trace))));
      }),
    );
  });
});

describe("the ring buffer", () => {
  it("holds five takes, of which the oldest leaves first and one that is recorded anew becomes the last", () => {
    const cassette = parsed(example("five-takes"));
    const [first, second] = cassette.history_keys;
    const again = withTake(cassette, cassette.traces[first!]!);
    expect(again.history_keys).toEqual([...cassette.history_keys.slice(1), first]);
    expect(Object.keys(again.traces)).toEqual(again.history_keys);
    const sixth = withTake(again, { ...cassette.traces[first!]!, trace_id: "a".repeat(32) });
    expect(sixth.history_keys).toHaveLength(5);
    expect(sixth.traces[second!]).toBeUndefined();
    expect(sixth.latest_trace_id).toBe("a".repeat(32));
  });
});

type Break = (cassette: Cassette, trace: Trace) => unknown;
const id = "4f1c0a6be2d94873a5b0c7d81e92f3a4";
const inTrace = `/traces/${id}`;
/** What is done to the example of a streamed text, and the verdict. */
const DAMAGES: [string, Break, string, RegExp][] = [
  [
    "the take that is to be replayed is missing",
    (c) => (c.latest_trace_id = "0".repeat(32)),
    "/latest_trace_id",
    /no such take/,
  ],
  [
    "the history names a take that is missing",
    (c) => c.history_keys.unshift("0".repeat(32)),
    "/history_keys/0",
    /no such take/,
  ],
  ["the history names a take twice", (c) => c.history_keys.push(id), "/history_keys/1", /second time/],
  [
    "a take is not in the history",
    (c, t) => (c.traces["0".repeat(32)] = { ...t, trace_id: "0".repeat(32) }),
    `/traces/${"0".repeat(32)}`,
    /not in history_keys/,
  ],
  [
    "there are more than five takes",
    (c, t) => {
      for (const digit of "123456") {
        c.history_keys.push(digit.repeat(32));
        c.traces[digit.repeat(32)] = { ...t, trace_id: digit.repeat(32) };
      }
    },
    "/history_keys",
    /7 takes; at most 5/,
  ],
  ["there is no take at all", (c) => (c.traces = {}), "/traces", /no take/],
  ["a take has another id than its name", (_, t) => (t.trace_id = "0".repeat(32)), `${inTrace}/trace_id`, /expected/],
  [
    "an id is none",
    (c, t) =>
      Object.assign(c, { latest_trace_id: "xyz", history_keys: ["xyz"], traces: { xyz: { ...t, trace_id: "xyz" } } }),
    "/traces/xyz",
    /32 hexadecimal/,
  ],
  [
    "a delta is negative",
    (_, t) => (t.response_timeline[1]!.delta_ms = -1),
    `${inTrace}/response_timeline/1/delta_ms`,
    /at least 0/,
  ],
  [
    "the first delta is not the time to the first byte",
    (_, t) => (t.response_timeline[0]!.delta_ms = 1),
    `${inTrace}/response_timeline/0/delta_ms`,
    /expected 420.5/,
  ],
  [
    "the first byte comes after the last",
    (_, t) => (t.network_metrics.total_duration_ms = 1),
    `${inTrace}/network_metrics/ttfb_ms`,
    /more than the whole call/,
  ],
  [
    "the sum of the tokens is wrong",
    (_, t) => (t.usage.total_tokens = 7),
    `${inTrace}/usage/total_tokens`,
    /expected 31/,
  ],
  [
    "frames follow the one that finished",
    (_, t) => (t.response_timeline[0]!.finish_reason = "stop"),
    `${inTrace}/response_timeline/0/finish_reason`,
    /2 more follow/,
  ],
  [
    "tool calls stand before the end",
    (_, t) => (t.response_timeline[0]!.tool_calls = []),
    `${inTrace}/response_timeline/0/tool_calls`,
    /last frame/,
  ],
  [
    "tool calls finish with another word",
    (_, t) =>
      (t.response_timeline[2]!.tool_calls = [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }]),
    `${inTrace}/response_timeline/2/finish_reason`,
    /expected "tool_calls"/,
  ],
  [
    "a unary call has several frames",
    (_, t) => (t.request_context.parameters.stream = false),
    `${inTrace}/response_timeline`,
    /one frame, but there are 3/,
  ],
  [
    "nothing occurred and there is an error",
    (_, t) => (t.exception_boundary.error_type = "X"),
    `${inTrace}/exception_boundary/error_type`,
    /nothing occurred/,
  ],
  [
    "the timeline is empty although nothing occurred",
    (_, t) => (t.response_timeline = []),
    `${inTrace}/response_timeline`,
    /at least one frame/,
  ],
  [
    "a stream has the raw payload of a unary call",
    (_, t) => (t.raw_payload = { sync_response: {} }),
    `${inTrace}/raw_payload/sync_response`,
    /expected stream_chunks/,
  ],
  ["a member is missing", (c) => Reflect.deleteProperty(c, "scenario"), "", /"scenario" is missing/],
  [
    "a member is of another type",
    (_, t) => Object.assign(t.usage, { prompt_tokens: "18" }),
    `${inTrace}/usage/prompt_tokens`,
    /whole number/,
  ],
];

describe("damage", () => {
  it.each(DAMAGES)("%s", (_, damage, pointer, message) => {
    const cassette = JSON.parse(example("text-stream")) as Cassette;
    damage(cassette, cassette.traces[id]!);
    const { damages } = inspect(JSON.stringify(cassette));
    const found = damages.find((one) => one.pointer === pointer && message.test(one.message));
    expect(found, JSON.stringify(damages)).toBeDefined();
  });

  it.each([
    ["", /empty/],
    ["nonsense", /not JSON/],
    [example("unary").slice(0, 500), /breaks off at the end|not JSON/],
    ["[]", /expected an object/],
    [`{"scenario":${"[".repeat(600)}${"]".repeat(600)}}`, /nested deeper/],
  ])("a text that is no cassette: %.10s", (text, message) => {
    expect(inspect(text).damages[0]?.message).toMatch(message);
    expect(() => parsed(text)).toThrow(CassetteError);
  });

  it("a file that is too large to be read", () => {
    expect(tooLarge(200 * 1024 * 1024).message).toContain("the file has 200 MB, and more than 100 MB are not read");
  });

  it("none in the examples, whatever their name", () => {
    for (const name of readdirSync(EXAMPLES))
      if (name.endsWith(".json"))
        expect(inspect(readFileSync(`${EXAMPLES}/${name}`, "utf8")).damages, name).toEqual([]);
  });
});
