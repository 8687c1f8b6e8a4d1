import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bind, tokenOf } from "./bind.ts";
import { SuiteError } from "./errors.ts";
import { holdsTranscripts, load, loadSuite } from "./load.ts";
import { planOf } from "./plan.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "stuntdouble-load-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const MANIFEST = {
  case: "one",
  description: "it answers",
  flow: "lockstep",
  placeholders: {},
  volatile: [],
  responses: 1,
};
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"a"}\n';
const RESPONSE = '{"jsonrpc":"2.0","id":1,"result":1}\n';

function write(
  files: { manifest?: string | Buffer | object; request?: string | Buffer; response?: string | Buffer | null },
  name = "one",
): string {
  const dir = join(root, name);
  mkdirSync(dir, { recursive: true });
  const manifest = files.manifest ?? {};
  const text =
    typeof manifest === "string" || Buffer.isBuffer(manifest)
      ? manifest
      : JSON.stringify({ ...MANIFEST, case: name, ...manifest });
  writeFileSync(join(dir, "manifest.json"), text);
  writeFileSync(join(dir, "request.jsonl"), files.request ?? REQUEST);
  if (files.response !== null) writeFileSync(join(dir, "response.jsonl"), files.response ?? RESPONSE);
  return dir;
}

/** What is wrong, without the folder. */
async function faults(run: () => unknown): Promise<string[]> {
  try {
    await run();
    return [];
  } catch (error) {
    if (!(error instanceof SuiteError)) throw error;
    return error.message.split("\n").map((line) => line.replaceAll(`${root}/`, ""));
  }
}

describe("load", () => {
  it("keeps lines as they are written, U+2028 and all", async () => {
    const request = '{ "id": 1.0,"method":"a", "params":{"t":"\u2028"} }\r\n\n';
    const transcript = await load(write({ request, response: '{"id":1,"result":"x"}' }));
    expect(transcript.requests).toEqual(['{ "id": 1.0,"method":"a", "params":{"t":"\u2028"} }\r']);
    expect(transcript.manifest).toMatchObject({
      order: "recorded",
      serverRequests: false,
      framing: "lines",
      unanswered: [],
    });
  });

  it.each<[string, Parameters<typeof write>[0], RegExp]>([
    ["a manifest that is no JSON", { manifest: "{" }, /^one\/manifest\.json: it is no JSON/],
    ["a manifest that is no object", { manifest: "[]" }, /^one\/manifest\.json: the manifest is no JSON object/],
    ["a manifest that is no UTF-8", { manifest: Buffer.from([0xff]) }, /^one\/manifest\.json: it is no UTF-8/],
    [
      "another case's name",
      { manifest: { case: "two" } },
      /^one\/manifest\.json: "case" has to be the folder's name, "one"; it is "two"\./,
    ],
    ["no name", { manifest: { case: undefined } }, /"case" .* it is missing/],
    ["an empty description", { manifest: { description: " " } }, /"description" has to say/],
    [
      "an unknown flow",
      { manifest: { flow: "whenever" } },
      /"flow" has to be "lockstep" .*; it is "whenever"\. An unknown flow is not replayed on a guess/,
    ],
    ["a count that disagrees", { manifest: { responses: 2 } }, /"responses" says 2, and response\.jsonl holds 1\./],
    ["a count that is none", { manifest: { responses: "1" } }, /"responses" has to be the number of frames/],
    ["a pointer that is none", { manifest: { volatile: ["result"] } }, /"volatile": "result" is no JSON Pointer/],
    ["placeholders that are no text", { manifest: { placeholders: { A: 1 } } }, /"placeholders" has to map/],
    ["an unknown order", { manifest: { order: "some" } }, /"order" has to be "recorded" or "any"; it is "some"/],
    ["an unknown framing", { manifest: { framing: "morse" } }, /"framing" has to be/],
    ["a missing file", { response: null }, /^one\/response\.jsonl: the file is missing\.$/],
    [
      "a request line that is no JSON",
      { request: `${REQUEST}{oops\n` },
      /^one\/request\.jsonl:2: this is no JSON-RPC message: it is no JSON/,
    ],
    [
      "a frame that is no JSON",
      { response: "oops\n" },
      /^one\/response\.jsonl:1: this is no JSON-RPC message: it is no JSON/,
    ],
    [
      "an empty request file",
      { request: "", response: "", manifest: { responses: 0 } },
      /^one\/request\.jsonl: there is no request in it/,
    ],
    [
      "an answer that nobody asked for",
      { response: '{"id":"1","result":1}\n' },
      /^one\/response\.jsonl:1: this answers the id "1", and no request asked for that/,
    ],
    [
      "a second answer",
      { response: RESPONSE + RESPONSE, manifest: { responses: 2 } },
      /^one\/response\.jsonl:2: this answers the id 1, and no request/,
    ],
    [
      "a token that stands for nothing",
      { request: `{"id":1,"method":"a","params":"${tokenOf("HOME")}"}` },
      /^one\/request\.jsonl:1: \$\{HOME\} stands for nothing/,
    ],
    [
      "a request from the adapter",
      { response: '{"id":7,"method":"ask"}\n' },
      /^one\/response\.jsonl:1: the adapter asks a request here \(ask\); say "serverRequests": true/,
    ],
    [
      "an answer to the adapter",
      { request: '{"id":7,"result":1}\n', response: "", manifest: { responses: 0 } },
      /^one\/request\.jsonl:1: this line answers the adapter, which asks nothing/,
    ],
  ])("refuses %s", async (_, files, message) => {
    const dir = write(files);
    const found = await faults(() => load(dir));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  it("tells all that is wrong with a suite at once, in name order", async () => {
    write({ manifest: { flow: "x", responses: 7 } }, "a");
    write({ response: null }, "b");
    write({}, "c");
    expect((await faults(() => loadSuite(root))).map((line) => line.split(":")[0])).toEqual([
      "a/manifest.json",
      "b/response.jsonl",
    ]);
  });

  it("refuses a suite without a case, a folder that is not there, and a file", async () => {
    expect(await faults(() => loadSuite(root))).toEqual([expect.stringContaining("there is no case here")]);
    expect(await faults(() => loadSuite(join(root, "none")))).toEqual(["none: the suite folder is missing."]);
    writeFileSync(join(root, "file"), "");
    expect(await faults(() => loadSuite(join(root, "file")))).toEqual([expect.stringContaining("it is no folder")]);
  });

  it("gives cases in name order, and takes a case for a suite of one", async () => {
    for (const name of ["b", "a-2", "a"]) write({}, name);
    expect((await loadSuite(root)).map((transcript) => transcript.manifest.case)).toEqual(["a", "a-2", "b"]);
    expect((await loadSuite(join(root, "b"))).map((transcript) => transcript.manifest.case)).toEqual(["b"]);
    expect([
      await holdsTranscripts(root),
      await holdsTranscripts(join(root, "a")),
      await holdsTranscripts(tmpdir()),
    ]).toEqual([true, true, false]);
  });
});

describe("planOf", () => {
  it("refuses a request without an answer, unless the manifest says that none is right", async () => {
    const request = `${REQUEST}{"id":2,"method":"b"}\n`;
    const transcript = await load(write({ request }));
    expect(await faults(() => planOf(transcript))).toEqual([
      expect.stringMatching(/^one\/request\.jsonl:2: the request 2 \(b\) has no answer in response\.jsonl/),
    ]);
    const excused = await load(write({ request, manifest: { unanswered: [2] } }));
    expect(planOf(excused).lines.map((line) => line.awaited.length)).toEqual([1, 0]);
  });
});

describe("bind", () => {
  const transcript = async (request: string) => load(write({ request }));
  const fixture = tokenOf("FIXTURE");
  const workdir = tokenOf("WORKDIR");

  it("replaces as text before anything is parsed, and escapes as JSON needs", async () => {
    const loaded = await transcript(`{"id":1,"method":"a","params":["${fixture}/x","${workdir}","\\u0024{HOME}"]}`);
    const path = fc
      .string({ unit: "binary", minLength: 1 })
      .map((text) => `/${text.replaceAll("\0", "").replace(/\p{Surrogate}/gu, "")}`);
    fc.assert(
      fc.property(path, path, (a, b) => {
        const [line = ""] = bind(loaded, { fixture: a, workdir: b });
        expect(JSON.parse(line).params).toEqual([`${a}/x`, b, tokenOf("HOME")]);
      }),
    );
  });

  it("does not replace again in what it has put in, and changes no other byte", async () => {
    const loaded = await transcript(`{ "id":1.0,"method" : "a","params":"${fixture}" }`);
    expect(bind(loaded, { fixture: `/${workdir}`, workdir: "/w" })).toEqual([
      `{ "id":1.0,"method" : "a","params":"/${workdir}" }`,
    ]);
  });

  it("refuses a token that is left, and a path that is not absolute", async () => {
    const loaded = await transcript(REQUEST);
    const broken = { ...loaded, requests: [`{"x":"${tokenOf("Workdir")}"}`] };
    expect(await faults(() => bind(broken, { fixture: "/f", workdir: "/w" }))).toEqual([
      expect.stringContaining(`${tokenOf("Workdir")} stands for nothing`),
    ]);
    expect(() => bind(loaded, { fixture: "f", workdir: "/w" })).toThrow(
      'The binding fixture has to be an absolute path; it is "f".',
    );
  });
});
