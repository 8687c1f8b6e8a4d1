import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { DETECTORS } from "../guard/detectors.ts";
import { redactionSettings } from "./redact-options.ts";
import { UsageError } from "./run-verb.ts";

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-redact-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Text of any kind that a file can hold. */
const text = fc.string({ unit: "grapheme", minLength: 2, maxLength: 12 });
const options = fc.record(
  {
    words: fc.array(
      text.filter((word) => word.trim().length > 1),
      { maxLength: 3 },
    ),
    patterns: fc.array(
      fc.record({ name: fc.constantFrom("ticket", "a-1"), pattern: fc.constantFrom("T-(\\d+)", "a") }),
    ),
    pointers: fc.array(fc.constantFrom("/metadata/tenant", "/users/*/name", "/a~1b")),
    detectors: fc.dictionary(fc.constantFrom(...DETECTORS.map(({ name }) => name)), fc.boolean(), {
      noNullPrototype: true,
    }),
    allow: fc.array(text),
  },
  { requiredKeys: [] },
);

describe("redaction options", () => {
  it("are what the file says, in JSON, with comments, and in YAML", async () => {
    await fc.assert(
      fc.asyncProperty(options, async (given) => {
        const json = JSON.stringify(given, null, 2);
        for (const path of [
          file("a.json", json),
          file("mark.json", `\ufeff${json}`),
          file("b.jsonc", `// what must not be written\n${json} /* end */`),
          file("c.yaml", `# what must not be written\n${stringify(given)}`),
        ])
          expect(await redactionSettings({ redact: path })).toEqual(given);
        expect(await redactionSettings({ redact: given })).toEqual(given);
      }),
      { numRuns: 15 },
    );
  });

  it("are none where nothing is said", async () => {
    expect(await redactionSettings({})).toBeUndefined();
    expect(await redactionSettings({ redact: file("empty.json", "{}") })).toEqual({});
  });

  it.each([
    ["broken.json", "{", /^--redact: .*broken\.json:1 it is not JSON: .*\.$/],
    ["broken.yaml", "words: [", /^--redact: .*broken\.yaml:1 it is not YAML: /],
    [
      "list.json",
      "[]",
      /^--redact: .*list\.json: This says nothing of redaction \(its form .*\): \/ must be object\.$/,
    ],
    ["more.json", '{"word":["a b"]}', /: \/ must NOT have additional properties \(word\)\.$/],
    ["kinds.json", '{"words":"a b","allow":[1]}', /: \/words must be array; \/allow\/0 must be string\.$/],
    ["short.json", '{"words":["a"]}', /: \/words\/0 must NOT have fewer than 2 characters\.$/],
    ["pointer.json", '{"pointers":["user"]}', /: \/pointers\/0 must match pattern/],
    ["name.json", '{"detectors":{"emial":true}}', /name\.json: There is no detector "emial"; there are .*email/],
    [
      "pattern.json",
      '{"patterns":[{"name":"x","pattern":"("}]}',
      /pattern\.json: The pattern "x" is none in RE2's syntax/,
    ],
  ])("are refused in %s", async (name, content, message) => {
    const refused = redactionSettings({ redact: file(name, content) });
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(message);
  });

  it("are refused in a file that is not there, and in a configuration", async () => {
    await expect(redactionSettings({ redact: "/nowhere/redact.json" })).rejects.toThrow(
      /^--redact: \/nowhere\/redact\.json cannot be read: /,
    );
    await expect(redactionSettings({ redact: { words: "x" } })).rejects.toThrow(
      /^--config: \/redact: This says nothing of redaction .*: \/words must be array\.$/,
    );
  });

  it("have a schema that is one", () => {
    const schema = JSON.parse(readFileSync(new URL("../../schemas/redact.schema.json", import.meta.url), "utf8"));
    expect(new Ajv().validateSchema(schema)).toBe(true);
  });
});
