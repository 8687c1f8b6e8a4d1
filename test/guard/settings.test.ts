import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { GuardError, StuntDouble } from "../../src/index.ts";
import { chat, folder, post, started } from "../relay/support.ts";

const COMMAND = new URL("../../dist/cli/main.js", import.meta.url).pathname;
const PATH = "/v1/chat/completions";

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

function serve(...flags: string[]): { child: ChildProcess; said: () => string } {
  const child = spawn(process.execPath, [COMMAND, "serve", "-p", "0", ...flags], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  running.push(child);
  let said = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => {
      said += text;
    });
  }
  return { child, said: () => said };
}

async function served({ child, said }: ReturnType<typeof serve>): Promise<string> {
  for (;;) {
    const found = /on (http:\S+)/.exec(said());
    if (found !== null) return found[1]!;
    await Promise.race([
      once(child.stderr!, "data"),
      once(child, "close").then(() => Promise.reject(new Error(said()))),
    ]);
  }
}

/** A file with some JSON, for one test. */
function file(value: unknown, name = "guard.json"): string {
  const path = join(folder(), name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

const talk = { fixtures: [{ match: {}, response: { content: "One two three four five six seven eight nine ten." } }] };

describe("the command", () => {
  it("blocks and limits as its flags and its file say", async () => {
    const guard = file({ rules: [{ name: "mine", action: "block", words: ["falcon"] }] });
    const flags = [
      "--guard",
      guard,
      "--block",
      "personal",
      "--limit",
      "outputCharacters=20",
      "--limit",
      "run.toolCalls=1",
    ];
    const url = await served(serve(file(talk, "talk.json"), ...flags));
    for (const [content, by] of [
      ["The Falcon flies.", /rule \\"mine\\"/],
      ["To ada@example.com.", /rule \\"--block\\"/],
      ["hello", /outputCharacters/],
    ] as const) {
      const response = await post(url + PATH, chat(content));
      expect([response.status, await response.text()]).toEqual([403, expect.stringMatching(by)]);
    }
  });

  it("takes the file from a configuration", async () => {
    const guard = file({ rules: [{ action: "block", words: ["falcon"] }] });
    const url = await served(serve(file(talk, "talk.json"), "--config", file({ guard }, "config.json")));
    expect((await post(url + PATH, chat("The Falcon flies."))).status).toBe(403);
    expect((await post(url + PATH, chat("hello"))).status).toBe(200);
  });

  it.each([
    [["--guard", "/nowhere/guard.json"], /--guard: \/nowhere\/guard.json cannot be read/],
    [["--block", "nothing-known"], /there is no detector and no family "nothing-known"/],
    [["--limit", "words=3"], /Expected one of outputTokens/],
    [["--limit", "run.idleSeconds=3"], /Expected one of outputTokens/],
  ])("refuses %s", async (flags, why) => {
    const { child, said } = serve(file(talk, "talk.json"), ...flags);
    const [code] = (await once(child, "close")) as [number];
    expect(code).not.toBe(0);
    expect(said()).toMatch(why);
  });

  it("refuses a file that is no guard", async () => {
    const { child, said } = serve("--guard", file({ rules: [{ action: "burn" }] }));
    expect((await once(child, "close"))[0]).toBe(2);
    expect(said()).toMatch(/guard\.json: This is no guard .* \/rules\/0\/action .*report, redact, block/);
  });
});

describe("the control API", () => {
  it("puts another guard in force, and that of the start again", async () => {
    const double = await started({ guard: { rules: [{ name: "first", action: "block", words: ["falcon"] }] } });
    double.on({}, { content: "Fine." });
    const status = async (content: string) => (await post(double.url + PATH, chat(content))).status;
    const control = async (method: string, body?: unknown) => {
      const response = await fetch(`${double.url}/__stuntdouble/guard`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
    };
    expect([await status("falcon"), await status("raven")]).toEqual([403, 200]);
    expect(await control("GET")).toEqual({
      status: 200,
      answer: {
        guard: {
          findings: [{ rule: "first", action: "block", detector: "word", direction: "request", count: 1 }],
          cuts: { guardrail: 1, breaker: 0 },
        },
      },
    });
    const refused = await control("POST", { rules: [{ action: "block", patterns: [{ name: "x", pattern: "(" }] }] });
    expect(refused).toMatchObject({
      status: 400,
      answer: { error: { message: expect.stringMatching(/not changed.*"x"/) } },
    });
    expect(await status("falcon")).toBe(403);
    expect((await control("POST", { rules: [{ action: "block", words: ["raven"] }] })).status).toBe(200);
    expect([await status("falcon"), await status("raven")]).toEqual([200, 403]);
    await control("DELETE");
    expect([await status("falcon"), await status("raven")]).toEqual([403, 200]);
  });
});

describe("a guard", () => {
  it("that cannot be used lets nothing pass, and keeps a double from starting", async () => {
    const options = { guard: { rules: [{ action: "block" as const, detectors: ["nothing-known"] }] } };
    await expect(StuntDouble.start(options)).rejects.toThrow(GuardError);
    const double = new StuntDouble(options).on({}, { content: "Fine." });
    const response = await post(`http://double${PATH}`, chat("hello"), {}, double.fetch);
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("nothing-known")]);
  });

  it("is relaxed by no header", async () => {
    const double = new StuntDouble({ strict: true, guard: { rules: [{ action: "block", words: ["falcon"] }] } });
    double.on({}, { content: "Fine." });
    for (const headers of [
      { "x-stuntdouble-strict": "false" } as Record<string, string>,
      { "x-stuntdouble-guard": "off" },
      { "content-type": "application/vnd.amazon.eventstream" },
      { "content-type": "multipart/form-data" },
      { "content-type": "image/png" },
      { "content-type": "application/x-www-form-urlencoded" },
    ]) {
      const response = await post(`http://double${PATH}`, chat("The falcon."), { headers }, double.fetch);
      expect([headers, response.status]).toEqual([headers, 403]);
    }
  });

  it("applies to the providers that it names", async () => {
    const double = new StuntDouble({
      guard: { rules: [{ action: "block", words: ["falcon"], providers: ["anthropic"] }] },
    });
    double.on({}, { content: "Fine." });
    expect((await post(`http://double${PATH}`, chat("falcon"), {}, double.fetch)).status).toBe(200);
    const claude = { ...chat("falcon"), max_tokens: 9 };
    expect((await post("http://double/v1/messages", claude, {}, double.fetch)).status).toBe(403);
  });

  it("looks at what no dialect reads, too", async () => {
    const double = new StuntDouble({ guard: { rules: [{ action: "block", words: ["falcon"] }] } });
    const send = (path: string, body: unknown) => post(`http://double${path}`, body, {}, double.fetch);
    expect((await send("/v1/files", { name: "falcon" })).status).toBe(403);
    expect((await send(PATH, { model: 1, note: "falcon" })).status).toBe(403);
    expect((await send("/v1/files", { name: "raven" })).status).not.toBe(403);
  });

  it("keeps signatures whole: what stands in one cannot be redacted, and is blocked", async () => {
    const double = new StuntDouble({ guard: { rules: [{ action: "redact", words: ["falcon"] }] } });
    double.on({}, { content: "Fine." });
    const thought = { type: "thinking", thinking: "Well", signature: "falcon" };
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [thought] },
      { role: "user", content: "so?" },
    ];
    const body = { model: "claude", max_tokens: 9, messages };
    expect((await post("http://double/v1/messages", body, {}, double.fetch)).status).toBe(403);
    expect(JSON.stringify(double.calls())).not.toContain("falcon");
  });
});
