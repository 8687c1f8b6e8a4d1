import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cassetteFiles } from "../../src/cassettes/folder.ts";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { verifyFile } from "../../src/cassettes/verify.ts";
import { withoutNumbers } from "../../src/guard/redact.ts";
import { StuntDouble } from "../../src/index.ts";
import { dialects } from "../../src/services/registry.ts";
import { newFolder, provider, recording } from "./support.ts";

const operations = dialects.flatMap((dialect) => dialect.operations);
const address = ["ada", "example.com"].join("@");
/** Texts with what is escaped, redacted, or looks like a part of a cassette. */
const text = fc.oneof(
  fc.string({ unit: "binary-ascii" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    address,
    `Write to ${address}!`,
    "«email:1»",
    "vcr_scenario",
    "data: [DONE]",
    "\u2028",
    "%41",
    "\\u0041",
  ),
);
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const request = fc.record({
  model: fc.constantFrom("gpt-5", "openai/gpt-5", "ft:x:y"),
  messages: fc.array(fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: text }), {
    minLength: 1,
    maxLength: 4,
  }),
  stream: fc.boolean(),
  temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
  user: text,
  metadata: fc.dictionary(
    fc.string({ unit: "grapheme", minLength: 1 }).filter((name) => name !== "__proto__"),
    text,
    {
      maxKeys: 3,
    },
  ),
  x_own: fc.dictionary(
    fc.string().filter((name) => name !== "__proto__"),
    value,
    { maxKeys: 3 },
  ),
});

/** Of which every reader that goes through a number or a string in between would change something. */
const IDS = ["1", '"1"', "9007199254740993", '"9007199254740993"', "1.0", "1e2", "-0", "null", '"\\u0041"'];

function reply(streamed: boolean, id: string, content: string): string {
  const head = `"id":${id},"object":"chat.completion${streamed ? ".chunk" : ""}","created":1,"model":"m"`;
  const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
  const said = JSON.stringify(content);
  if (!streamed) {
    return `{${head},"choices":[{"index":0,"message":{"role":"assistant","content":${said}},"finish_reason":"stop"}],${usage}}`;
  }
  return `data: {${head},"choices":[{"index":0,"delta":{"content":${said}},"finish_reason":null}]}\n\ndata: {${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],${usage}}\n\ndata: [DONE]\n\n`;
}

describe("any recorded request", () => {
  it("replays itself, with ids as they were written, and verifies", { timeout: 60_000 }, async () => {
    let calls = 0;
    const url = await provider((_, response, body) => {
      const { stream } = JSON.parse(body) as { stream: boolean };
      response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
      response.write(reply(stream, IDS[calls % IDS.length]!, `answer ${calls++}`));
      response.end();
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 10, maxLength: 20 }), async (requests) => {
        const folder = newFolder();
        const live = await recording(url, { folder });
        const send = async (double: StuntDouble, body: object): Promise<string> =>
          (
            await double.fetch("http://double/v1/chat/completions", { method: "POST", body: JSON.stringify(body) })
          ).text();
        const told: string[] = [];
        for (const body of requests) told.push(await send(live, body));
        await live.stop();
        expect(cassetteFiles(folder)).toHaveLength(requests.length);
        for (const file of cassetteFiles(folder)) {
          const [verdict] = await verifyFile(file, folder, { operations, rules: new UserRules() });
          expect(verdict).toMatchObject({ status: "passed", differences: [] });
        }
        const replay = new StuntDouble({ cassettes: { mode: "replay", folder } });
        for (const [index, body] of requests.entries()) {
          // Members in another order ask for the same.
          const { model, ...rest } = body;
          expect(await send(replay, { ...rest, model })).toBe(withoutNumbers(told[index]!));
        }
        await replay.stop();
      }),
      { numRuns: 8 },
    );
  });
});
