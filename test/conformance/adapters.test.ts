import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { command, load, type Result, replay, type Target, verify } from "../../src/conformance/index.ts";
import { compiledAdapter, PYTHON_ADAPTER, SUITES } from "./support.ts";

const python = spawnSync("python3", ["--version"]).status === 0;
if (!python && process.env["CI"] === "true") throw new Error("python3 is needed: its adapter would go untested.");

const notes = compiledAdapter();
const adapters = [
  {
    language: "TypeScript",
    suite: "notes",
    target: (broken?: string): Target => command(process.execPath, [notes], env(broken)),
  },
  ...(python
    ? [
        {
          language: "Python",
          suite: "mail",
          target: (broken?: string): Target => command("python3", [PYTHON_ADAPTER], env(broken)),
        },
      ]
    : []),
];

// Long enough for a process to start on a busy machine; a variant that hangs has limits of its own.
const limits = { responseTimeoutMs: 20_000, drainTimeoutMs: 5_000, stopGraceMs: 5_000 };
const short = { responseTimeoutMs: 2_000, drainTimeoutMs: 5_000, stopGraceMs: 5_000 };

function env(broken = "") {
  return { env: { BREAK: broken } };
}

function places(result: Result): string[] {
  return result.differences.map(({ response, pointer, detail }) => `${response} ${pointer} ${detail}`.trim());
}

describe.each(adapters)("an adapter in $language", ({ suite, target }) => {
  const run = async (name: string, broken: string, options = limits) =>
    replay(await load(`${SUITES}/${suite}/${name}`), target(broken), options);

  it("passes its twelve transcripts, two at a time, in suite order", async () => {
    const seen: string[] = [];
    const results = await verify(`${SUITES}/${suite}`, target(), {
      ...limits,
      jobs: 2,
      onResult: (result) => seen.push(result.case),
    });
    expect(results.flatMap(places)).toEqual([]);
    expect(results).toHaveLength(12);
    expect(seen).toEqual([...seen].sort());
    expect(seen).toEqual(results.map((result) => result.case));
  });

  const item = suite === "notes" ? "sections" : "subject";
  const deep = suite === "notes" ? "/result/items/1/score" : "/result/items/1/thread/size";
  it.each([
    ["missing-field", "ranked-results", [`2 /result/items/0/${item} this member is missing`]],
    ["extra-field", "ranked-results", ["2 /result/items/0/debug this member is unexpected"]],
    ["deep-number", "ranked-results", [`2 ${deep}`]],
    ["null-for-absent", "handshake", ["1 /result/instructions this member is unexpected"]],
    [
      "one-too-few",
      "partial-results",
      ["0  the recording has 4 frames, the adapter wrote 3", "3  this frame never came"],
    ],
    [
      "extra-after-shutdown",
      "shutdown",
      ["0  the recording has 2 frames, the adapter wrote 3", "3  this frame is not in the recording"],
    ],
    [
      "late-answer",
      "cancelled-in-flight",
      ["0  the recording has 3 frames, the adapter wrote 4", "3  this frame is not in the recording"],
    ],
    ["garbage", "ranked-results", ["2  this was written where only frames may be, and is no JSON-RPC frame"]],
    ["orphan", "shutdown", ["0  processes that the adapter had started outlived it; they were killed"]],
  ])("is caught with %s", async (broken, name, wanted) => {
    const result = await run(name, broken, broken === "orphan" ? { ...limits, stopGraceMs: 300 } : limits);
    expect(places(result)).toEqual(wanted);
    expect(result.ok).toBe(false);
  });

  it("is caught answering with an id of another type, and waited for no longer than the limit", async () => {
    const result = await run("ranked-results", "id-type", short);
    expect(places(result)).toEqual(["2 /id"]);
    const values = result.differences.map(({ want, got }) => [want, got]);
    expect(values).toEqual(suite === "notes" ? [["2", '"2"']] : [['"s-1"', "1"]]);
    expect(result.stopped).toContain("did not come within 2s");
  });

  it("is caught when it hangs", async () => {
    const result = await run("expand-section", "hang", short);
    expect(places(result)).toEqual(["0  the recording has 2 frames, the adapter wrote 1", "2  this frame never came"]);
    expect(result.stopped).toBe("the answer to request 2 (source/expand) did not come within 2s");
  });

  it("is caught when it crashes, with its exit code", async () => {
    const result = await run("expand-section", "crash");
    expect(places(result)).toEqual(["0  the recording has 2 frames, the adapter wrote 1", "2  this frame never came"]);
    expect(result.stopped).toBe("it exited with code 3 before the answer to request 2 (source/expand) came");
  });

  it("passes when its frames are split over many writes", async () => {
    expect(places(await run("partial-results", "split-writes"))).toEqual([]);
  });

  it("passes with 50 MB on stderr, of which the beginning and the end are kept", async () => {
    const result = await run("ranked-results", "loud-stderr");
    expect(places(result)).toEqual([]);
    expect(result.stderr.length).toBeLessThan(70_000);
    expect(result.stderr).toMatch(/bytes left out/);
  });
});

describe("an adapter that uses the extensions", () => {
  const target = (variables: Record<string, string> = {}) => command(process.execPath, [notes], { env: variables });

  it("passes them", async () => {
    const results = await verify(`${SUITES}/extensions`, target(), { ...limits, jobs: 2 });
    expect(results.map((result) => [result.case, places(result)])).toEqual([
      ["any-order", []],
      ["asks-the-client", []],
      ["never-answered", []],
      ["pipelined", []],
    ]);
  });

  it("is answered by the id that it gave its request in this run, and differs in that id alone", async () => {
    const result = await replay(await load(`${SUITES}/extensions/asks-the-client`), target({ CONFIRM: "7" }), limits);
    expect(places(result)).toEqual(["2 /id"]);
    expect(result.stopped).toBe("");
  });

  it("is caught answering out of order, unless the case takes any", async () => {
    const recorded = await load(`${SUITES}/notes/partial-results`);
    const broken = target({ BREAK: "out-of-order" });
    const strict = await replay(recorded, broken, limits);
    expect(
      strict.differences
        .filter(({ pointer }) => pointer === "/id" || pointer === "/method")
        .map(({ response }) => response),
    ).toEqual([2, 2, 4, 4]);
    const lenient = await replay({ ...recorded, manifest: { ...recorded.manifest, order: "any" } }, broken, limits);
    expect(places(lenient)).toEqual([]);
  });
});
