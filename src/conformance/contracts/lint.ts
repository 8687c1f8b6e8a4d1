import { join } from "node:path";
import { createRedactor } from "../../guard/redact.ts";
import { pointerSegment } from "../../wire/json-pointer.ts";
import type { Problem } from "../errors.ts";
import { isContractPlaceholder, secretsIn } from "../secrets.ts";
import { indistinct } from "./answers.ts";
import { type Contract, SUITE_FILE } from "./contract.ts";
import { inspectContracts, type Suite } from "./load.ts";
import type { SchemaFault } from "./service-schema.ts";
import { lineOf, placeholderIn, type Template, valueAt } from "./template.ts";
import { unboundPlaceholders } from "./verify.ts";

/** How a name or description begins that is still to be written. */
export const BLANK = "TODO";

/** What lint found in one file of a suite. */
export interface LintedContract {
  id: string;
  file: string;
  problems: readonly Problem[];
}

/**
 * Looks for what contracts should not hold: they are sent to real servers, by people who did not write them.
 *
 * @throws SuiteError when there is nothing to look at
 */
export async function lintContracts(root: string): Promise<LintedContract[]> {
  const { suite, problems } = await inspectContracts(root);
  const found = [...problems, ...(await lintSuite(suite))];
  const settings = { id: SUITE_FILE, file: join(suite.root, SUITE_FILE) };
  const files = [settings, ...suite.contracts.map(({ id, file }) => ({ id, file }))];
  const known = new Set(files.map(({ file }) => file));
  for (const { file } of found) {
    if (known.has(file)) continue;
    known.add(file);
    files.push({ id: file, file });
  }
  return files
    .map(({ id, file }) => ({ id, file, problems: found.filter((problem) => problem.file === file) }))
    .filter(({ id, problems: own }) => id !== SUITE_FILE || own.length > 0 || suite.contracts.length === 0);
}

/** Everything that is wrong with contracts that could be read. */
export async function lintSuite(suite: Suite): Promise<Problem[]> {
  const redactor = await createRedactor({}, undefined, isContractPlaceholder);
  const problems: Problem[] = [];
  const names = new Map<string, string>();
  for (const contract of suite.contracts) {
    const say = (pointer: string, message: string) =>
      void problems.push({ file: contract.file, line: lineOf(contract.text, pointer), message });
    const other = names.get(contract.name);
    if (other !== undefined) say("/name", `the name is that of ${other}, too: "${contract.name}".`);
    names.set(contract.name, contract.id);
    for (const member of ["name", "description"] as const) {
      if (contract[member].trim() === "") say(`/${member}`, `"${member}" is empty: say why the case is worth pinning.`);
      else if (contract[member].startsWith(BLANK)) say(`/${member}`, `"${member}" is still a blank.`);
    }
    if (contract.kind === "unrecorded") say("", "it has no response: stuntdouble record writes it.");
    if (contract.kind === "event" && contract.event.after === undefined && contract.event.everyMs === undefined)
      say("/notification", `nothing says what causes the event: name it in "events" of ${SUITE_FILE}.`);
    if (/(^|\/)(errors|events)\//.test(contract.id)) lintFolder(contract, say);
    for (const problem of unboundPlaceholders(contract, suite)) problems.push(problem);
    lintSchema(contract, suite, say);
    lintStart(contract, suite, say);
    lintStrings(contract.text, suite.settings.hosts, say);
    for (const { pointer, detector } of secretsIn(contract.text, redactor)) {
      if (JUDGED_ELSEWHERE.has(detector)) continue;
      say(
        pointer,
        `${pointer} holds what looks like a secret (${detector}); put $opaque, or a placeholder, in its place.`,
      );
    }
  }
  for (const contract of indistinct(suite.contracts))
    problems.push({
      file: contract.file,
      line: lineOf(contract.text, "/request"),
      message: `its request is that of a success, so nothing in it says why the answer is another: name the condition in "requires", or the transport.`,
    });
  return problems;
}

type Say = (pointer: string, message: string) => void;

function lintFolder(contract: Contract, say: Say): void {
  const folder = contract.id.split("/")[0];
  const fits =
    folder === "events" ? contract.kind === "event" : contract.kind !== "success" && contract.kind !== "event";
  if (!fits)
    say(
      "",
      `it lies in ${folder}/, and is a contract of ${contract.kind === "event" ? "an event" : `a ${contract.kind}`}.`,
    );
}

/** A golden message that its own schema refuses teaches everybody the wrong thing. */
function lintSchema(contract: Contract, { schema }: Suite, say: Say): void {
  if (!schema) return;
  if (!schema.methods.has(contract.method) && !schema.notifications.has(contract.method)) {
    if (contract.kind !== "error")
      say(
        contract.kind === "event" ? "/notification/method" : "/request/method",
        `the schema has no ${contract.method}.`,
      );
    return;
  }
  const look = (template: Template, part: "params" | "result", place: string) => {
    const value = (template.value as Record<string, unknown>)[part];
    const faults = schema.faults(contract.method, part, value);
    for (const { pointer, message } of faults.filter((fault) => !isPlaceholders(fault, value)))
      say(`${place}/${part}${pointer}`, `${place}/${part}${pointer} ${message}, says the schema.`);
  };
  if (contract.kind === "event") look(contract.notification, "params", "/notification");
  if (contract.kind === "success") {
    look(contract.request, "params", "/request");
    look(contract.response, "result", "/response");
  }
}

/** Whether a fault is only that a placeholder stands where its value will. */
function isPlaceholders({ pointer }: SchemaFault, value: unknown): boolean {
  const holds = (at: unknown): boolean =>
    placeholderIn(at) !== undefined ||
    (typeof at === "object" && at !== null && [...Object.keys(at), ...Object.values(at)].some(holds));
  const at = valueAt(value, pointer);
  // Keywords like oneOf complain about what holds the placeholder.
  return at !== undefined && holds(at);
}

/** A URL that can be fetched, in a call that makes a real server fetch it at once, has filled real disks. */
function lintStart(contract: Contract, suite: Suite, say: Say): void {
  if (contract.kind === "event" || contract.requires !== undefined) return;
  const params = (contract.request.value as { params?: unknown }).params;
  for (const [member, values] of Object.entries(suite.settings.startModes)) {
    const mode = stringsOf(params, "", true).find(
      ({ pointer, value }) => pointer.endsWith(pointerSegment(member)) && values.includes(value),
    );
    if (!mode) continue;
    for (const { pointer, value } of stringsOf(params, "")) {
      const host = hostOf(String(value));
      if (host !== undefined && !isNeverServed(host))
        say(
          `/request/params${pointer}`,
          `${JSON.stringify(value)} can be fetched, and ${member} ${JSON.stringify(mode.value)} makes a real server do so at once: start later, use a URL under example.org, or name what has to be arranged in "requires".`,
        );
    }
  }
}

const MACHINE_PATH =
  /(?:^|[\s"'=(:])((?:\/(?:home|Users|root|tmp|private|var\/folders)\/|[A-Za-z]:\\(?:Users|Temp)\\)[^\s"')]*)/;

function lintStrings(text: string, hosts: readonly string[], say: Say): void {
  for (const { pointer, value } of stringsOf(JSON.parse(text), "")) {
    if (!/^\/(request|response|notification|setup)/.test(pointer) || typeof value !== "string") continue;
    const path = MACHINE_PATH.exec(value.replace(/^file:\/\//, ""));
    if (path) say(pointer, `${pointer} holds a path of someone's machine (${(path[1] ?? "").slice(0, 60)}).`);
    for (const url of urlsIn(value)) {
      const host = hostOf(url);
      if (host !== undefined && !isReserved(host) && !hosts.includes(host))
        say(
          pointer,
          `${pointer} names the host ${host}: use example.org, .com or .net, or list it in "hosts" of ${SUITE_FILE}.`,
        );
    }
  }
}

/** Detectors of what other rules judge: the reserved domains are fine in an address, and paths have a rule of their own. */
const JUDGED_ELSEWHERE = new Set(["email", "home-folder"]);

/** URLs in a text: a scheme, two slashes and a host. */
export function urlsIn(text: string): string[] {
  return text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi) ?? [];
}

/** A URL's host in lower case; undefined for what is no URL with a host. */
export function hostOf(url: string): string | undefined {
  try {
    const { hostname, protocol } = new URL(url.trim());
    if (hostname === "" || protocol === "file:") return undefined;
    return hostname.toLowerCase().replace(/\.$/, "");
  } catch {
    return undefined;
  }
}

/** Domains that nobody can own (RFC 2606, RFC 6761), and addresses of this machine or of documentation (RFC 5737, 3849). */
export function isReserved(host: string): boolean {
  return isNeverServed(host) || isOwnMachine(host);
}

function isOwnMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || /^127(\.\d+){3}$/.test(host) || host === "[::1]";
}

/** Hosts from which nothing is ever really fetched. */
export function isNeverServed(host: string): boolean {
  return (
    /(^|\.)(example\.(org|com|net)|example|test|invalid)$/.test(host) ||
    /^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+$/.test(host) ||
    host.startsWith("[2001:db8:")
  );
}

/** Every string of a value; with `all` every scalar. */
function stringsOf(value: unknown, pointer: string, all = false): { pointer: string; value: unknown }[] {
  if (typeof value === "string" || (all && (typeof value !== "object" || value === null))) return [{ pointer, value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => stringsOf(member, pointer + pointerSegment(key), all));
}
