import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadFixtures, StuntDouble } from "../../src/index.ts";
import { newFolder, type Run, stuntdouble } from "../run/support.ts";
import { chat, completion, folder, post, provider } from "./support.ts";

const PATH = "/v1/chat/completions";
const SAID = "TICKET-4711 of Project Falcon, from support@example.com to bob@example.com";
const WRITTEN = "TICKET-«ticket:1» of «word:1», from support@example.com to «email:1»";

const options = {
  words: ["project falcon"],
  patterns: [{ name: "ticket", pattern: "TICKET-(\\d+)" }],
  pointers: ["/metadata/tenant"],
  detectors: { phone: false },
  allow: ["support@example.com"],
};

const yaml = `
words: [project falcon]
patterns:
  - { name: ticket, pattern: TICKET-(\\d+) }
pointers: [/metadata/tenant]
detectors: { phone: false }
allow: [support@example.com]
`;

/** A file of these options, for one test. */
function file(): string {
  const path = join(newFolder(), "redact.yaml");
  writeFileSync(path, yaml);
  return path;
}

/** A configuration that says the same in itself, and one that names a file. */
function configuration(redact: unknown): string {
  const path = join(newFolder(), "aimock.json");
  writeFileSync(path, JSON.stringify({ redact }));
  return path;
}

/** Says again what it is told. */
const echo = (): Promise<string> =>
  provider((_, response, body) => {
    response.setHeader("content-type", "application/json");
    response.end(completion(JSON.parse(body).messages[0].content));
  });

async function addressOf(run: Run): Promise<string> {
  await run.tells(" on http");
  return / on (http:\S+)/.exec(run.errors())![1]!;
}

const textsIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => readFileSync(join(path, name), "utf8"));

/** What a double answers, by the flags of `serve`. */
async function asked(flags: readonly string[], said: string): Promise<{ status: number; content?: string }> {
  const run = stuntdouble(["serve", "-p", "0", ...flags]);
  const answer = await post((await addressOf(run)) + PATH, chat(said, { metadata: { tenant: said } }));
  const { choices } = (await answer.json()) as { choices?: [{ message: { content: string } }] };
  run.kill("SIGINT");
  await run.ended();
  return { status: answer.status, ...(choices && { content: choices[0].message.content }) };
}

describe("--redact", () => {
  const fixtures = (path: string) => [path, "--record"];
  const cassettes = (path: string) => ["--vcr", "auto", "--cassettes", path];
  it.each([
    ["serve --record", fixtures, () => ["--redact", file()]],
    ["serve --vcr", cassettes, () => ["--redact", file()]],
    ["serve --record with a configuration", fixtures, () => ["--config", configuration(options)]],
    ["serve --vcr with a configuration that names a file", cassettes, () => ["--config", configuration(file())]],
  ])("of %s: what it says is written and matched", async (_, flagsFor, redact) => {
    const path = folder();
    const upstream = await echo();
    const flags = [...flagsFor(path), "--provider-openai", upstream];
    expect(await asked([...flags, ...redact()], SAID)).toEqual({ status: 200, content: SAID });
    const [text] = textsIn(path) as [string];
    expect(text).toContain(WRITTEN);
    expect(text).not.toMatch(/4711|falcon|bob@/i);
    // Another ticket for somebody else is the same call, but not one of another sender.
    const again = flags.filter((flag) => flag !== "--record").map((flag) => (flag === "auto" ? "replay" : flag));
    const others = SAID.replace("4711", "12").replace("bob", "carol");
    expect(await asked([...again, ...redact()], others)).toEqual({ status: 200, content: WRITTEN });
    expect((await asked([...again, ...redact()], SAID.replace("support", "sales"))).status).toBeGreaterThan(400);
    expect((await asked(again, SAID)).status).toBeGreaterThan(400);
  });

  it("of record and replay around a command", async () => {
    const path = folder();
    const ask = `fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body: process.argv[1] })
      .then(async (response) => console.log((await response.json()).choices?.[0].message.content))`;
    const run = (verb: string, said: string, ...flags: string[]) =>
      stuntdouble([
        ...[verb, "--scenario", "shop", "--cassettes", path, "--redact", file(), ...flags],
        ...["--", process.execPath, "-e", ask, JSON.stringify(chat(said))],
      ]).ended();
    const report = join(newFolder(), "run.json");
    const recorded = await run("record", SAID, "--provider-openai", await echo(), "--report", report);
    expect([recorded.code, recorded.output]).toEqual([0, `${SAID}\n`]);
    expect(textsIn(path).join()).toContain(WRITTEN);
    expect(textsIn(path).join() + readFileSync(report, "utf8")).not.toMatch(/4711|falcon|bob@/i);
    const replayed = await run("replay", SAID.replace("4711", "12"));
    expect([replayed.code, replayed.output]).toEqual([0, `${WRITTEN}\n`]);
  });

  it("of scan looks with it, and leaves what it allows", async () => {
    const path = folder();
    const tape = join(path, "tape.json");
    const response = {
      http: { headers: { "content-type": "application/json" }, body: '{"metadata":{"tenant":"acme"}}' },
    };
    writeFileSync(tape, JSON.stringify({ fixtures: [{ match: { userMessage: SAID }, response }] }));
    const found = await stuntdouble(["scan", path, "--redact", file(), "--json"]).ended();
    expect(found.code).toBe(1);
    expect(JSON.parse(found.output).secrets).toEqual(
      [
        ["/fixtures/0/response/http/body", "pointer"],
        ["/fixtures/0/match/userMessage", "ticket"],
        ["/fixtures/0/match/userMessage", "word"],
        ["/fixtures/0/match/userMessage", "email"],
      ].map(([pointer, detector]) => ({ file: tape, line: 1, pointer, detector, replacement: `«${detector}:1»` })),
    );
    expect((await stuntdouble(["scan", path, "--redact", file(), "--fix"]).ended()).code).toBe(0);
    const [fixture] = loadFixtures(tape);
    expect(fixture!.match.userMessage).toBe(WRITTEN);
    expect(fixture!.response).toMatchObject({ http: { body: '{"metadata":{"tenant":"«pointer:1»"}}' } });
  });

  it("of convert and explain, with which a converted recording is found", async () => {
    const path = folder();
    const request = { method: "POST", url: `https://api.openai.com${PATH}`, headers: [] };
    const postData = { mimeType: "application/json", text: JSON.stringify(chat(SAID)) };
    const content = { mimeType: "application/json", text: completion(SAID) };
    const response = { status: 200, headers: [{ name: "content-type", value: "application/json" }], content };
    const har = {
      log: {
        entries: [{ request: { ...request, postData }, response, startedDateTime: "2026-01-01T00:00:00Z", time: 1 }],
      },
    };
    writeFileSync(join(path, "in.har"), JSON.stringify(har));
    const out = join(path, "out.json");
    const converted = await stuntdouble(["convert", "har", join(path, "in.har"), out, "--redact", file()]).ended();
    expect(converted.code).toBe(0);
    expect(readFileSync(out, "utf8")).not.toMatch(/4711|falcon|bob@/i);
    writeFileSync(join(path, "ask.json"), JSON.stringify(chat(SAID.replace("4711", "12"))));
    const explain = (...flags: string[]) =>
      stuntdouble(["explain", join(path, "ask.json"), "-f", out, "--path", PATH, ...flags]).ended();
    expect((await explain("--redact", file())).code).toBe(0);
    expect((await explain()).code).toBe(1);
  });

  it.each([["serve"], ["proxy", "--ca", "ca"], ["record", "--scenario", "x"], ["scan", "."]])(
    "of %s refuses a file that it cannot use",
    async (...verb) => {
      const path = join(newFolder(), "redact.json");
      writeFileSync(path, '{ "detectors": { "emial": true } }');
      const more = verb[0] === "record" ? ["--", "true"] : [];
      const { code, errors } = await stuntdouble([...verb, "--redact", path, ...more], { cwd: newFolder() }).ended();
      expect([code, errors]).toEqual([
        2,
        expect.stringMatching(/^--redact: .*redact\.json: There is no detector "emial"/),
      ]);
      expect(existsSync("ca")).toBe(false);
    },
  );

  it("of record goes with what redacts", async () => {
    const { code, errors } = await stuntdouble([
      "record",
      "--tap",
      "x",
      "--case",
      "y",
      "--redact",
      file(),
      "--",
      "true",
    ]).ended();
    expect([code, errors]).toEqual([2, expect.stringContaining("--redact goes with contracts")]);
  });
});

it("is the option of the library", async () => {
  const path = folder();
  const upstream = await echo();
  const double = new StuntDouble({ redact: options, record: { fixturePath: path, providers: { openai: upstream } } });
  await (await post(`http://double${PATH}`, chat(SAID), {}, double.fetch)).text();
  await double.stop();
  expect(textsIn(path).join()).toContain(WRITTEN);
});
