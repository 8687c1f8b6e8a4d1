// `npm run generate`: the JSON Schemas of fixture files and cassettes and the validators made from them. Neither zod
// nor ajv is loaded when the product runs. Does nothing when nothing has changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const TAPES = [
  {
    source: "src/fixtures/schema.ts",
    make: "fixtureJsonSchema",
    schema: "schemas/fixtures.schema.json",
    validator: "src/fixtures/generated/validate-fixture-file.js",
    mark: "src/fixtures/generated/.made-of",
  },
  {
    source: "src/cassettes/schema.ts",
    make: "jsonSchema",
    schema: "schemas/cassette.schema.json",
    validator: "src/cassettes/generated/validate-cassette.js",
    mark: "src/cassettes/generated/.made-of",
  },
];

for (const tape of TAPES) {
  const { schema, validator, mark } = tape;
  const isCurrent =
    [validator, typesOf(validator), mark, schema].every(existsSync) && readFileSync(mark, "utf8") === inputs(tape);
  if (!isCurrent) await generate(tape);
}

async function generate(tape) {
  const [{ Ajv }, { default: standalone }, { runnerImport }] = await Promise.all([
    import("ajv"),
    import("ajv/dist/standalone/index.js"),
    import("vite"),
  ]);
  const { module } = await runnerImport(`./${tape.source}`, { configFile: false, logLevel: "error" });
  const schema = module[tape.make]();
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, code: { source: true, esm: true } });
  const code = standalone.default(ajv, ajv.compile(schema));
  // minLength, uniqueItems and others take a module of ajv along, which is not there when the product runs.
  if (/\brequire\(/.test(code))
    throw new Error(`${tape.source} uses a keyword whose validation needs ajv at run time.`);
  write(tape.schema, `${JSON.stringify(schema, null, 2)}\n`);
  write(tape.validator, `${code}\nexport const members = ${JSON.stringify(membersOf(schema))};\n`);
  write(
    typesOf(tape.validator),
    `export interface SchemaError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}
export declare const validate: { (value: unknown): boolean; errors?: SchemaError[] | null };
/** The members that each object of a file may have, by its pointer with * for each index. */
export declare const members: Record<string, string[] | undefined>;
`,
  );
  write(tape.mark, inputs(tape));
}

function typesOf(validator) {
  return validator.replace(/js$/, "d.ts");
}

/** The members that each object of a file may have, by its pointer with `*` for each index. */
function membersOf(schema, root = schema, pointer = "", found = {}) {
  if (schema.allOf !== undefined) return membersOf(schema.allOf[0], root, pointer, found);
  if (schema.$ref !== undefined) {
    return membersOf(root.definitions[schema.$ref.replace("#/definitions/", "")], root, pointer, found);
  }
  if (schema.additionalProperties === false) found[pointer] = Object.keys(schema.properties);
  for (const [name, value] of Object.entries(schema.properties ?? {}))
    membersOf(value, root, `${pointer}/${name}`, found);
  if (schema.items !== undefined) membersOf(schema.items, root, `${pointer}/*`, found);
  return found;
}

/** What the files are made of. The schema is among it, so that one edited by hand is made again. */
function inputs({ source, schema }) {
  const hash = createHash("sha256");
  for (const path of [source, "scripts/generate.mjs", "package-lock.json", schema])
    hash.update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
