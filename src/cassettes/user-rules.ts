import { readFileSync } from "node:fs";
import { isObject, kindOf } from "../dialects/raw-request.ts";
import type { Rules } from "../dialects/rules.ts";
import { CassetteError } from "./format.ts";

const TARGETS = new Set([
  ...["text", "reasoning", "toolCall", "webSearch", "refusal", "media", "opaque", "stop", "finish", "usage"],
  ...["envelope", "choice", "error", "keepalive", "nothing"],
]);
const RULE_MEMBERS = new Set(["each", "when", "choice", "key", "rules", "oneOf", "as", "fields", "opens"]);
const OPS = new Set(["append", "replace", "merge", "fallback", "json", "assign"]);
const TRANSFORMS = new Set(["json", "list", "texts"]);
const TAKE_MEMBERS = new Set(["take", "except", "via", "op", "at"]);
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
  static load(files: readonly string[], known: ReadonlyMap<string, Rules>): UserRules {
    const rules = new Map<string, Rules>();
    const aliases = new Map<string, { alias: string; place: string }>();
    for (const file of files) {
      for (const [name, value] of Object.entries(providersOf(file))) {
        const place = `${file} /providers/${name}`;
        if (!isObject(value)) throw new CassetteError(`${place}: expected an object, but it is ${kindOf(value)}`);
        if (typeof value["alias"] === "string") aliases.set(name, { alias: value["alias"], place });
        else {
          checkRules(value["rules"], `${place}/rules`);
          rules.set(name, value as unknown as Rules);
        }
      }
    }
    for (const name of aliases.keys()) rules.set(name, resolve(name, aliases, rules, known));
    return new UserRules(rules);
  }

  of(provider: string): Rules | undefined {
    return this.#rules.get(provider);
  }
}

function providersOf(file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CassetteError(`--rules ${file} cannot be read: ${(error as Error).message}`);
  }
  const providers = isObject(value) ? value["providers"] : undefined;
  if (isObject(providers)) return providers;
  throw new CassetteError(`--rules ${file}: expected {"providers": {"name": {"rules": […]}}}`);
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

/** Says where rules cannot be used; what they would not find is no fault. */
function checkRules(rules: unknown, place: string): void {
  if (!Array.isArray(rules)) throw new CassetteError(`${place}: expected a list of rules, but it is ${kindOf(rules)}`);
  rules.forEach((rule: unknown, index) => {
    const here = `${place}/${index}`;
    if (!isObject(rule)) throw new CassetteError(`${here}: expected an object, but it is ${kindOf(rule)}`);
    known(rule, RULE_MEMBERS, here);
    const { as, fields, rules: inner, oneOf } = rule;
    if (as !== undefined && !TARGETS.has(String(as))) fault(`${here}/as`, TARGETS, as);
    if (as === undefined && inner === undefined && oneOf === undefined) {
      throw new CassetteError(`${here}: it says nothing; expected "as", "rules" or "oneOf"`);
    }
    if (inner !== undefined) checkRules(inner, `${here}/rules`);
    if (oneOf !== undefined) checkRules(oneOf, `${here}/oneOf`);
    if (fields !== undefined) checkFields(fields, `${here}/fields`);
  });
}

function checkFields(fields: unknown, place: string): void {
  if (!isObject(fields)) throw new CassetteError(`${place}: expected an object, but it is ${kindOf(fields)}`);
  for (const [name, take] of Object.entries(fields)) {
    const here = `${place}/${name}`;
    if (typeof take === "string" || isPaths(take)) continue;
    if (!isObject(take))
      throw new CassetteError(`${here}: expected a path, a list of paths or {"take": …}, but it is ${kindOf(take)}`);
    known(take, TAKE_MEMBERS, here);
    if (typeof take["take"] !== "string" && !isPaths(take["take"])) {
      throw new CassetteError(`${here}/take: expected a path or a list of paths`);
    }
    if (take["op"] !== undefined && !OPS.has(String(take["op"]))) fault(`${here}/op`, OPS, take["op"]);
    if (take["via"] !== undefined && !TRANSFORMS.has(String(take["via"])))
      fault(`${here}/via`, TRANSFORMS, take["via"]);
  }
}

function isPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every((path) => typeof path === "string");
}

function known(value: object, members: ReadonlySet<string>, place: string): void {
  for (const name of Object.keys(value)) {
    if (!members.has(name))
      throw new CassetteError(`${place}/${name}: there is no such member; there are ${[...members].join(", ")}`);
  }
}

function fault(place: string, words: ReadonlySet<string>, value: unknown): never {
  throw new CassetteError(`${place}: expected one of ${[...words].join(", ")}, but it is ${JSON.stringify(value)}`);
}
