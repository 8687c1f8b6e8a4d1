import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from "./contract.ts";
import type { Suite } from "./load.ts";

export interface Coverage {
  /** How many places of the schema ask for a contract. */
  asked: number;
  /** Those that have none, in words: `download.add: no contract in which it succeeds`. */
  missing: readonly string[];
  /** Contracts of methods that the schema does not have. */
  unknown: readonly string[];
}

/** Codes that every JSON-RPC server answers by itself. */
const OWN_CODES = new Set([PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR]);

/**
 * Which parts of the schema no contract holds: every method needs one that succeeds, every notification an event, every
 * error that the schema names a contract that fails with it. Undefined for a suite without a schema.
 */
export function coverageOf({ schema, contracts }: Suite): Coverage | undefined {
  if (!schema) return undefined;
  const missing: string[] = [];
  let asked = 0;
  const ask = (holds: boolean, what: string) => {
    asked++;
    if (!holds) missing.push(what);
  };
  const fails = (code: number, method?: string) =>
    contracts.some(
      (contract) =>
        contract.kind === "error" && contract.code === code && (method === undefined || contract.method === method),
    );
  for (const [name, method] of schema.methods) {
    // A notification of the client's has no success to show, and is covered by being sent.
    const answered = contracts.some(({ kind, method: asks }) => kind === "success" && asks === name);
    ask(answered, `${name}: no contract in which it succeeds`);
    for (const { code, message } of method.errors)
      ask(fails(code, name), `${name}: no contract in which it fails with ${code}${message && ` (${message})`}`);
  }
  for (const name of schema.notifications.keys())
    ask(
      contracts.some(({ kind, method }) => kind === "event" && method === name),
      `${name}: no contract of the event`,
    );
  for (const { code, message } of schema.errors)
    ask(fails(code), `no contract fails with ${code}${message && ` (${message})`}`);
  const known = (name: string) => schema.methods.has(name) || schema.notifications.has(name);
  const unknown = contracts
    .filter((contract) => !known(contract.method) && !(contract.kind === "error" && OWN_CODES.has(contract.code ?? 0)))
    .map(({ id, method }) => `${id}: the schema has no ${method}`);
  return { asked, missing, unknown };
}

/** The coverage in a line. */
export function describeCoverage({ asked, missing }: Coverage): string {
  return `${asked - missing.length} of ${asked} methods, events and errors of the schema have a contract`;
}
