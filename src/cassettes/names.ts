import { slug } from "../fixtures/recorded-files.ts";
import { UNKNOWN_INVOKER } from "./identity.ts";

const LONGEST_TITLE = 48;

/** Characters of a fingerprint that a file's name has. */
export const SHOWN_DIGITS = 8;

/** In a scenario's folder while somebody writes there. */
export const LOCK_FILE = ".lock";

/** What a file's name says of what is in it. */
export interface FileName {
  order: number;
  /** The beginning of the fingerprint. */
  digits: string;
}

/** Reads `03-weather-in-paris-3fa2b1c0.json`; undefined for every other name. */
export function readFileName(name: string): FileName | undefined {
  const found = /^(\d{2,})-(?:.+-)?([0-9a-f]{8})(?:-\d+)?\.json$/.exec(name);
  return found === null ? undefined : { order: Number(found[1]), digits: found[2]! };
}

/** @param title what the call says, for people */
export function fileName(
  order: number,
  invoker: string,
  title: string,
  fingerprint: string,
  occurrence: number,
): string {
  const words = slug(title).slice(0, LONGEST_TITLE).replace(/-$/, "");
  const who = invoker === UNKNOWN_INVOKER ? "" : `${slug(invoker)}-`;
  const again = occurrence > 1 ? `-${occurrence}` : "";
  return `${String(order).padStart(2, "0")}-${who}${words}-${fingerprint.slice(0, SHOWN_DIGITS)}${again}.json`;
}

/** The file that a call asked for by name. */
export function chosenName(filename: string, others: number): string {
  const base = slug(filename.replace(/\.json$/i, ""));
  return others === 0 ? `${base}.json` : `${base}-${others + 1}.json`;
}

export function scenarioFolder(scenario: string): string {
  return slug(scenario);
}

/** The invoker in the name of a file that Fiber wrote; undefined where it has another name. */
export function fiberInvoker(name: string, scenario: string): string | undefined {
  const end = `_${scenario}.json`;
  if (!name.startsWith("fixture_") || !name.endsWith(end)) return undefined;
  return name.slice("fixture_".length, -end.length);
}
