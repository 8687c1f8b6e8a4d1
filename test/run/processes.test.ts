import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, test } from "vitest";
import { livingProcesses } from "../../src/transport/process-group.ts";
import { COMMAND, environment, newFolder, stuntdouble } from "./support.ts";

const EMPTY = ["replay", "--allow-empty"];
/** Says that it is there, and which signals it gets; ends with 9 by a SIGTERM. */
const LISTENER = `
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
  process.on(signal, () => { console.log(signal); if (signal === "SIGTERM") process.exit(9); });
setInterval(() => {}, 1000);
console.log("ready");
`;
const isAlive = (pid: number): boolean => livingProcesses().some((found) => found.pid === pid);

describe("exit codes", () => {
  it.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
  ])("%s is %i", async (script, expected) => {
    const { code } = await stuntdouble([...EMPTY, "--", "sh", "-c", script], { cwd: newFolder() }).ended();
    expect(code).toBe(expected);
  });

  it("is 1 where no call came, unless that is allowed", async () => {
    const { code, errors, output } = await stuntdouble(["replay", "--", "echo", "said"], { cwd: newFolder() }).ended();
    expect({ code, output }).toEqual({ code: 1, output: "said\n" });
    expect(errors).toContain("No call came.");
  });

  it("is the command's where a call was missed besides", async () => {
    const miss = 'curl -s "$ANTHROPIC_BASE_URL/v1/messages" -d "{}" > reply';
    const options = { cwd: newFolder() };
    const ended = async (script: string, ...flags: string[]): Promise<number | null> =>
      (await stuntdouble(["replay", ...flags, "--", "sh", "-c", script], options).ended()).code;
    expect(await ended(miss)).toBe(1);
    expect(await ended(miss, "--allow-miss")).toBe(0);
    expect(await ended(`${miss}; exit 5`)).toBe(5);
  });

  it("are a shell's for what cannot be run", async () => {
    const folder = newFolder();
    const file = join(folder, "not-executable");
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o644);
    const missing = await stuntdouble([...EMPTY, "--", "no-such-command-here"], { cwd: folder }).ended();
    expect(missing).toMatchObject({ code: 127, output: "" });
    expect(missing.errors).toBe(
      'The command "no-such-command-here" could not be started: it was not found on the PATH.\n',
    );
    const forbidden = await stuntdouble([...EMPTY, "--", file], { cwd: folder }).ended();
    expect(forbidden.code).toBe(126);
    expect(forbidden.errors).toContain("may not be executed (chmod +x)");
    const below = await stuntdouble([...EMPTY, "--", join(file, "below")], { cwd: folder }).ended();
    expect(below).toMatchObject({
      code: 127,
      errors: expect.stringMatching(/^The command .* could not be started: .*ENOTDIR\.\n$/),
    });
    const empty = await stuntdouble([...EMPTY, "--", ""], { cwd: folder }).ended();
    expect(empty).toMatchObject({
      code: 127,
      errors: expect.stringMatching(/^The command "" could not be started: .*\n$/),
    });
  });

  it("is the command's where nobody reads what the run says", async () => {
    const run = stuntdouble([...EMPTY, "--", "sh", "-c", "read line; exit 6"], { cwd: newFolder() });
    run.stderr!.destroy();
    run.stdin!.end("go\n");
    expect((await run.ended()).code).toBe(6);
  });

  it.each([
    [["replay"], "needs a command"],
    [["auto", "true"], "Put -- before the command: stuntdouble auto -- true …"],
    [["record", "--scenario", "s"], "needs a command"],
    [["record"], "record needs a command after --, a suite, or --tap"],
    [["record", "--scenario", "s", "suite", "--", "true"], "--scenario goes with stuntdouble record -- COMMAND only."],
    [["record", "--case", "c", "--", "true"], "--case goes with stuntdouble record <suite> only."],
    [["replay", "--report", "run.txt", "--", "true"], "ends with .html or .json"],
    [["replay", "--scenario", "", "--", "true"], "--scenario needs a name"],
    [["replay", "--offline", "--online", "--", "true"], "--offline and --online exclude one another."],
    [["record", "--allow-host", "h", "--", "true"], "--allow-host goes with replay"],
    [["replay", "--allow-command", "c", "--", "true"], "--allow-command goes with --offline."],
    [["replay", "--allow-host", "a b", "--", "true"], "--allow-host: "],
    [["record", "--sandbox", "--", "true"], "--sandbox cuts off the providers too"],
    [["replay", "--prices", "nowhere.json", "--", "true"], "nowhere.json cannot be read as JSON"],
    [["replay", "--watch", "nowhere", "--", "true"], "--watch nowhere: there is no such file or folder."],
    [["env", "--url", "nowhere"], "expected one that begins with http:// or https://"],
  ])("%j is 2", async (args, message) => {
    const { code, errors } = await stuntdouble(args, { cwd: newFolder() }).ended();
    expect({ code, errors }).toEqual({ code: 2, errors: expect.stringContaining(message) });
  });
});

test("a report that cannot be written fails a run, and hides no exit code of the command", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "taken"), "");
  for (const [ending, code] of [
    [0, 1],
    [7, 7],
  ] as const) {
    const run = stuntdouble([...EMPTY, "--report", "taken/run.html", "--", "sh", "-c", `exit ${ending}`], { cwd });
    expect(await run.ended()).toMatchObject({
      code,
      errors: expect.stringContaining("The report taken/run.html could not be written: "),
    });
  }
});

describe("signals", () => {
  it("go to the command, whose exit code counts", async () => {
    const run = stuntdouble([...EMPTY, "--", process.execPath, "-e", LISTENER], { cwd: newFolder() });
    await run.says("ready");
    for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTERM"] as const) {
      run.kill(signal);
      await run.says(signal);
    }
    expect(await run.ended()).toMatchObject({
      code: 9,
      output: "ready\nSIGINT\nSIGHUP\nSIGQUIT\nSIGUSR1\nSIGUSR2\nSIGTERM\n",
    });
    expect(run.errors()).toContain("0 calls");
  });

  it("end a command that does not listen", async () => {
    const run = stuntdouble([...EMPTY, "--", "sh", "-c", "echo ready; exec sleep 1000"], { cwd: newFolder() });
    await run.says("ready");
    run.kill("SIGINT");
    expect((await run.ended()).code).toBe(130);
  });
});

describe("what a command leaves behind", () => {
  it("is ended with it: children, their children, and those that left its group", async () => {
    const folder = newFolder();
    const script = `sh -c 'sleep 1000 & echo $! > child; wait' &
      setsid sh -c 'trap "" TERM; echo $$ > stubborn; while :; do sleep 1000; done' &
      for file in child stubborn; do until [ -s $file ]; do sleep 0.01; done; cat $file; done`;
    const args = [...EMPTY, "--stop-grace", "50ms", "--", "sh", "-c", script];
    const { code, output, errors } = await stuntdouble(args, { cwd: folder }).ended();
    expect(code).toBe(0);
    const pids = output
      .split("\n")
      .filter((line) => /^\d+$/.test(line))
      .map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(errors).toMatch(/The command left sleep \(\d+\) behind, which was ended\./);
    expect(errors).toMatch(/The command left sh \(\d+\) behind, which was ended\./);
  });

  it("holds on to no port, neither its own nor ours", async () => {
    const folder = newFolder();
    const server = `
      const { createServer, connect } = require("node:net");
      const { port } = new URL(process.env.STUNTDOUBLE_URL);
      const ours = connect(Number(port), "127.0.0.1", () => {
        const own = createServer().listen(0, "127.0.0.1", () => {
          require("node:fs").writeFileSync("ports", own.address().port + " " + port);
        });
      });
      ours.on("error", () => {});`;
    writeFileSync(join(folder, "server.cjs"), server);
    const script = `"${process.execPath}" server.cjs & while [ ! -s ports ]; do :; done`;
    const { code } = await stuntdouble([...EMPTY, "--", "sh", "-c", script], { cwd: folder }).ended();
    expect(code).toBe(0);
    for (const port of readFileSync(join(folder, "ports"), "utf8").split(" ")) {
      const again: Server = createServer().listen(Number(port), "127.0.0.1");
      await once(again, "listening");
      again.close();
    }
  });
});

describe("in a terminal", () => {
  const run = promisify(execFile);
  const driver = new URL("terminal.py", import.meta.url).pathname;
  const inTerminal = async (steps: [string, string][], ...command: string[]) => {
    const args = [driver, JSON.stringify(steps), process.execPath, COMMAND, ...EMPTY, "--", ...command];
    const { stdout } = await run("python3", args, { cwd: newFolder(), env: environment() });
    return JSON.parse(stdout) as { code: number; shown: string; left: unknown[] };
  };

  it("a program reads from it and writes to it", async () => {
    const program = `
import sys
print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
print("hello", input("name? "))
sys.exit(3)`;
    const { code, shown, left } = await inTerminal([["name? ", "Ada\n"]], "python3", "-c", program);
    expect({ code, left }).toEqual({ code: 3, left: [] });
    expect(shown).toContain("True True True");
    expect(shown).toContain("hello Ada");
  });

  it("Ctrl-C reaches the program once, and it decides", async () => {
    const program = `
import time
count = 0
while True:
    try:
        print("ready", flush=True)
        time.sleep(1000)
    except KeyboardInterrupt:
        count += 1
        try:
            input("got %d, enough? " % count)
            raise SystemExit(20 + count)
        except KeyboardInterrupt:
            raise SystemExit(99)`;
    const steps: [string, string][] = [
      ["ready", "\u0003"],
      ["enough? ", "\n"],
    ];
    const { code, shown, left } = await inTerminal(steps, "python3", "-c", program);
    expect({ code, left }).toEqual({ code: 21, left: [] });
    expect(shown).toContain("got 1");
  });

  it("what is left behind is ended there too", async () => {
    const { code, shown } = await inTerminal([], "sh", "-c", "sleep 1000 & echo pid=$!");
    expect(code).toBe(0);
    expect(isAlive(Number(/pid=(\d+)/.exec(shown)![1]))).toBe(false);
  });
});

describe("--watch", () => {
  it("runs again when a file changes, in the middle of a run too, until it is told to end", async () => {
    const folder = newFolder();
    const file = join(folder, "program.js");
    const program = (text: string, after: string): string => `console.log(${JSON.stringify(text)}); ${after}`;
    writeFileSync(file, program("one", ""));
    const run = stuntdouble([...EMPTY, "--watch", "--", process.execPath, file], { cwd: folder });
    await run.says("one");
    await run.tells("Waiting for changes");
    writeFileSync(file, program("two", "setInterval(() => {}, 1000)"));
    await run.says("two");
    writeFileSync(file, program("three", "setInterval(() => {}, 1000)"));
    await run.says("three");
    run.kill("SIGTERM");
    const { code, errors } = await run.ended();
    expect(code).toBe(143);
    expect(errors.match(/stuntdouble replay auto: 0 calls/g)).toHaveLength(3);
  });
});

describe("stuntdouble env", () => {
  const printed = async (...flags: string[]): Promise<string> => {
    const { code, output } = await stuntdouble(["env", "--scenario", "it's", ...flags]).ended();
    expect(code).toBe(0);
    return output;
  };
  const OPENAI = "http://127.0.0.1:4010/@it's/v1";

  it("prints what a shell, dotenv, JSON and GitHub read", async () => {
    const asked = ["-c", 'eval "$1"; printf "%s" "$OPENAI_BASE_URL"', "sh", await printed()];
    expect(spawnSync("sh", asked, { encoding: "utf8" }).stdout).toBe(OPENAI);
    expect(JSON.parse(await printed("--format", "json"))).toMatchObject({
      OPENAI_BASE_URL: OPENAI,
      STUNTDOUBLE_URL: "http://127.0.0.1:4010/@it's",
    });
    expect(await printed("--format", "dotenv")).toContain(`OPENAI_BASE_URL="${OPENAI}"\n`);
    expect(await printed("--format", "github")).toContain(`OPENAI_BASE_URL=${OPENAI}\n`);
    expect(await printed("--format", "github", "--url", "https://double.test/x/")).toContain(
      "GROQ_BASE_URL=https://double.test/x/@it's/groq\n",
    );
  });
});
