import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { envText } from "../env-text.ts";
import { commandEnvironment, upstreamsOf } from "./environment.ts";
import { faultsOf, figuresOf } from "./figures.ts";
import { reportOf } from "./report.ts";
import { reportPage } from "./report-page.ts";
import { faultOfSandbox } from "./sandbox.ts";
import { duration, money, summaryLines } from "./summary.ts";
import type { RunCall, RunTake, SourceOutcome } from "./tape-source.ts";

const PRICES = { models: { "gpt-5-mini": { input: 0.25, output: 2, cachedInput: 0.025 } } };
const take = (more: Partial<RunTake> = {}): RunTake => ({
  how: "replayed",
  tape: "checkout/01-a.json",
  provider: "openai",
  model: "gpt-5-mini",
  promptTokens: 90,
  completionTokens: 21,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  recordedMs: 950,
  savedMs: 950,
  ...more,
});
const replayed: RunCall = { name: "POST /v1/chat/completions", outcome: "replayed", status: 200 };
const missed: RunCall = { name: "POST /v1/messages", outcome: "missed", status: 404, detail: "Nothing fits.\nAt all." };
const outcome = (more: Partial<SourceOutcome> = {}): SourceOutcome => ({
  calls: [],
  takes: [],
  unused: [],
  lost: [],
  ...more,
});
const RUN = { mode: "replay", scenario: "checkout" };

describe("the summary", () => {
  it("counts, and says what was saved", () => {
    const all = outcome({ calls: [replayed, replayed], takes: [take(), take({ cachedTokens: 80 })] });
    const figures = figuresOf(all, PRICES);
    expect(figures.notSpent).toBeCloseTo((90 * 0.25 + 21 * 2 + 10 * 0.25 + 80 * 0.025 + 21 * 2) / 1e6, 12);
    expect(summaryLines(figures, all, RUN)).toEqual([
      "stuntdouble replay checkout: 2 calls, 0 recorded, 2 replayed, 0 missed, 0 unused",
      "  180 tokens in, 42 out, 1.9 s saved, $0.00011 not spent",
    ]);
  });

  it("tells what was spent from what was not, and which models have no price", () => {
    const takes = [
      take({ how: "recorded", savedMs: 0, promptTokens: 92 }),
      take({ model: "mine" }),
      take({ model: "mine" }),
    ];
    const figures = figuresOf(outcome({ takes }), { ...PRICES, currency: "EUR" });
    expect(figures).toMatchObject({ recorded: 1, replayed: 2, notSpent: 0, unpriced: ["mine"] });
    expect(summaryLines(figures, outcome({ takes }), RUN)[1]).toBe(
      "  272 tokens in, 63 out, 1.9 s saved, 0.000065 EUR spent, no price is known of mine",
    );
  });

  it("lists misses once each, and what nobody asked for", () => {
    const all = outcome({ calls: [missed, missed, replayed], unused: ["checkout/02-b.json"] });
    expect(summaryLines(figuresOf(all, PRICES), all, RUN)).toEqual([
      "stuntdouble replay checkout: 3 calls, 0 recorded, 0 replayed, 2 missed, 1 unused",
      "  missed POST /v1/messages: Nothing fits. (2 times)",
      "  unused checkout/02-b.json",
    ]);
  });

  it("lists failures that were recorded, since they are what a replay repeats", () => {
    const failure: RunCall = { name: "POST /v1/messages", outcome: "recorded", status: 401 };
    const calls = [failure, failure, { ...failure, status: 0 }, { ...failure, status: 200 }];
    const takes = calls.map(() => take({ how: "recorded", promptTokens: 0, completionTokens: 0, savedMs: 0 }));
    const all = outcome({ calls, takes });
    expect(summaryLines(figuresOf(all, PRICES), all, { mode: "record", scenario: "s" })).toEqual([
      "stuntdouble record s: 4 calls, 4 recorded, 0 replayed, 0 missed, 0 unused",
      "  recorded a failure of POST /v1/messages: 401 (2 times)",
      "  recorded a failure of POST /v1/messages: broken off",
    ]);
  });

  it("says that unused cassettes are gone", () => {
    const all = outcome({ unused: ["s/02-b.json"] });
    const lines = summaryLines(figuresOf(all, PRICES), all, { ...RUN, pruned: true });
    expect(lines.at(-1)).toBe("  unused s/02-b.json, and removed");
  });

  it("shows twenty of each", () => {
    const all = outcome({ unused: Array.from({ length: 23 }, (_, index) => `${index}.json`) });
    const lines = summaryLines(figuresOf(all, PRICES), all, RUN);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe("  … and 3 more");
  });
});

test.each([
  [[replayed], {}, 0],
  [[], {}, 1],
  [[], { empty: true }, 0],
  [[missed], {}, 1],
  [[missed], { miss: true }, 0],
  [[missed], { empty: true }, 1],
])("%j with %j has %i faults", (calls, allowed, count) => {
  const all = outcome({ calls });
  expect(faultsOf(figuresOf(all, PRICES), all, allowed)).toHaveLength(count);
});

test("a call that was blocked is told of, and is no fault", () => {
  const all = outcome({ calls: [{ ...replayed, outcome: "blocked", status: 403 }] });
  const figures = figuresOf(all, PRICES);
  expect(summaryLines(figures, all, RUN)).toEqual([
    "stuntdouble replay checkout: 1 call, 0 recorded, 0 replayed, 0 missed, 0 unused, 1 blocked",
  ]);
  expect(faultsOf(figures, all, {})).toEqual([]);
});

test("a recording that was lost is a fault, whatever is allowed", () => {
  const all = outcome({ lost: ["the disk is full"] });
  expect(faultsOf(figuresOf(all, PRICES), all, { miss: true, empty: true })).toEqual(["the disk is full"]);
});

test.each([
  [0, "$0.00"],
  [0.00000091, "$0.00000091"],
  [0.0125, "$0.013"],
  [0.5, "$0.50"],
  [12.345, "$12.35"],
])("%d is %s", (amount, text) => {
  expect(money(amount, "USD")).toBe(text);
});

test.each([
  [46, "46 ms"],
  [1900, "1.9 s"],
  [125_000, "2 min 5 s"],
])("%d milliseconds are %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

describe("where calls go", () => {
  it.each([
    [{}, {}],
    [{ OPENAI_BASE_URL: "https://gateway.test/team/v1/" }, { openai: "https://gateway.test/team/v1" }],
    [{ OPENAI_BASE_URL: "", OPENAI_API_BASE: "https://b.test" }, { openai: "https://b.test" }],
    [{ OPENAI_BASE_URL: "not a url at all" }, {}],
    [{ AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com" }, { azure: "https://me.openai.azure.com" }],
    [{ OLLAMA_HOST: "box" }, { ollama: "http://box:11434" }],
    [{ OLLAMA_HOST: "box:80" }, { ollama: "http://box:80" }],
    [{ GROQ_BASE_URL: "https://g.test" }, { groq: "https://g.test", openai: "https://api.openai.com" }],
  ])("%j says %j", (environment, urls) => {
    expect(upstreamsOf(environment)).toEqual(urls);
  });
});

describe("the command's environment", () => {
  it("leads around proxies, where there are any", () => {
    expect(commandEnvironment({}, { A: "1" })).toEqual({ A: "1" });
    const { NO_PROXY, no_proxy } = commandEnvironment({ https_proxy: "http://p", NO_PROXY: "corp.test,localhost" }, {});
    expect(NO_PROXY).toBe("corp.test,localhost,127.0.0.1,::1");
    expect(no_proxy).toBe(NO_PROXY);
  });
});

test("a shell reads back whatever URL and scenario there are", () => {
  const path = fc.string({ unit: fc.constantFrom(..."ab$`\"'\\!(){};&|<>*~é") });
  fc.assert(
    fc.property(path, fc.string({ unit: "grapheme", minLength: 1 }), (segment, scenario) => {
      const url = `http://127.0.0.1:4010/${segment}`;
      const script = `${envText({ url, scenario })}printf %s "$OPENAI_BASE_URL"`;
      const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: {} });
      expect(stdout).toBe(`${url.replace(/\/+$/, "")}/@${encodeURIComponent(scenario)}/v1`);
    }),
    { numRuns: 30 },
  );
});

describe("a sandbox that cannot be", () => {
  const probed = (probe: { error?: Error; status: number | null; stderr: string }): string | undefined =>
    faultOfSandbox("linux", () => probe);

  it("says why", () => {
    expect(faultOfSandbox("darwin", () => ({ status: 0, stderr: "" }))).toContain("and this is darwin");
    expect(probed({ status: 0, stderr: "" })).toBeUndefined();
    const missing = Object.assign(new Error("spawn unshare ENOENT"), { code: "ENOENT" });
    expect(probed({ error: missing, status: null, stderr: "" })).toContain("Install util-linux");
    expect(probed({ status: 127, stderr: "sh: 1: ip: not found\n" })).toContain("Install iproute2");
    const denied = "unshare: unshare failed: Operation not permitted\n";
    expect(probed({ status: 1, stderr: denied })).toBe(
      "--sandbox is not permitted here (unshare: unshare failed: Operation not permitted). It needs root, and in a container the capability SYS_ADMIN too.",
    );
  });
});

describe("the report", () => {
  const facts = {
    ...RUN,
    command: ["agent"],
    startedAt: "2026-01-01T00:00:00.000Z",
    durationMs: 12,
    commandExitCode: 0,
    exitCode: 1,
    faults: ["1 call was missed."],
    leftBehind: [],
    refused: [],
  };

  it("has no secret that stood in the command line", async () => {
    const command = ["agent", `--key=sk-proj-${"a1B2c3D4".repeat(6)}`];
    const all = outcome({ takes: [take()] });
    const report = await reportOf({ ...facts, command }, figuresOf(all, PRICES), all, PRICES);
    expect(JSON.stringify(report)).not.toContain("a1B2c3D4");
    expect(report.command[0]).toBe("agent");
    expect(report.takes[0]!.cost).toBeCloseTo(0.0000645, 12);
  });

  it("shows any text as it is, and makes nothing of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const all = outcome({
          calls: [{ name: text, outcome: "missed", status: 404, detail: text }],
          takes: [take({ tape: text, model: text })],
          unused: [text],
        });
        const report = { version: 1 as const, ...facts, ...all, command: [text], scenario: text, faults: [text] };
        const page = reportPage({ ...report, figures: figuresOf(all, PRICES) });
        const empty = reportPage({
          ...report,
          command: [""],
          scenario: "",
          faults: [""],
          unused: [""],
          calls: [{ name: "", outcome: "missed", status: 404, detail: "" }],
          takes: [take({ tape: "", model: "" })],
          figures: { ...figuresOf(all, PRICES), unpriced: [""] },
        });
        expect(page.match(/</g)).toHaveLength(empty.match(/</g)!.length);
      }),
    );
  });
});
