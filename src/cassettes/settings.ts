import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../dialects/raw-request.ts";
import { writeWholeFileSync } from "../transport/whole-file.ts";
import { CassetteError } from "./format.ts";
import { MATCH_MODES, type MatchMode } from "./match-mode.ts";

export const SETTINGS_FILE = "cassettes.json";

/** How the calls of a folder are told apart: recording and replay have to agree, so that the folder keeps it. */
export interface FolderSettings {
  match: MatchMode;
  /** JSON Pointers and patterns: what of a request says nothing about it. */
  ignore: readonly string[];
}

const DEFAULTS: FolderSettings = { match: "exact", ignore: [] };

/**
 * The settings that a folder keeps, or those that are given for one that keeps none.
 * @param recorded whether it has recordings: where it keeps no settings, they were made with the usual ones
 * @throws {CassetteError} when they are broken, or contradict what is given: then nothing would match any more
 */
export function folderSettings(root: string, given: Partial<FolderSettings>, recorded: boolean): FolderSettings {
  const kept = readSettings(root) ?? (recorded ? DEFAULTS : undefined);
  if (kept === undefined) return { ...DEFAULTS, ...given };
  const asked = { ...kept, ...given };
  if (JSON.stringify(asked) === JSON.stringify(kept)) return kept;
  throw new CassetteError(
    `The cassettes in ${root} were recorded with ${words(kept)}, but ${words(asked)} was asked for. What has been recorded one way is not found the other way: leave the flags out, or remove the folder and record it anew.`,
  );
}

/** Keeps settings that are not the usual ones. */
export function keepSettings(root: string, settings: FolderSettings): void {
  if (readSettings(root) !== undefined || JSON.stringify(settings) === JSON.stringify(DEFAULTS)) return;
  mkdirSync(root, { recursive: true });
  writeWholeFileSync(join(root, SETTINGS_FILE), `${JSON.stringify(settings, null, 2)}\n`);
}

function readSettings(root: string): FolderSettings | undefined {
  const file = join(root, SETTINGS_FILE);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CassetteError(`${file} cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CassetteError(`${file} is not JSON: ${(error as Error).message}`);
  }
  const { match = DEFAULTS.match, ignore = DEFAULTS.ignore } = isObject(value) ? value : {};
  if (!MATCH_MODES.includes(match as MatchMode)) {
    throw new CassetteError(
      `${file} /match: expected one of ${MATCH_MODES.join(", ")}, but it is ${JSON.stringify(match)}`,
    );
  }
  if (!Array.isArray(ignore) || !ignore.every((entry) => typeof entry === "string")) {
    throw new CassetteError(`${file} /ignore: expected a list of JSON Pointers and patterns`);
  }
  return { match: match as MatchMode, ignore };
}

function words({ match, ignore }: FolderSettings): string {
  return `match ${match}${ignore.length > 0 ? ` without ${ignore.join(", ")}` : ""}`;
}
