import { readFileSync } from "node:fs";
import type { ErrorObject } from "ajv";
import schema from "../../schemas/rules.schema.json" with { type: "json" };
import type { Rules } from "../dialects/rules.ts";
import { describe as inWords } from "../fixtures/faults.ts";
import { pointerSegment } from "../wire/json-pointer.ts";
import { CassetteError } from "./format.ts";

type Provider = Rules | { alias: string };

const LONGEST_CHAIN = 10;

/** How to read the answers of providers that users have added. */
export class UserRules {
  readonly #rules: ReadonlyMap<string, Rules>;

  constructor(rules: ReadonlyMap<string, Rules> = new Map()) {
    this.#rules = rules;
  }

  /**
   * Reads files of the form `{"providers": {"acme": {"rules": […]}, "acme-eu": {"alias": "acme"}}}`.
   * @param known rules by the names that an alias may have besides
   * @throws {CassetteError} with the file and the place of what is wrong
   */
  static async load(files: readonly string[], known: ReadonlyMap<string, Rules>): Promise<UserRules> {
    const rules = new Map<string, Rules>();
    const aliases = new Map<string, { alias: string; place: string }>();
    for (const file of files) {
      for (const [name, provider] of Object.entries(await providersOf(file))) {
        if ("alias" in provider) aliases.set(name, { alias: provider.alias, place: `${file} /providers/${name}` });
        else rules.set(name, provider);
      }
    }
    for (const name of aliases.keys()) rules.set(name, resolve(name, aliases, rules, known));
    return new UserRules(rules);
  }

  of(provider: string): Rules | undefined {
    return this.#rules.get(provider);
  }
}

async function providersOf(file: string): Promise<Record<string, Provider>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CassetteError(`--rules ${file} cannot be read: ${(error as Error).message}`);
  }
  const { Ajv } = await import("ajv");
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strictRequired: false, verbose: true });
  const validate = ajv.compile<{ providers: Record<string, Provider> }>(schema);
  if (validate(value)) return value.providers;
  const faults = (validate.errors ?? []).flatMap((error) => faultIn(error, value));
  throw new CassetteError(
    `--rules ${file} cannot be used (its form is in schemas/rules.schema.json):\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
  );
}

/** None for what another error says better. */
function faultIn(error: ErrorObject, file: unknown): string[] {
  const { instancePath, keyword, schemaPath, params, parentSchema } = error;
  if (keyword === "if" || /\/anyOf\/\d/.test(schemaPath)) return [];
  if (keyword === "anyOf") return [`${instancePath}: it says nothing; expected "as", "rules" or "oneOf"`];
  if (keyword === "false schema") return [`${instancePath}: an alias has nothing of its own beside it`];
  if (keyword === "additionalProperties") {
    const names = Object.keys((parentSchema as { properties?: object }).properties ?? {}).join(", ");
    const name = String(params["additionalProperty"]);
    return [`${instancePath}${pointerSegment(name)}: there is no such member; there are ${names}`];
  }
  const { pointer, message } = inWords(error, file);
  return [`${pointer || "/"}: ${message}`];
}

function resolve(
  name: string,
  aliases: ReadonlyMap<string, { alias: string; place: string }>,
  own: ReadonlyMap<string, Rules>,
  known: ReadonlyMap<string, Rules>,
): Rules {
  const { place } = aliases.get(name)!;
  let target = name;
  for (let step = 0; step < LONGEST_CHAIN; step++) {
    const next = aliases.get(target)?.alias;
    if (next === undefined) break;
    target = next;
  }
  const found = (aliases.has(target) ? undefined : own.get(target)) ?? known.get(target);
  if (found !== undefined) return found;
  throw new CassetteError(
    `${place}/alias: there are no rules ${target}; there are ${[...own.keys(), ...known.keys()].join(", ")}`,
  );
}
