import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compiledAdapter, runCli, SUITES, startCli, temporaryFolder } from "./support.ts";

const notes = compiledAdapter();
const node = ["--", process.execPath, notes];
const folder = temporaryFolder();
let copies = 0;

/** A copy of some cases of the notes suite. */
function suiteOf(...cases: string[]): string {
  const suite = join(folder, `suite-${++copies}`);
  for (const name of cases) cpSync(join(SUITES, "notes", name), join(suite, name), { recursive: true });
  return suite;
}

function change(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
}

describe("stuntdouble verify", () => {
  it("runs cases at once, reports them in suite order, several reporters at a time, and exits 0", async () => {
    const junit = join(folder, "reports", "junit.xml");
    const ran = await runCli([
      "verify",
      `${SUITES}/notes`,
      "--jobs",
      "4",
      "--filter",
      "expand*",
      "--reporter",
      "tap",
      "--reporter",
      `junit=${junit}`,
      ...node,
    ]);
    expect(ran).toEqual({
      code: 0,
      stderr: "",
      stdout: "TAP version 14\n1..3\nok 1 - expand-section\nok 2 - expand-summary\nok 3 - expand-truncated\n",
    });
    expect(readFileSync(junit, "utf8")).toContain('<testsuites tests="3" failures="0"');
  });

  it("exits 1 with the differences, the log, and what --bail left out", async () => {
    const suite = suiteOf("expand-summary", "handshake", "version-refused");
    change(join(suite, "handshake", "response.jsonl"), '"1.4.0"', '"1.5.0"');
    const ran = await runCli(["verify", suite, "--bail", ...node]);
    expect(ran.code).toBe(1);
    expect(
      ran.stdout
        .replace(/\d+ ms/g, "N ms")
        .split("\n")
        .slice(1),
    ).toEqual([
      "✓ expand-summary N ms",
      "✗ handshake N ms",
      "    frame 1 /result/adapter/version",
      '      want "1.5.0"',
      '      got  "1.4.0"',
      "    stderr",
      "      notes adapter: started",
      "- version-refused N ms",
      "    note not run: --bail, and a case before it failed",
      "",
      "1 passed, 1 failed, 1 skipped in N ms",
      "",
    ]);
  });

  it("shows and then records what differs with --update, masked", async () => {
    const suite = suiteOf("ranked-results", "handshake");
    const file = join(suite, "ranked-results", "response.jsonl");
    const recorded = readFileSync(file, "utf8");
    change(file, "Garden plan", "Garden");
    const ran = await runCli(["verify", suite, "--update", ...node]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("frame 2 /result/items/0/title");
    expect(ran.stderr).toBe("ranked-results: recorded, 2 frames.\n");
    expect(readFileSync(file, "utf8")).toBe(recorded);
  });

  it("does not record with --update what is not whole, and names what differs in each run", async () => {
    const suite = suiteOf("ranked-results", "expand-section");
    const manifest = join(suite, "ranked-results", "manifest.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"/result/checked_at"', ""));
    const before = readFileSync(join(suite, "expand-section", "response.jsonl"), "utf8");
    const ran = await runCli(["verify", suite, "--update", ...node], "", { BREAK: "crash" });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("expand-section: not recorded, since it is not whole (it exited with code 3 before");
    expect(ran.stderr).toContain(
      "ranked-results: the next run differs from what was recorded; these may be volatile: /result/checked_at",
    );
    expect(readFileSync(join(suite, "expand-section", "response.jsonl"), "utf8")).toBe(before);
  });

  it("takes its limits, and keeps the workdir when it is told to", async () => {
    const workdir = join(folder, "workdirs");
    const suite = suiteOf("refresh");
    const limits = ["--response-timeout", "20s", "--drain-timeout", "5s", "--stop-grace", "5s", "--workdir", workdir];
    expect((await runCli(["verify", suite, ...limits, ...node])).code).toBe(0);
    expect(readdirSync(workdir)).toEqual([]);
    const kept = await runCli(["verify", suite, ...limits, "--keep-workdir", ...node]);
    const [name = ""] = readdirSync(workdir);
    expect(kept.stdout).toContain(`workdir: ${join(workdir, name)}`);
    expect(existsSync(join(workdir, name, "index.json"))).toBe(true);
    const hung = await runCli(["verify", suiteOf("expand-section"), "--response-timeout", "1500ms", ...node], "", {
      BREAK: "hang",
    });
    expect(hung.code).toBe(1);
    expect(hung.stdout).toContain("did not come within 1500ms");
  });

  it("runs again with --watch when the suite changes", async () => {
    const suite = suiteOf("handshake");
    const child = startCli(["verify", suite, "--watch", ...node]);
    let output = "";
    const until = (text: string) =>
      new Promise<void>((done) => {
        const look = (chunk: Buffer | string) => {
          output += chunk.toString();
          if (!output.includes(text)) return;
          child.stdout?.off("data", look);
          done();
        };
        child.stdout?.on("data", look);
      });
    await until("Waiting for changes");
    expect(output).toContain("1 passed");
    output = "";
    const again = until("Waiting for changes");
    change(join(suite, "handshake", "response.jsonl"), '"1.4.0"', '"9"');
    await again;
    expect(output).toContain('want "9"');
    child.kill("SIGINT");
    expect(await new Promise((done) => child.on("exit", done))).toBe(130);
  });

  it.each<[string, (suite: string) => string[], RegExp]>([
    [
      "a command that does not exist",
      (suite) => [suite, "--", "no-such-command"],
      /^The command "no-such-command" could not be started: it was not found on the PATH\.\n$/,
    ],
    [
      "a socket that nobody listens on",
      (suite) => [suite, "--target", "unix:/no/such.sock"],
      /^Nobody listens on unix:\/no\/such\.sock: there is no such socket/,
    ],
    [
      "a port that nobody listens on",
      (suite) => [suite, "--target", "tcp://127.0.0.1:1"],
      /^Nobody listens on tcp:\/\/127\.0\.0\.1:1 \(connection refused\)/,
    ],
    [
      "an address that is none",
      (suite) => [suite, "--target", "morse:x"],
      /^"morse:x" is no address: expected stdio, unix:/,
    ],
    ["no target", (suite) => [suite], /^There is no target: add -- COMMAND, or --target ADDRESS\.\n$/],
    [
      "two targets",
      (suite) => [suite, "--target", "unix:/x", "--", "true"],
      /^Give a command or --target, not both\.\n$/,
    ],
    [
      "a filter that leaves nothing",
      (suite) => [suite, "--filter", "zzz", "--", "true"],
      /the filter leaves none of the 1 cases/,
    ],
    [
      "a folder without tapes",
      () => [temporaryEmpty(), "--", "true"],
      /there is nothing here that verify takes; expected .*a suite of transcripts/,
    ],
    [
      "a folder that is not there",
      () => ["/no/such", "--", "true"],
      /^\/no\/such: there is no such file or folder\.\n$/,
    ],
    [
      "a reporter that there is not",
      (suite) => [suite, "--reporter", "morse", "--", "true"],
      /^There is no reporter "morse"; expected one of pretty, json/,
    ],
    [
      "a duration without a unit",
      (suite) => [suite, "--response-timeout", "20", "--", "true"],
      /Expected a duration such as 500ms, 20s or 2m/,
    ],
    [
      "a number of jobs that is none",
      (suite) => [suite, "--jobs", "0", "--", "true"],
      /Expected a whole number of at least 1/,
    ],
    ["--watch with --update", (suite) => [suite, "--watch", "--update", "--", "true"], /exclude one another/],
  ])("exits 2 for %s", async (_, args, message) => {
    const ran = await runCli(["verify", ...args(suiteOf("handshake"))]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(message);
  });

  it("exits 2 for a faulty suite before anything starts, with every fault", async () => {
    const suite = suiteOf("handshake", "shutdown", "refresh");
    writeFileSync(join(suite, "handshake", "manifest.json"), "{");
    writeFileSync(join(suite, "refresh", "response.jsonl"), "");
    change(join(suite, "refresh", "manifest.json"), '"responses": 2', '"responses": 0');
    change(join(suite, "shutdown", "manifest.json"), '"responses": 2', '"responses": 3');
    const ran = await runCli(["verify", suite, "--", "no-such-command"]);
    expect(ran.code).toBe(2);
    expect(
      ran.stderr
        .replaceAll(`${suite}/`, "")
        .split("\n")
        .map((line) => line.slice(0, 40)),
    ).toEqual(["handshake/manifest.json: it is no JSON (", 'shutdown/manifest.json: "responses" says', ""]);
    writeFileSync(
      join(suite, "handshake", "manifest.json"),
      readFileSync(join(SUITES, "notes", "handshake", "manifest.json")),
    );
    change(join(suite, "shutdown", "manifest.json"), '"responses": 3', '"responses": 2');
    expect((await runCli(["verify", suite, "--", "no-such-command"])).stderr).toMatch(
      /refresh\/request\.jsonl:1: the request 1 \(source\/initialize\) has no answer/,
    );
  });
});

function temporaryEmpty(): string {
  const empty = join(folder, `empty-${++copies}`);
  mkdirSync(empty);
  return empty;
}

describe("the example", () => {
  it("passes its transcripts", async () => {
    const ran = await runCli([
      "verify",
      "examples/adapter/conformance",
      "--",
      process.execPath,
      "examples/adapter/adapter.mjs",
    ]);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("2 passed")]);
  });
});

describe("stuntdouble play", () => {
  it("stands in on stdio, and is verified as the adapter is", async () => {
    const stand = [
      process.execPath,
      process.env["STUNTDOUBLE_CLI"] ?? "dist/cli/main.js",
      "play",
      `${SUITES}/notes`,
      "--case",
      "partial-results",
    ];
    const ran = await runCli(["verify", `${SUITES}/notes`, "--filter", "partial-results", "--", ...stand]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
  });

  it.each(["unix", "tcp", "ws", "http"])("stands in for a whole suite over %s, a case a connection", async (kind) => {
    const address = kind === "unix" ? `unix:${join(folder, "play.sock")}` : `${kind}://127.0.0.1:0`;
    const child = startCli(["play", `${SUITES}/notes`, "--listen", address]);
    const listening = await new Promise<string>((done) =>
      child.stdout?.once("data", (chunk: Buffer) => done(chunk.toString())),
    );
    const target = /^Listening on (\S+)\n$/.exec(listening)?.[1] ?? "";
    const ran = await runCli(["verify", `${SUITES}/notes`, "--target", target, "--reporter", "json"]);
    const { verdicts, passed } = JSON.parse(ran.stdout);
    expect(verdicts.flatMap((verdict: { differences: unknown[] }) => verdict.differences)).toEqual([]);
    expect([ran.code, passed]).toEqual([0, 12]);
    child.kill("SIGTERM");
    expect(await new Promise((done) => child.on("exit", done))).toBe(0);
  });

  it("refuses what was not recorded, and exits 1; 2 when nothing was asked", async () => {
    const play = ["play", `${SUITES}/notes`, "--case", "handshake"];
    const refused = await runCli(play, '{"jsonrpc":"2.0","id":4,"method":"source/refresh"}\n');
    expect(JSON.parse(refused.stdout)).toMatchObject({
      id: 4,
      error: { code: -32600, message: expect.stringContaining('the request "source/refresh" is not what comes next') },
    });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^handshake: refused\./)]);
    expect(await runCli(play)).toEqual({ code: 2, stdout: "", stderr: "handshake: nothing was asked.\n" });
    expect((await runCli(["play", `${SUITES}/notes`])).stderr).toMatch(
      /^stdio is one conversation: name its case with --case; there are cancelled-in-flight, /,
    );
  });
});

describe("stuntdouble record", () => {
  it("records the named cases of a suite, masked, and suggests what may be volatile", async () => {
    const suite = suiteOf("ranked-results", "refresh", "handshake");
    for (const name of ["ranked-results", "refresh"]) {
      const manifest = join(suite, name, "manifest.json");
      writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"responses": \d+/, '"responses": 99'));
      writeFileSync(join(suite, name, "response.jsonl"), "");
    }
    change(join(suite, "ranked-results", "manifest.json"), '"/result/checked_at"', "");
    const ran = await runCli(["record", suite, "ranked-results", "refresh", "--runs", "2", ...node]);
    expect([ran.code, ran.stdout]).toEqual([0, "ranked-results: recorded, 2 frames.\nrefresh: recorded, 2 frames.\n"]);
    expect(ran.stderr).toBe('ranked-results: /result/checked_at differed in a second run; list it in "volatile".\n');
    expect(readFileSync(join(suite, "refresh", "response.jsonl"), "utf8")).toBe(
      readFileSync(join(SUITES, "notes", "refresh", "response.jsonl"), "utf8"),
    );
    expect(readFileSync(join(suite, "refresh", "manifest.json"), "utf8")).toBe(
      readFileSync(join(SUITES, "notes", "refresh", "manifest.json"), "utf8"),
    );
    expect((await runCli(["record", suite, "none", ...node])).stderr).toContain(
      "there is no case none; there are handshake, ranked-results, refresh.",
    );
  });

  it("taps a conversation into a case that passes, with placeholders and volatile pointers in place", async () => {
    const suite = join(folder, "tapped");
    const workdir = temporaryFolder();
    const fixture = join(SUITES, "notes", "refresh", "fixture");
    const lines = [
      { jsonrpc: "2.0", id: "a", method: "source/initialize", params: { protocol: 1, fixture, workdir } },
      { jsonrpc: "2.0", id: "b", method: "source/refresh", params: { note: "$" + "{HOME} is text" } },
      { jsonrpc: "2.0", id: "c", method: "source/search", params: { query: "beans" } },
    ];
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const ran = await runCli(
      [
        "record",
        "--tap",
        suite,
        "--case",
        "session",
        "--fixture",
        fixture,
        "--workdir",
        workdir,
        "--runs",
        "2",
        ...node,
      ],
      input,
    );
    expect(ran.code).toBe(0);
    expect(ran.stdout.split("\n").map((line) => line && JSON.parse(line).id)).toEqual(["a", "b", "c", ""]);
    expect(ran.stderr).toContain("/result/checked_at differed in run 2 and is volatile now.");
    const read = (file: string) => readFileSync(join(suite, "session", file), "utf8");
    expect(JSON.parse(read("manifest.json"))).toMatchObject({
      case: "session",
      flow: "pipelined",
      volatile: ["/result/index", "/result/checked_at"],
      responses: 3,
      placeholders: { FIXTURE: expect.any(String), WORKDIR: expect.any(String) },
    });
    expect(read("request.jsonl")).toContain(`"fixture":"$${"{FIXTURE}"}","workdir":"$${"{WORKDIR}"}"`);
    expect(read("request.jsonl")).toContain('"\\u0024{HOME} is text"');
    expect(read("request.jsonl") + read("response.jsonl")).not.toContain(folder);
    expect((await runCli(["verify", suite, ...node])).code).toBe(0);
    const linted = await runCli(["lint", suite]);
    expect([linted.code, linted.stdout.match(/description" is still a blank/g)]).toEqual([
      1,
      ['description" is still a blank'],
    ]);
    expect((await runCli(["record", "--tap", suite, "--case", "session", ...node])).stderr).toMatch(
      /is there already; --force writes over it/,
    );
    expect((await runCli(["record", "--tap", suite, ...node])).stderr).toMatch(/^--tap needs --case NAME/);
    expect((await runCli(["record", "--tap", suite, "--case", "empty", ...node])).code).toBe(2);
    expect(existsSync(join(suite, "empty"))).toBe(false);
  });
});

describe("stuntdouble lint", () => {
  it("finds what a case should not hold, and shows no secret", async () => {
    const suite = suiteOf("refresh", "handshake");
    change(join(suite, "refresh", "manifest.json"), '"/result/index"', '"/result/index", "/result/nothing"');
    change(join(suite, "refresh", "manifest.json"), '"FIXTURE"', '"HOST": "a host",\n    "FIXTURE"');
    change(join(suite, "refresh", "manifest.json"), '"flow"', '"volatiles": [],\n  "flow"');
    const secret = `sk-${"a1B2".repeat(8)}`;
    change(
      join(suite, "refresh", "request.jsonl"),
      '"params":{}',
      `"params":{"key":"${secret}","log":"see /home/kim/x.log"}`,
    );
    change(join(suite, "refresh", "response.jsonl"), '"<volatile>"', '"/tmp/abc"');
    const ran = await runCli(["lint", suite]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).not.toContain(secret);
    expect(
      ran.stdout
        .replaceAll(`${suite}/refresh/`, "")
        .split("\n")
        .filter((line) => line.includes("note"))
        .map((line) => line.trim()),
    ).toEqual([
      "note manifest.json: the placeholder HOST is never used in request.jsonl.",
      'note manifest.json: the volatile pointer "/result/nothing" matches nothing in any response.',
      expect.stringMatching(/^note manifest\.json: the member "volatiles" is not known/),
      "note response.jsonl:2: the volatile value at /result/index is not masked; record the case again.",
      "note request.jsonl:2: /params/key holds what looks like a secret (openai-key).",
      "note request.jsonl:2: /params/log holds a path of someone's machine (/home/kim/x.log).",
      "note response.jsonl:2: /result/index holds a path of someone's machine (/tmp/abc).",
    ]);
    expect((await runCli(["lint", `${SUITES}/mail`])).code).toBe(0);
    writeFileSync(join(suite, "handshake", "manifest.json"), "{}");
    expect((await runCli(["lint", suite, "--reporter", "github"])).stdout).toContain(
      '"description" has to say which behaviour',
    );
  });
});
