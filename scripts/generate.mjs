// `npm run generate`: the JSON Schema of fixture files and the validator made from it. Neither zod nor ajv is
// loaded when the product runs. Does nothing when nothing has changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const SOURCE = "src/fixtures/schema.ts";
const SCHEMA = "schemas/fixtures.schema.json";
const VALIDATOR = "src/fixtures/generated/validate-fixture-file.js";
const TYPES = VALIDATOR.replace(/js$/, "d.ts");
const MARK = "src/fixtures/generated/.made-of";

const isCurrent = [VALIDATOR, TYPES, MARK, SCHEMA].every(existsSync) && readFileSync(MARK, "utf8") === inputs();
if (!isCurrent) await generate();

async function generate() {
  const [{ Ajv }, { default: standalone }, { runnerImport }] = await Promise.all([
    import("ajv"),
    import("ajv/dist/standalone/index.js"),
    import("vite"),
  ]);
  const { module } = await runnerImport(`./${SOURCE}`, { configFile: false, logLevel: "error" });
  const schema = module.fixtureJsonSchema();
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, code: { source: true, esm: true } });
  const code = standalone.default(ajv, ajv.compile(schema));
  // minLength, uniqueItems and others take a module of ajv along, which is not there when the product runs.
  if (/\brequire\(/.test(code)) throw new Error(`${SOURCE} uses a keyword whose validation needs ajv at run time.`);
  write(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
  write(VALIDATOR, `${code}\nexport const members = ${JSON.stringify(membersOf(schema))};\n`);
  write(
    TYPES,
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
  write(MARK, inputs());
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
function inputs() {
  const hash = createHash("sha256");
  for (const path of [SOURCE, "scripts/generate.mjs", "package-lock.json", SCHEMA])
    hash.update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
