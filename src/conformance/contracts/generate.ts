import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SchemaTypes } from "./schema-types.ts";
import {
  isDraft7,
  loadServiceSchema,
  type MessagePart,
  type MethodSchema,
  makeAjv,
  type ServiceSchema,
} from "./service-schema.ts";

/** Generated files by name. */
export type GeneratedFiles = Readonly<Record<"types.ts" | "validators.js" | "validators.d.ts", string>>;

const MADE = "// Made by stuntdouble generate. Do not edit: change the schema and make it again.\n";

/**
 * TypeScript types for both sides of a service, and validators that need no package when they run.
 *
 * @param document an OpenRPC document, or JSON Schemas by method
 * @throws Error for what is no schema
 */
export async function generate(document: unknown): Promise<GeneratedFiles> {
  const schema = await loadServiceSchema(document);
  return {
    "types.ts": typesOf(schema),
    "validators.js": await validatorsOf(schema),
    "validators.d.ts": VALIDATOR_TYPES,
  };
}

const VALIDATOR_TYPES = `${MADE}export interface SchemaFault {
  /** JSON Pointer from the params or the result to what is wrong; empty for all of it. */
  pointer: string;
  message: string;
}
/** What is wrong with a request's params; nothing for a method that the schema does not describe. */
export declare function paramsFaults(method: string, params: unknown): SchemaFault[];
/** What is wrong with a result. */
export declare function resultFaults(method: string, result: unknown): SchemaFault[];
/** What is wrong with a notification's params. */
export declare function notificationFaults(method: string, params: unknown): SchemaFault[];
`;

function typesOf(schema: ServiceSchema): string {
  const types = new SchemaTypes(schema.document);
  const paramsType = (method: MethodSchema): string => {
    const named = schema.schemaOf(method, "params", false);
    if (named === undefined) return "unknown";
    if (method.params === undefined) return types.typeOf(named);
    if (method.params.length === 0) return "Record<string, never> | []";
    const positional = types.typeOf(schema.schemaOf(method, "params", true));
    if (method.structure === "by-name") return types.typeOf(named);
    return method.structure === "by-position" ? positional : `${types.typeOf(named)} | ${positional}`;
  };
  const entry = (method: MethodSchema) => {
    const result = schema.schemaOf(method, "result", false);
    return `  ${JSON.stringify(method.name)}: { params: ${paramsType(method)}; result: ${result === undefined ? "unknown" : types.typeOf(result)} };`;
  };
  const methods = [...schema.methods.values()].map(entry);
  const notifications = [...schema.notifications.values()].map(
    (method) => `  ${JSON.stringify(method.name)}: ${paramsType(method)};`,
  );
  const errors = [
    ...new Map(
      [...schema.methods.values()].flatMap((method) =>
        method.errors.map(({ code, message }) => [code, message] as const),
      ),
    ),
  ].concat(schema.errors.map(({ code, message }) => [code, message]));
  return `${MADE}
${types.declarations()}

/** Every method: what it takes and what it answers. */
export interface Methods {
${methods.join("\n")}
}

/** Every notification that the server sends. */
export interface Notifications {
${notifications.join("\n")}
}

/** Errors that the schema names. */
export type ErrorCode = ${errors.length === 0 ? "number" : [...new Set(errors.map(([code]) => code))].join(" | ")};

/** The side that asks. */
export interface Client {
  call<Method extends keyof Methods>(method: Method, params: Methods[Method]["params"]): Promise<Methods[Method]["result"]>;
  on<Name extends keyof Notifications>(name: Name, handler: (params: Notifications[Name]) => void): void;
}

/** The side that answers. */
export type Server = {
  [Method in keyof Methods]: (params: Methods[Method]["params"]) => Methods[Method]["result"] | Promise<Methods[Method]["result"]>;
};
`;
}

async function validatorsOf(schema: ServiceSchema): Promise<string> {
  const ajv = await makeAjv(isDraft7(schema.document), "generate");
  ajv.addSchema(schema.document, "stuntdouble:service");
  const exported: Record<string, string> = {};
  const tables: Record<"params" | "positional" | "result" | "notification", string[]> = {
    params: [],
    positional: [],
    result: [],
    notification: [],
  };
  const add = (table: keyof typeof tables, method: MethodSchema, part: MessagePart, positional: boolean) => {
    const own = schema.schemaOf(method, part, positional);
    if (own === undefined) return;
    const name = `v${Object.keys(exported).length}`;
    ajv.addSchema(own as object, name);
    exported[name] = name;
    tables[table].push(`${JSON.stringify(method.name)}: ${name}`);
  };
  for (const method of schema.methods.values()) {
    add("params", method, "params", false);
    if (method.params !== undefined) add("positional", method, "params", true);
    add("result", method, "result", false);
  }
  for (const method of schema.notifications.values()) add("notification", method, "params", false);
  const { default: standalone } = await import("ajv/dist/standalone/index.js");
  const make = ((standalone as unknown as { default?: typeof standalone }).default ?? standalone) as unknown as (
    of: typeof ajv,
    names: Record<string, string>,
  ) => string;
  const code = make(ajv, exported)
    .replace(/^"use strict";/, "")
    .replace(/\bexport const (v\d+) = /g, "const $1 = ");
  const table = (name: keyof typeof tables) => `new Map(Object.entries({ ${tables[name].join(", ")} }))`;
  const { text, notices } = inlined(code);
  return `${MADE}
${notices}
${text}
const params = ${table("params")};
const positional = ${table("positional")};
const results = ${table("result")};
const notifications = ${table("notification")};

export const paramsFaults = (method, value) => faults((Array.isArray(value) ? positional.get(method) : undefined) ?? params.get(method), value ?? {});
export const resultFaults = (method, value) => faults(results.get(method), value);
export const notificationFaults = (method, value) => faults(notifications.get(method), value ?? {});

function faults(validate, value) {
  if (validate === undefined || validate(value)) return [];
  return validate.errors.map(({ instancePath, keyword, params, message }) => {
    const member = keyword === "required" ? params.missingProperty : keyword === "additionalProperties" ? params.additionalProperty : undefined;
    const pointer = member === undefined ? instancePath : instancePath + "/" + member.replaceAll("~", "~0").replaceAll("/", "~1");
    return { pointer, message: keyword === "required" ? "is missing" : message };
  });
}
`;
}

/**
 * The code with the modules that it requires written into it, so that it runs where none of them is installed, and the
 * licenses of the packages that they are of.
 */
function inlined(code: string): { text: string; notices: string } {
  const modules = new Map<string, string>();
  const take = (id: string, from: string): string => {
    const file = createRequire(from).resolve(id);
    if (!modules.has(file)) {
      modules.set(file, "");
      const source = readFileSync(file, "utf8").replace(/\/\/# sourceMappingURL=.*$/m, "");
      modules.set(
        file,
        source.replace(/\brequire\("([^"]+)"\)/g, (_, inner: string) => take(inner, file)),
      );
    }
    return `module_${[...modules.keys()].indexOf(file)}()`;
  };
  const own = code.replace(/\brequire\("([^"]+)"\)/g, (_, id: string) => take(id, import.meta.url));
  const functions = [...modules.values()].map(
    (source, index) => `const module_${index} = (() => {
  let loaded;
  return () => {
    if (loaded) return loaded.exports;
    const module = (loaded = { exports: {} });
    const { exports } = module;
${source}
    return module.exports;
  };
})();`,
  );
  // The validators themselves are ajv's work, whether they require any of its modules or not.
  const ajv = createRequire(import.meta.url).resolve("ajv");
  const folders = new Set([ajv, ...modules.keys()].map(packageFolder));
  return { text: [...functions, own].join("\n"), notices: [...folders].map(noticeOf).join("\n") };
}

function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json")) || nameIn(folder) === undefined) folder = dirname(folder);
  return folder;
}

function nameIn(folder: string): string | undefined {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: string }).name;
}

/** @throws Error for a package without a license file, whose code must not be given on */
function noticeOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no license file, and its code is part of the validators`);
  const lines = readFileSync(join(folder, file), "utf8").trim().replaceAll("*/", "* /").split(/\r?\n/);
  return `/*!\n * Holds code of ${nameIn(folder)}:\n *\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */`;
}
