import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { UserRules } from "../../src/cassettes/user-rules.ts";
import { Traverser } from "../../src/dialects/traverser.ts";
import { dialects } from "../../src/services/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-rules-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "rules.json");
function load(value: unknown): Promise<UserRules> {
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return UserRules.load([file], new Map());
}
const acme = (...rules: unknown[]) => ({ providers: { acme: { rules } } });

const page = readFileSync("docs/adding-rules.md", "utf8");
const example = /```json\n([\s\S]*?)```/.exec(page)![1]!;

describe("the schema of rules", () => {
  const schema = JSON.parse(readFileSync("schemas/rules.schema.json", "utf8"));
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strictRequired: false }).compile(schema);

  it.each([
    ["the example", readFileSync("examples/rules/acme.json", "utf8")],
    ["the page about rules", example],
    ["a file that names it", JSON.stringify({ $schema: "../schemas/rules.schema.json", ...JSON.parse(example) })],
  ])("takes %s", async (_, text) => {
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
    expect((await load(text)).of("acme-eu")).toEqual(JSON.parse(text).providers.acme);
  });

  it("takes what reads our own dialects", () => {
    for (const { name, rules } of dialects.flatMap((dialect) => dialect.operations)) {
      if (rules === undefined) continue;
      validate(JSON.parse(JSON.stringify({ providers: { [name]: rules } })));
      expect(validate.errors, name).toBeNull();
    }
  });

  it("has the words that the page explains", () => {
    const { rule, take } = schema.definitions;
    for (const word of [...rule.properties.as.enum, ...take.properties.op.enum, ...take.properties.via.enum]) {
      expect(page).toContain(`\`${word}\``);
    }
  });
});

describe("rules of a user's own", () => {
  it("read whole bodies and streams", async () => {
    const rules = (await UserRules.load(["examples/rules/acme.json"], new Map())).of("acme-eu")!;
    const reader = new Traverser(rules, "acme-eu");
    for (const message of [{ say: "Lis" }, { say: "bon." }, { why: "too long", in: 3, out: 2 }])
      reader.push(message, 0);
    expect(reader.finish()).toMatchObject({
      choices: [{ parts: [{ type: "text", text: "Lisbon." }], finish: { reason: "length" } }],
      usage: { promptTokens: 3, completionTokens: 2 },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["nonsense", "{", /rules\.json cannot be read/],
    ["no object", [], /\/: expected an object, but it is \[\]/],
    ["no providers", {}, /"providers" is missing/],
    ["no rules", { providers: { acme: {} } }, /\/providers\/acme: "rules" is missing/],
    [
      "an alias with rules",
      { providers: { a: { alias: "b", rules: [] } } },
      /\/providers\/a\/rules: an alias has nothing/,
    ],
    ["an alias of nobody", { providers: { a: { alias: "b" } } }, /\/providers\/a\/alias: there are no rules b/],
    ["an alias of itself", { providers: { a: { alias: "a" } } }, /there are no rules a/],
    ["a rule that says nothing", acme({ each: "x" }), /\/rules\/0: it says nothing/],
    [
      "an unknown member",
      acme({ as: "text", field: {} }),
      /\/rules\/0\/field: there is no such member; there are each, when/,
    ],
    ["an unknown word", acme({ as: "texts" }), /\/rules\/0\/as: expected one of text, reasoning/],
    [
      "an unknown operation",
      acme({ as: "text", fields: { text: { take: "a", op: "add" } } }),
      /\/text\/op: expected one of append/,
    ],
    [
      "a path that is none",
      acme({ as: "text", fields: { text: 1 } }),
      /\/fields\/text: expected a string, an array or an object, but it is 1/,
    ],
    ["a fault deep inside", acme({ rules: [{ oneOf: [{ as: 1 }] }] }), /\/rules\/0\/rules\/0\/oneOf\/0\/as/],
  ])("are refused with their fault: %s", async (_, value, message) => {
    await expect(load(value)).rejects.toThrow(message);
  });
});
