import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { inspect } from "./damage.ts";
import { listLine, merge, migrate, openCassettes, rename, showLines, takeDifferences, takeNamed } from "./manage.ts";
import type { Cassette, Trace } from "./types.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stuntdouble-manage-"));
  folders.push(folder);
  return folder;
}

const example = (name: string): Cassette =>
  JSON.parse(readFileSync(`examples/cassettes/${name}.json`, "utf8")) as Cassette;
const ID = (digit: string): string => digit.repeat(32);

/** A recorded call with takes of these ids. */
function recorded(scenario: string, fingerprint: string, ...ids: string[]): Cassette {
  const { traces } = example("unary");
  const trace = Object.values(traces)[0]!;
  const take = (id: string, index: number): Trace => ({
    ...trace,
    trace_id: id,
    stuntdouble: { recorded_at: `2026-01-0${index + 1}T00:00:00.000Z` },
  });
  return {
    scenario,
    latest_trace_id: ids.at(-1)!,
    history_keys: ids,
    traces: Object.fromEntries(ids.map((id) => [id, take(id, Number(`0x${id[0]}`) - 1)])),
    stuntdouble: { format_version: 1, fingerprint, occurrence: 1 },
  };
}

function write(folder: string, name: string, cassette: Cassette | string): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), typeof cassette === "string" ? cassette : `${JSON.stringify(cassette, null, 2)}\n`);
}
const read = (folder: string, name: string): Cassette => JSON.parse(readFileSync(join(folder, name), "utf8"));
const names = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort();

describe("merge", () => {
  it("makes one cassette of the takes of the same call, the newest five in the order of their times", () => {
    const [from, into] = [newFolder(), newFolder()];
    write(from, "a/01-x-0000aaaa.json", recorded("a", "0000aaaa", ID("2"), ID("4"), ID("6")));
    write(into, "a/07-x-0000aaaa.json", recorded("a", "0000aaaa", ID("1"), ID("3"), ID("5")));
    expect(merge(from, into)).toEqual([join(into, "a/07-x-0000aaaa.json")]);
    const merged = read(into, "a/07-x-0000aaaa.json");
    expect(merged.history_keys).toEqual(["2", "3", "4", "5", "6"].map(ID));
    expect(Object.keys(merged.traces)).toEqual(merged.history_keys);
    expect(merged.latest_trace_id).toBe(ID("6"));
    expect(inspect(JSON.stringify(merged)).damages).toEqual([]);
  });

  it("keeps another call's cassettes apart, whatever their name, byte for byte", () => {
    const [from, into] = [newFolder(), newFolder()];
    write(from, "a/01-x-0000aaaa.json", recorded("a", "0000aaaa", ID("1")));
    cpSync("examples/cassettes/unary.json", join(from, "unary.json"));
    write(into, "a/01-x-0000aaaa.json", recorded("a", "0000bbbb", ID("2")));
    cpSync("examples/cassettes/tool-call.json", join(into, "unary.json"));
    const before = readFileSync(join(into, "unary.json"), "utf8");
    expect(merge(from, into)).toEqual([join(into, "a/01-x-0000aaaa-2.json"), join(into, "unary-2.json")]);
    expect(read(into, "a/01-x-0000aaaa.json").history_keys).toEqual([ID("2")]);
    expect(readFileSync(join(into, "unary.json"), "utf8")).toBe(before);
    expect(readFileSync(join(into, "unary-2.json"), "utf8")).toBe(
      readFileSync("examples/cassettes/unary.json", "utf8"),
    );
  });

  it("makes the folder, and says where there is nothing to merge", () => {
    const [from, into] = [newFolder(), join(newFolder(), "new")];
    expect(() => merge(from, into)).toThrow(`${from}: there is no cassette in it.`);
    write(from, "a/01-x-0000aaaa.json", recorded("a", "0000aaaa", ID("1")));
    merge(from, into);
    expect(names(into)).toEqual(["a/01-x-0000aaaa.json"]);
  });
});

describe("rename", () => {
  it("changes the scenario in its cassettes and their folder, and nothing else", () => {
    const folder = newFolder();
    write(folder, "check-out/01-x-0000aaaa.json", recorded("check out", "0000aaaa", ID("1")));
    write(folder, "by-hand.json", recorded("check out", "0000bbbb", ID("1")));
    write(folder, "other/01-x-0000aaaa.json", recorded("other", "0000aaaa", ID("1")));
    const before = readFileSync(join(folder, "check-out/01-x-0000aaaa.json"), "utf8");
    expect(rename(folder, "check out", "Payment")).toBe(2);
    expect(names(folder)).toEqual(["by-hand.json", "other/01-x-0000aaaa.json", "payment/01-x-0000aaaa.json"]);
    expect(readFileSync(join(folder, "payment/01-x-0000aaaa.json"), "utf8")).toBe(
      before.replace('"check out"', '"Payment"'),
    );
    expect(read(folder, "by-hand.json").scenario).toBe("Payment");
  });

  it("refuses a name that is taken, and a scenario that is not there", () => {
    const folder = newFolder();
    write(folder, "a/01-x-0000aaaa.json", recorded("a", "0000aaaa", ID("1")));
    write(folder, "b/01-x-0000aaaa.json", recorded("b", "0000aaaa", ID("1")));
    expect(() => rename(folder, "a", "b")).toThrow("there is a scenario b already; merge would join the two.");
    expect(() => rename(folder, "c", "d")).toThrow("there is no scenario c; there are a, b.");
    expect(names(folder)).toEqual(["a/01-x-0000aaaa.json", "b/01-x-0000aaaa.json"]);
  });
});

describe("migrate", () => {
  it("drops what no history names, keeps five, and says the version", () => {
    const folder = newFolder();
    const seven = recorded("a", "0000aaaa", ...["1", "2", "3", "4", "5", "6", "7"].map(ID));
    const { stuntdouble: _, ...old } = { ...seven, latest_trace_id: ID("7") };
    write(folder, "old.json", { ...old, history_keys: [...old.history_keys.slice(0, 6), ID("9")] });
    expect(migrate(folder)).toEqual([join(folder, "old.json")]);
    const after = read(folder, "old.json");
    expect(after.history_keys).toEqual(["3", "4", "5", "6", "7"].map(ID));
    expect(Object.keys(after.traces).sort()).toEqual(after.history_keys);
    expect(after.stuntdouble).toEqual({ format_version: 1 });
    expect(inspect(JSON.stringify(after)).damages).toEqual([]);
    const text = readFileSync(join(folder, "old.json"), "utf8");
    expect(migrate(folder)).toEqual([]);
    expect(readFileSync(join(folder, "old.json"), "utf8")).toBe(text);
  });
});

describe("diff", () => {
  const trace = (): Trace => structuredClone(Object.values(example("tool-call").traces)[0]!);

  it("tells text, tools, usage, the error and timing apart, and takes timing alone for none", () => {
    const [before, after] = [trace(), trace()];
    after.network_metrics.total_duration_ms = before.network_metrics.total_duration_ms + 10;
    const { total_duration_ms: ms } = before.network_metrics;
    expect(takeDifferences(before, after)).toEqual({ lines: [`total_duration_ms: ${ms} -> ${ms + 10}`], same: true });
    after.response_timeline.at(-1)!.tool_calls![0]!.function.name = "other_tool";
    after.response_timeline[0]!.chunk = "Let me look.";
    after.usage.prompt_tokens++;
    after.exception_boundary = { occurred: true, error_type: "TimeoutError" };
    const { lines, same } = takeDifferences(before, after);
    expect(same).toBe(false);
    const name = before.response_timeline.at(-1)!.tool_calls![0]!.function.name;
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^text: ".*" -> "Let me look\./),
        `tool_calls/0/name: "${name}" -> "other_tool"`,
        `usage/prompt_tokens: ${before.usage.prompt_tokens} -> ${after.usage.prompt_tokens}`,
        "exception_boundary/occurred: false -> true",
        'exception_boundary/error_type: nothing -> "TimeoutError"',
      ]),
    );
  });
});

describe("show", () => {
  it("draws each frame at its place in time", () => {
    const [trace] = Object.values(example("text-stream").traces);
    const lines = showLines(trace!);
    const frames = lines.filter((line) => line.includes("●"));
    expect(frames.map((line) => Number(line.trim().split(" ")[0]))).toEqual([420.5, 580.5, 905.5]);
    const places = frames.map((line) => line.indexOf("●"));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(frames.map((line) => line.length - line.indexOf("●") > 0)).toEqual([true, true, true]);
    expect(frames.at(-1)).toContain('"and a book." [end_turn]');
    expect(lines[1]).toBe("anthropic claude-haiku-4-5-20251001, streamed, first byte 420.5 ms, all of it 905.5 ms");
    expect(lines.at(-1)).toBe("18 + 13 = 31 tokens");
  });

  it("shows tools, and how it ended", () => {
    expect(showLines(Object.values(example("tool-call").traces)[0]!).join("\n")).toContain("get_tide_times({");
    const killed = showLines(Object.values(example("kill-switch").traces)[0]!);
    expect(killed).toContain("  ends with PermissionError: Guardrail Block: the stream ran past its quota of tokens.");
    expect(killed.at(-1)).toBe("17 + 0 = 17 tokens, no raw payload");
  });
});

describe("list", () => {
  it("has a line for each, with what matters of it", () => {
    const folder = newFolder();
    write(folder, "a/01-x-0000aaaa.json", recorded("a", "0000aaaa", ID("1"), ID("2")));
    cpSync("examples/cassettes/kill-switch.json", join(folder, "kill.json"));
    expect(openCassettes(folder).map((opened) => listLine(folder, opened))).toEqual([
      ["a/01-x-0000aaaa.json", "a", expect.stringContaining("openai"), "2 takes", "2026-01-02T00:00:00.000Z", ""],
      ["kill.json", "long essay", "openai gpt-5-mini", "1 take", "", "PermissionError"],
    ]);
  });

  it("finds a take by the beginning of its id, if that says which", () => {
    const folder = newFolder();
    write(folder, "x.json", recorded("a", "0000aaaa", `1${"0".repeat(31)}`, `1${"1".repeat(31)}`));
    const [opened] = openCassettes(folder);
    expect(takeNamed(opened!, "11").trace_id).toBe(`1${"1".repeat(31)}`);
    expect(() => takeNamed(opened!, "1")).toThrow("more than one take begins with 1");
    expect(() => takeNamed(opened!, "2")).toThrow("no take begins with 2");
  });

  it("says which file is damaged", () => {
    const folder = newFolder();
    write(folder, "x.json", "{");
    expect(() => openCassettes(folder)).toThrow(`${join(folder, "x.json")} is no cassette that can be replayed`);
    expect(() => openCassettes(join(folder, "none"))).toThrow("there is no such file or folder");
  });
});
