import { isUtf8 } from "node:buffer";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isBound, tokenLeft, tokensIn } from "./bind.ts";
import { type Problem, SuiteError } from "./errors.ts";
import { readManifest } from "./manifest.ts";
import { makePlan } from "./plan.ts";
import {
  caseNameOf,
  MANIFEST_FILE,
  type Manifest,
  REQUEST_FILE,
  RESPONSE_FILE,
  type Transcript,
} from "./transcript.ts";

/** A case as far as it could be read, and all that is wrong with it. */
export interface Inspection {
  dir: string;
  name: string;
  transcript: Transcript | undefined;
  problems: readonly Problem[];
}

export interface InspectOptions {
  /** Whether `response.jsonl` has to be there and to agree with the requests. Not so for a case that is to be recorded. */
  recorded: boolean;
}

/**
 * Reads one case folder and checks it against the format.
 *
 * @throws SuiteError with everything that is wrong. What is checked is the transcript, not an adapter: found here it is
 * a clear message, found during a replay a confusing one.
 */
export async function load(dir: string, options: InspectOptions = { recorded: true }): Promise<Transcript> {
  const { transcript, problems } = await inspectCase(dir, options);
  if (!transcript || problems.length > 0) throw new SuiteError(problems);
  return transcript;
}

/**
 * Reads every case folder in a suite, in name order; a case folder itself is a suite of one.
 *
 * @throws SuiteError when a case is faulty or there is none: a suite that lost its cases would otherwise pass.
 */
export async function loadSuite(root: string, options: InspectOptions = { recorded: true }): Promise<Transcript[]> {
  const inspections = await inspectSuite(root, options);
  const problems = inspections.flatMap((inspection) => inspection.problems);
  if (problems.length > 0) throw new SuiteError(problems);
  return inspections.flatMap((inspection) => inspection.transcript ?? []);
}

/** Like `loadSuite`, but gives back what is wrong with each case. Throws only when there is no case at all. */
export async function inspectSuite(root: string, options: InspectOptions): Promise<Inspection[]> {
  const dirs = await caseDirs(root);
  return Promise.all(dirs.map((dir) => inspectCase(dir, options)));
}

async function caseDirs(root: string): Promise<string[]> {
  const folder = resolve(root);
  let names: string[];
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some((entry) => entry.name === MANIFEST_FILE)) return [folder];
    names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map((entry) => entry.name);
  } catch (error) {
    throw new SuiteError([{ file: folder, message: unreadable(error as NodeJS.ErrnoException, "suite folder") }]);
  }
  if (names.length === 0)
    throw new SuiteError([
      { file: folder, message: `there is no case here: a case is a folder with a ${MANIFEST_FILE}.` },
    ]);
  return names.sort().map((name) => join(folder, name));
}

export async function inspectCase(dir: string, options: InspectOptions): Promise<Inspection> {
  const folder = resolve(dir);
  const name = caseNameOf(folder);
  const problems: Problem[] = [];
  const inspection = (transcript: Transcript | undefined): Inspection => ({ dir: folder, name, transcript, problems });

  const manifestFile = join(folder, MANIFEST_FILE);
  const fault = (message: string) => void problems.push({ file: manifestFile, message });
  const manifestText = await readText(manifestFile, problems);
  const manifest = manifestText === undefined ? undefined : parseManifest(manifestText, name, fault);
  const requests = splitLines(await readText(join(folder, REQUEST_FILE), problems));
  const recorded = options.recorded ? splitLines(await readText(join(folder, RESPONSE_FILE), problems)) : [];
  if (!manifest || !requests || !recorded) return inspection(undefined);

  const transcript: Transcript = { dir: folder, manifest, requests, recorded };
  if (requests.length === 0) problems.push({ file: join(folder, REQUEST_FILE), message: "there is no request in it." });
  const unbound = unboundTokens(transcript);
  problems.push(...unbound);
  const plan = makePlan(transcript, options.recorded);
  problems.push(
    ...plan.problems.filter(
      (problem) => !unbound.some(({ file, line }) => file === problem.file && line === problem.line),
    ),
  );
  if (options.recorded && manifest.responses !== recorded.length) {
    fault(
      `"responses" says ${manifest.responses}, and ${RESPONSE_FILE} holds ${recorded.length}. Correct the number, or record the case again.`,
    );
  }
  return inspection(transcript);
}

/** The manifest that a text holds; undefined when `fault` was told what is wrong with it. */
function parseManifest(text: string, name: string, fault: (message: string) => void): Manifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    fault(`it is no JSON (${(error as Error).message}).`);
    return undefined;
  }
  return readManifest(value, name, fault);
}

function unboundTokens(transcript: Transcript): Problem[] {
  const file = join(transcript.dir, REQUEST_FILE);
  return transcript.requests.flatMap((text, index) =>
    tokensIn(text)
      .filter((name) => !isBound(name))
      .map((name) => ({ file, line: index + 1, message: tokenLeft(name) })),
  );
}

/** The file's text; what is wrong with it goes to `problems`. */
async function readText(file: string, problems: Problem[]): Promise<string | undefined> {
  try {
    const bytes = await readFile(file);
    // Decoding what is no UTF-8 would send other bytes than those that were recorded.
    if (isUtf8(bytes)) return bytes.toString("utf8");
    problems.push({ file, message: "it is no UTF-8." });
  } catch (error) {
    problems.push({ file, message: unreadable(error as NodeJS.ErrnoException, "file") });
  }
  return undefined;
}

function unreadable(error: NodeJS.ErrnoException, what: string): string {
  if (error.code === "ENOENT") return `the ${what} is missing.`;
  if (error.code === "ENOTDIR") return `it is no folder; expected a suite or a case folder.`;
  return `the ${what} cannot be read (${error.message}).`;
}

// Only a line feed ends a line: U+2028 in a string is text.
function splitLines(text: string | undefined): string[] | undefined {
  return text?.split("\n").filter((line) => line.trim() !== "");
}

/** Whether the path holds a transcript, or a suite of them. */
export async function holdsTranscripts(path: string): Promise<boolean> {
  const isFile = (file: string) =>
    stat(file).then(
      (found) => found.isFile(),
      () => false,
    );
  const isCase = async (dir: string) =>
    (await isFile(join(dir, MANIFEST_FILE))) || (await isFile(join(dir, REQUEST_FILE)));
  if (await isCase(path)) return true;
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory() && (await isCase(join(path, entry.name)))) return true;
  return false;
}
