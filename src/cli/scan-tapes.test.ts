import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tokenOf } from "../conformance/bind.ts";
import { recordedReply, responseHash } from "../fixtures/recording.ts";
import { encodeSse } from "../wire/sse.ts";
import type { ScanFlags } from "./flags.ts";
import { scan } from "./scan-tapes.ts";

const ADDRESS = ["ada.lovelace", "example.com"].join("@");
const KEY = `sk-${"ant"}-api03-${"a1B2c3D4".repeat(5)}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-scan-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return path;
}

async function run(flags: ScanFlags = {}, ...paths: string[]): Promise<{ code: number; output: string }> {
  let output = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    output += text;
    return true;
  });
  const code = await scan(paths.length > 0 ? paths : [folder], flags);
  vi.restoreAllMocks();
  return { code, output };
}

describe("scan", () => {
  it("sees a secret that is split over a cassette's timeline, its raw chunks and its body", async () => {
    const [first, second, third] = [KEY.slice(0, 9), KEY.slice(9, 20), KEY.slice(20)];
    const pieces = [first!, second!, third!];
    const path = file("cassettes/shop/01_x.json", {
      scenario: "shop",
      traces: {
        a: {
          response_timeline: pieces.map((chunk) => ({ delta_ms: 1, chunk })),
          raw_payload: { stream_chunks: pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] })) },
          stuntdouble: { http: { status: 200, headers: { "content-type": "text/plain" }, body: pieces } },
        },
        b: {
          response_timeline: pieces.map((input) => ({
            delta_ms: 1,
            chunk: "",
            tool_calls: [{ id: "call_1", type: "function", function: { name: "note", arguments: input } }],
          })),
        },
      },
    });
    const found = await run({ json: true });
    expect(found.code).toBe(1);
    expect(JSON.parse(found.output).secrets).toHaveLength(4);
    expect((await run({ fix: true })).code).toBe(0);
    const text = readFileSync(path, "utf8");
    for (const piece of pieces) expect(text).not.toContain(piece);
    const { a, b } = JSON.parse(text).traces;
    const replacement = ["«anthropic-key:1»", "", ""];
    expect(a.response_timeline.map(({ chunk }: { chunk: string }) => chunk)).toEqual(replacement);
    expect(a.stuntdouble.http.body).toEqual(replacement);
    expect(a.raw_payload.stream_chunks[0].choices[0].delta.content).toBe(replacement[0]);
    expect(b.response_timeline[0].tool_calls[0].function.arguments).toBe(replacement[0]);
    expect((await run()).code).toBe(0);
  });

  it("finds nothing in clean tapes, and leaves them", async () => {
    const path = file("greeting.json", {
      fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi!" } }],
    });
    const before = readFileSync(path, "utf8");
    expect(await run({ fix: true })).toEqual({ code: 0, output: "0 secrets in 1 file.\n" });
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("says what and where, never the secret; --fix replaces it and nothing else", async () => {
    const path = file("mail.json", { fixtures: [{ match: {}, response: { content: `Write to ${ADDRESS}` } }] });
    const before = readFileSync(path, "utf8");
    const found = await run();
    expect(found.code).toBe(1);
    expect(found.output).toBe(
      `${path}:6 /fixtures/0/response/content: email\n1 secret in 1 file; --fix replaces them.\n`,
    );
    expect(readFileSync(path, "utf8")).toBe(before);
    const fixed = await run({ fix: true });
    expect(fixed.code).toBe(0);
    expect(fixed.output).toContain("email, now «email:1»");
    expect(readFileSync(path, "utf8")).toBe(before.replace(ADDRESS, "«email:1»"));
    expect((await run()).code).toBe(0);
  });

  it("sees through the chunks of a recorded stream, whose recording still counts", async () => {
    const pieces = ["Write to ada.love", "lace@exam", "ple.com now"];
    const response = { content: pieces.join("") };
    const body = pieces.map((content) => encodeSse(JSON.stringify({ choices: [{ index: 0, delta: { content } }] })));
    const recording = {
      recordedAt: "2026-01-01T00:00:00.000Z",
      form: "stream",
      responseHash: responseHash(response),
      reply: { headers: { "content-type": "text/event-stream" }, body },
    };
    const path = file("recorded.json", { fixtures: [{ match: {}, response, recording }] });
    expect((await run({ fix: true })).code).toBe(0);
    const fixture = JSON.parse(readFileSync(path, "utf8")).fixtures[0];
    expect(fixture.response.content).toBe("Write to «email:1» now");
    expect(recordedReply(fixture)?.body).toEqual(
      ["Write to «email:1»", "", " now"].map((content) =>
        encodeSse(JSON.stringify({ choices: [{ index: 0, delta: { content } }] })),
      ),
    );
  });

  it("replaces the same secret by the same in all files of a transcript", async () => {
    file("case/manifest.json", { case: "case", description: "of Ada", flow: "lockstep", responses: 1 });
    const request = file("case/request.jsonl", `{"id":1,"to":"bob@example.com"}\n{"id":2,"to":"${ADDRESS}"}\n`);
    const response = file("case/response.jsonl", `{"id":1,"result":"${ADDRESS}"}\n`);
    const { code, output } = await run({ json: true, fix: true });
    expect(code).toBe(0);
    expect(JSON.parse(output)).toEqual({
      files: 3,
      written: 2,
      stale: [],
      secrets: [
        { file: request, line: 1, pointer: "/to", detector: "email", replacement: "«email:1»" },
        { file: request, line: 2, pointer: "/to", detector: "email", replacement: "«email:2»" },
        { file: response, line: 1, pointer: "/result", detector: "email", replacement: "«email:2»" },
      ],
    });
    expect(readFileSync(response, "utf8")).toBe('{"id":1,"result":"«email:2»"}\n');
  });

  it("reads comments and YAML", async () => {
    const jsonc = file("a.jsonc", `{ // by ${ADDRESS}\n "fixtures": [] }`);
    const yaml = file("b.yaml", `fixtures:\n  - match: {}\n    response: { content: "key ${KEY}" }\n`);
    expect((await run()).output).toBe(
      `${jsonc}:1: email\n${yaml}:3 /fixtures/0/response/content: anthropic-key\n2 secrets in 2 files; --fix replaces them.\n`,
    );
    expect((await run({ fix: true })).code).toBe(0);
    expect(readFileSync(jsonc, "utf8")).toBe('{ // by «email:1»\n "fixtures": [] }');
    expect(readFileSync(yaml, "utf8")).toContain('"key «anthropic-key:1»"');
  });

  it("says which recordings are found no more, since they were made with other redaction", async () => {
    const match = { userMessage: `Write to ${ADDRESS}`, fingerprint: "0123456789abcdef" };
    const path = file("recorded.json", { fixtures: [{ match, response: { content: "Done." } }] });
    const again = `${path}:4 /fixtures/0/match: recorded with other redaction; record it again.\n`;
    expect((await run()).output).toContain(again);
    expect((await run({ fix: true })).output).toContain(again);
    expect(JSON.parse((await run({ json: true })).output).stale).toEqual([]);
  });

  it("reports names of files, which it does not show, and does not rename", async () => {
    const secrets = { match: { userMessage: ADDRESS }, response: { content: KEY } };
    const named = file("shop/01-write-to-ada-lovelace-example-com-3fa2b1c0.json", { fixtures: [secrets] });
    const cut = file("shop/02-write-to-ada-lovelace-exam-3fa2b1c1-2.json", { fixtures: [secrets] });
    const open = file(`${KEY}.yaml`, "fixtures: []\n");
    file("shop/03-ada-lovelace-3fa2b1c2.json", { fixtures: [{ match: {}, response: { content: "lovelace" } }] });
    const { code, output } = await run({ fix: true });
    expect(code).toBe(1);
    expect(output.split("\n").filter((line) => line.includes("name"))).toEqual([
      `${folder}/shop/01-write-to-«email:1»-3fa2b1c0.json: email in its name. Rename it.`,
      `${folder}/shop/02-write-to-«email:1»-3fa2b1c1-2.json: email in its name. Rename it.`,
      `${folder}/«anthropic-key:1».yaml: anthropic-key in its name. Rename it.`,
    ]);
    expect(output).not.toMatch(/ada-lovelace-ex|api03/);
    for (const path of [named, cut, open]) expect(readFileSync(path, "utf8")).toContain("fixtures");
    const { secrets: listed } = JSON.parse((await run({ json: true }, open)).output);
    expect(listed).toEqual([{ file: `${folder}/«anthropic-key:1».yaml`, detector: "anthropic-key" }]);
  });

  it("leaves the placeholders of transcripts and contracts", async () => {
    const call = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "login", params });
    file("case/manifest.json", { case: "case", description: "x", flow: "lockstep", responses: 1 });
    file(
      "case/request.jsonl",
      `${JSON.stringify(call({ password: tokenOf("WORKDIR"), authorization: `Bearer ${tokenOf("NOTES_TOKEN")}` }))}\n`,
    );
    file("case/response.jsonl", '{"id":1,"result":{"password":"<volatile>"}}\n');
    file("contracts/contract.json", {
      authentication: { headers: { authorization: `Bearer ${tokenOf("NOTES_TOKEN")}` } },
    });
    file("contracts/login.json", {
      name: "login",
      request: call({ password: tokenOf("NOTES_PASSWORD") }),
      response: {
        jsonrpc: "2.0",
        id: 1,
        result: { access_token: "$opaque", client_secret: "$any", refresh_token: "$pin" },
      },
    });
    expect((await run({ fix: true })).output).toBe("0 secrets in 5 files.\n");
    // What is beside a placeholder, or looks like one where there are none, is still a secret.
    file("contracts/other.json", { request: call({ password: `${tokenOf("USER")}hunter2`, api_key: "$$opaque" }) });
    file("fixture.json", {
      fixtures: [{ match: {}, response: { toolCalls: [{ name: "x", arguments: { password: "$ecret" } }] } }],
    });
    expect(JSON.parse((await run({ json: true })).output).secrets).toMatchObject([
      { pointer: "/request/params/password" },
      { pointer: "/request/params/api_key" },
      { pointer: "/fixtures/0/response/toolCalls/0/arguments/password" },
    ]);
  });

  it("does not touch a file in which a field that must stay whole holds a secret", async () => {
    const path = file("signed.json", {
      fixtures: [
        { match: { userMessage: ADDRESS }, response: { content: "x", reasoning: "y", reasoningSignature: KEY } },
      ],
    });
    const before = readFileSync(path, "utf8");
    const { code, output } = await run({ fix: true });
    expect(code).toBe(1);
    expect(output).toContain(
      `${path}:10 /fixtures/0/response/reasoningSignature: anthropic-key; its file cannot be changed`,
    );
    expect(output).not.toContain(KEY);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("turns detectors on and off", async () => {
    file("host.json", { fixtures: [{ match: {}, response: { content: `192.168.7.3 and ${ADDRESS}` } }] });
    expect((await run({ skip: ["email"] })).code).toBe(0);
    expect((await run({ skip: ["email"], detect: ["ip-address"] })).output).toContain("ip-address");
    await expect(run({ skip: ["mail"] })).rejects.toThrow(/There is no detector "mail"/);
  });

  it("refuses what it cannot use", async () => {
    await expect(run({}, join(folder, "none"))).rejects.toThrow(/none: there is no such file or folder/);
    await expect(run()).rejects.toThrow(/there is no tape here/);
    writeFileSync(join(folder, "broken.json"), Buffer.from([0xff, 0x00]));
    await expect(run()).rejects.toThrow(/it is no UTF-8/);
  });
});
