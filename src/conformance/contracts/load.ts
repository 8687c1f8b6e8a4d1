import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import contractFormat from "../../../schemas/contract.schema.json" with { type: "json" };
import suiteFormat from "../../../schemas/contract-suite.schema.json" with { type: "json" };
import { parsePointer } from "../../wire/json-pointer.ts";
import { memberText } from "../../wire/json-rpc.ts";
import { type Problem, SuiteError } from "../errors.ts";
import {
  type Contract,
  DEFAULT_EVENT_TIMEOUT_MS,
  DEFAULT_LIMIT_MS,
  type EventCause,
  type PlaceholderDefinition,
  type SetupCall,
  SUITE_FILE,
  type SuiteSettings,
  type TransportName,
} from "./contract.ts";
import { Placeholders } from "./placeholders.ts";
import { faultsOf, loadServiceSchema, makeAjv, type SchemaFault, type ServiceSchema } from "./service-schema.ts";
import { lineOf, makeTemplate, type Template } from "./template.ts";

/** All contracts of a folder with what holds for all of them. */
export interface Suite {
  /** Absolute path of the folder. */
  root: string;
  settings: SuiteSettings;
  schema: ServiceSchema | undefined;
  placeholders: Placeholders;
  /** In the order of their ids. */
  contracts: readonly Contract[];
}

/** A suite as far as it could be read, and all that is wrong with it. */
export interface InspectedSuite {
  suite: Suite;
  problems: readonly Problem[];
}

type Members = Record<string, unknown>;
type Check = (value: unknown) => SchemaFault[];

const FOLDERS = ["", "errors", "events"];

/**
 * Reads a folder of contracts: `*.json`, `errors/*.json`, `events/*.json`, and `contract.json` where there is one.
 *
 * @throws SuiteError with everything that is wrong, files and lines named, or when there is neither a contract nor a
 * schema that could stand in for one.
 */
export async function loadContracts(root: string): Promise<Suite> {
  const { suite, problems } = await inspectContracts(root);
  if (problems.length > 0) throw new SuiteError(problems);
  return suite;
}

/** Like `loadContracts`, but gives back what is wrong. Throws only when there is nothing to read. */
export async function inspectContracts(root: string): Promise<InspectedSuite> {
  const folder = resolve(root);
  const problems: Problem[] = [];
  const ajv = await makeAjv(false, "own");
  ajv.addSchema(suiteFormat);
  const checks = { suite: checkOf(ajv.compile(suiteFormat)), contract: checkOf(ajv.compile(contractFormat)) };
  const settingsFile = join(folder, SUITE_FILE);
  const settingsText = await readFile(settingsFile, "utf8").catch(() => undefined);
  const read = settingsText === undefined ? {} : readJson(settingsFile, settingsText, checks.suite, problems);
  const members = read ?? {};
  const settings = readSettings(members, settingsText ?? "{}");
  let schema: ServiceSchema | undefined;
  if (settings.schema !== undefined) {
    try {
      schema = await loadServiceSchema(await schemaDocument(settings.schema, folder));
    } catch (error) {
      problems.push({
        file: settingsFile,
        line: lineOf(settingsText ?? "", "/schema"),
        message: `"schema" cannot be used: ${(error as Error).message}.`,
      });
    }
  }
  const files = await contractFiles(folder);
  if (files.length === 0 && settings.schema === undefined)
    throw new SuiteError([
      { file: root, message: `there is no contract here; expected *.json, errors/*.json or events/*.json.` },
    ]);
  const contracts: Contract[] = [];
  const events = new Map(Object.entries((members["events"] ?? {}) as Record<string, Members>));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  for (const [index, file] of files.entries()) {
    const id = relative(folder, file).split(sep).join("/");
    const contract = readContract(file, id, texts[index] as string, members, checks.contract, problems);
    if (!contract) continue;
    contracts.push(contract);
    if (contract.kind === "event") events.delete(eventKey(events, id) ?? "");
  }
  for (const name of events.keys())
    problems.push({
      file: settingsFile,
      line: lineOf(settingsText ?? "", `/events/${name}`),
      message: `"events" names "${name}", and there is no file events/${name}.json.`,
    });
  let placeholders = new Placeholders(new Map(), new Map());
  try {
    placeholders = await Placeholders.of(settings.placeholders);
  } catch (error) {
    problems.push({ file: settingsFile, message: `"placeholders": ${(error as Error).message}.` });
  }
  return { suite: { root: folder, settings, schema, placeholders, contracts }, problems };
}

/** Whether the path holds contracts: a folder with `contract.json`, or with a file that looks like one. */
export async function holdsContracts(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return false;
  if (
    await stat(join(path, SUITE_FILE))
      .then((file) => file.isFile())
      .catch(() => false)
  )
    return true;
  for (const file of await contractFiles(path)) {
    try {
      if (isContract(JSON.parse(await readFile(file, "utf8")))) return true;
    } catch {
      // Another file may show it.
    }
  }
  return false;
}

/** Whether the text of a file, by its name, is a contract or the settings of a suite. */
export function isOfContracts(name: string, text: string): boolean {
  if (name === SUITE_FILE) return true;
  try {
    return isContract(JSON.parse(text));
  } catch {
    return false;
  }
}

function isContract(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const call = (value as Members)["request"] ?? (value as Members)["notification"];
  return typeof call === "object" && call !== null && (call as Members)["jsonrpc"] === "2.0";
}

async function contractFiles(root: string): Promise<string[]> {
  const found = await Promise.all(
    FOLDERS.map(async (name) => {
      const entries = await readdir(join(root, name), { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile() && entry.name.endsWith(".json") && entry.name !== SUITE_FILE)
        .map((entry) => join(root, name, entry.name))
        .sort();
    }),
  );
  // The schema may lie beside the contracts, and is none.
  const schema = await readFile(join(root, SUITE_FILE), "utf8")
    .then((text) => (JSON.parse(text) as Members)["schema"])
    .catch(() => undefined);
  const schemaFile = typeof schema === "string" ? resolve(root, schema) : undefined;
  return found.flat().filter((file) => resolve(file) !== schemaFile);
}

async function schemaDocument(schema: unknown, folder: string): Promise<unknown> {
  if (typeof schema !== "string") return schema;
  const file = resolve(folder, schema);
  const text = await readFile(file, "utf8").catch(() => {
    throw new Error(`there is no file ${file}`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is no JSON (${(error as Error).message})`);
  }
}

function checkOf(validate: { (value: unknown): unknown; errors?: Parameters<typeof faultsOf>[0] | null }): Check {
  return (value) => (validate(value) ? [] : faultsOf(validate.errors ?? []));
}

function readJson(file: string, text: string, check: Check, problems: Problem[]): Members | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    problems.push({ file, message: `it is no JSON (${(error as Error).message}).` });
    return undefined;
  }
  const faults = check(value);
  for (const { pointer, message } of faults)
    problems.push({ file, line: lineOf(text, pointer), message: `${pointer === "" ? "it" : pointer} ${message}.` });
  return faults.length === 0 ? (value as Members) : undefined;
}

function readSettings(members: Members, text: string): SuiteSettings {
  const authentication = members["authentication"] as Members | undefined;
  return {
    schema: members["schema"],
    framing: members["framing"] === "content-length" ? "content-length" : "lines",
    setup: setupCalls(text),
    authentication: authentication && {
      headers: (authentication["headers"] ?? {}) as Record<string, string>,
      request: authentication["request"],
    },
    placeholders: new Map(
      Object.entries((members["placeholders"] ?? {}) as Record<string, Members>).map(([name, definition]) => [
        name,
        placeholderDefinition(definition),
      ]),
    ),
    eventTimeoutMs: (members["eventTimeoutMs"] as number | undefined) ?? DEFAULT_EVENT_TIMEOUT_MS,
    extraMembers: ((members["extraMembers"] ?? []) as string[]).map(parsePointer),
    hosts: (members["hosts"] ?? []) as string[],
    startModes: (members["startModes"] ?? { startMode: ["now", "queue"] }) as Record<string, unknown[]>,
  };
}

function placeholderDefinition(definition: Members): PlaceholderDefinition {
  const { pattern } = definition;
  return {
    schema: definition["schema"] ?? (pattern === undefined ? undefined : { type: "string", pattern }),
    example: definition["example"],
    deletedBy: definition["deletedBy"] as string[] | undefined,
    changedBy: definition["changedBy"] as string[] | undefined,
  };
}

function setupCalls(text: string): SetupCall[] {
  const setup = memberText(text, "setup");
  if (setup === undefined) return [];
  return (JSON.parse(setup) as Members[]).map((call, index) => {
    const { jsonrpc: _, id, ...rest } = call["request"] as Members;
    const request = { jsonrpc: "2.0", id: id ?? `setup-${index + 1}`, ...rest };
    return {
      method: String(request["method" as keyof typeof request]),
      request: makeTemplate(JSON.stringify(request)),
      bind: new Map(Object.entries((call["bind"] ?? {}) as Record<string, string>)),
    };
  });
}

function eventKey(events: ReadonlyMap<string, unknown>, id: string): string | undefined {
  const name = id.replace(/^events\//, "");
  return [id, name, name.replace(/\.json$/, "")].find((key) => events.has(key));
}

function readContract(
  file: string,
  id: string,
  text: string,
  settings: Members,
  check: Check,
  problems: Problem[],
): Contract | undefined {
  const members = readJson(file, text, check, problems);
  if (!members) return undefined;
  const fault = (pointer: string, message: string) => {
    problems.push({ file, line: lineOf(text, pointer), message });
    return undefined;
  };
  const { transport } = members;
  const base = {
    id,
    file,
    text,
    name: members["name"] as string,
    description: members["description"] as string,
    transport: (transport === "uds" ? "unix" : transport) as TransportName | undefined,
    requires: members["requires"] as string | undefined,
    authenticated: members["authentication"] !== false,
    setup: members["setup"] === undefined ? undefined : setupCalls(text),
    assertions: (members["assertions"] ?? []) as string[],
  };
  const template = (member: string): Template | undefined => {
    const json = memberText(text, member);
    return json === undefined ? undefined : makeTemplate(json);
  };
  const notification = template("notification");
  const request = template("request");
  const response = template("response");
  if (notification) {
    if (request || response)
      return fault(
        "/notification",
        `it has a notification and a ${request ? "request" : "response"}; expected one of them.`,
      );
    return { ...base, kind: "event", method: methodOf(notification), notification, event: causeOf(settings, id) };
  }
  if (!request) return fault("", `it has neither a "request" nor a "notification".`);
  const common = { ...base, method: methodOf(request), request };
  if (members["kind"] === "timeout") {
    if (response) return fault("/response", `kind "timeout" means that no reply comes, and there is a "response".`);
    const limitMs = members["limitMs"] ?? settings["limitMs"] ?? DEFAULT_LIMIT_MS;
    return { ...common, kind: "timeout", limitMs: limitMs as number };
  }
  if (!response) return { ...common, kind: "unrecorded" };
  const answer = response.value as Members;
  if ("result" in answer === "error" in answer)
    return fault(
      "/response",
      `the response has ${"error" in answer ? "both" : "neither"} a result ${"error" in answer ? "and" : "nor"} an error; expected one of them.`,
    );
  if (answer["id"] !== (request.value as Members)["id"] && !(answer["id"] === null && "error" in answer))
    return fault("/response/id", "the response's id is not the request's.");
  const error = answer["error"] as { code: number } | undefined;
  return { ...common, kind: error ? "error" : "success", response, code: error?.code };
}

function causeOf(settings: Members, id: string): EventCause {
  const events = new Map(Object.entries((settings["events"] ?? {}) as Record<string, Members>));
  const found = events.get(eventKey(events, id) ?? "") ?? {};
  return {
    after: found["after"] as string | undefined,
    everyMs: found["everyMs"] as number | undefined,
    delayMs: (found["delayMs"] as number | undefined) ?? 0,
    repeats: found["repeats"] === true || found["everyMs"] !== undefined,
    to: found["to"] === "caller" ? "caller" : "all",
  };
}

function methodOf(message: Template): string {
  return (message.value as { method: string }).method;
}

/** Whether `--allow`, `--filter` and the like name this contract: its file with or without folder and ending, or its name. */
export function isNamed(contract: Contract, name: string): boolean {
  const bare = contract.id.replace(/\.json$/, "");
  return [contract.id, bare, bare.replace(/^.*\//, ""), contract.name].includes(name.replace(/^\.\//, ""));
}
