import { isUtf8 } from "node:buffer";
import { type Dirent, existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isOfContracts } from "../conformance/contracts/load.ts";
import { isContractPlaceholder, isPlaceholder } from "../conformance/secrets.ts";
import { MANIFEST_FILE } from "../conformance/transcript.ts";
import { YAML_NAME } from "../fixtures/load.ts";
import { type RedactedTape, redactTape, redactTapeLines } from "../fixtures/redact-tape.ts";
import { RedactionOptionsError } from "../guard/finding.ts";
import { createRedactor, type Redaction, type Redactor } from "../guard/redact.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED } from "../report/verdict.ts";
import { writeWholeFile } from "../transport/whole-file.ts";
import type { ScanFlags } from "./flags.ts";
import { redactionSettings } from "./redact-options.ts";
import { UsageError } from "./run-verb.ts";
import { shownName } from "./scan-names.ts";

/** A secret in a file. */
interface ScannedSecret {
  file: string;
  /** Missing where it is in the file's name. */
  line?: number;
  pointer?: string;
  detector: string;
  /** What stands there after `--fix`; missing where nothing may be put in its place. */
  replacement?: string;
}

/** What is to be looked at, as a path that was given names it. */
interface TapeFile {
  file: string;
  /** Of the path, what was given and what was found there. */
  root: string;
  name: string;
}

interface ScannedFile extends Omit<RedactedTape, "secrets"> {
  file: string;
  /** As it may be shown. */
  shown: string;
  secrets: ScannedSecret[];
}

/** Tapes of different kinds have different placeholders. */
interface Redactors {
  contracts: Redactor;
  others: Redactor;
}

/**
 * Looks for secrets in all tapes under the paths, and replaces them if asked.
 * @returns the exit code: 0 when there are none, or all were replaced; 1 when there are
 * @throws {UsageError} for paths without a tape, or detectors that there are not
 */
export async function scan(paths: readonly string[], flags: ScanFlags): Promise<number> {
  const redactors = await redactorsFor(flags);
  const tapes = await tapesUnder(paths);
  const scanned: ScannedFile[] = [];
  for (const files of tapes) scanned.push(...(await scanTape(files, redactors)));

  const secrets = scanned.flatMap((file) => file.secrets);
  const left = secrets.filter(({ replacement }) => flags.fix === undefined || replacement === undefined);
  let written = 0;
  for (const { file, text } of flags.fix ? scanned : []) {
    if (text === undefined) continue;
    await write(file, text);
    written++;
  }
  if (flags.json) {
    const stale = scanned.flatMap(({ shown, stale: places }) => places.map((place) => ({ file: shown, ...place })));
    const result = { files: scanned.length, written, secrets, stale };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } else process.stdout.write(report(scanned, written));
  return left.length > 0 ? EXIT_DIFFERENCES : EXIT_PASSED;
}

async function redactorsFor({ redact, detect = [], skip = [] }: ScanFlags): Promise<Redactors> {
  const said = await redactionSettings({ redact });
  const chosen = [...detect.map((name) => [name, true]), ...skip.map((name) => [name, false])];
  const options = { ...said, detectors: { ...said?.detectors, ...Object.fromEntries(chosen) } };
  try {
    return {
      contracts: await createRedactor(options, undefined, isContractPlaceholder),
      others: await createRedactor(options, undefined, isPlaceholder),
    };
  } catch (error) {
    throw error instanceof RedactionOptionsError ? new UsageError(error.message) : error;
  }
}

const TAPES = /\.(?:jsonc?|jsonl|ndjson|ya?ml)$/i;

/** The files under the paths, those of one tape together: the same secret is replaced by the same in all of them. */
async function tapesUnder(paths: readonly string[]): Promise<TapeFile[][]> {
  const tapes = new Map<string, Map<string, TapeFile>>();
  for (const path of paths) {
    const found = await filesUnder(path);
    if (found.length === 0)
      throw new UsageError(`${path}: there is no tape here; expected files of JSON, JSON lines or YAML.`);
    for (const file of found) {
      const tape = existsSync(join(dirname(file), MANIFEST_FILE)) ? dirname(file) : file;
      const name = file === path ? basename(file) : relative(path, file);
      const files = tapes.get(tape) ?? new Map<string, TapeFile>();
      tapes.set(tape, files.set(file, { file, root: file.slice(0, -name.length), name }));
    }
  }
  return [...tapes.values()].map((files) => [...files.values()]);
}

async function filesUnder(path: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    entries = await readdir(path, { withFileTypes: true, recursive: true });
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new UsageError(`${path}: ${missing ? "there is no such file or folder" : (error as Error).message}.`);
  }
  return entries
    .filter((entry) => entry.isFile() && TAPES.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(?:^|[\\/])(?:node_modules|\.[^\\/.][^\\/]*)[\\/]/.test(relative(path, file)))
    .sort();
}

async function scanTape(files: readonly TapeFile[], { contracts, others }: Redactors): Promise<ScannedFile[]> {
  const texts: [TapeFile, string][] = [];
  for (const file of files) texts.push([file, await read(file.file)]);
  const hasContracts = texts.some(([{ file }, text]) => isOfContracts(basename(file), text));
  const redaction = (hasContracts ? contracts : others).call();
  for (const [, text] of texts) redaction.reserve(text);
  return texts.map(([file, text]) => scanFile(file, text, redaction));
}

function scanFile({ file, root, name }: TapeFile, text: string, redaction: Redaction): ScannedFile {
  const tape = /\.(?:jsonl|ndjson)$/i.test(file)
    ? redactTapeLines(text, redaction)
    : redactTape(text, redaction, YAML_NAME.test(file));
  const named = shownName(name, redaction);
  const shown = root + named.name;
  const secrets = [
    ...named.detectors.map((detector): ScannedSecret => ({ file: shown, detector })),
    ...tape.secrets.map(({ line, pointer, detector, replacement }) => ({
      file: shown,
      line,
      ...(pointer !== undefined && { pointer }),
      detector,
      ...(replacement !== undefined && { replacement }),
    })),
  ];
  return { ...tape, file, shown, secrets, text: tape.text === text ? undefined : tape.text };
}

async function read(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new UsageError(`${file}: it cannot be read (${(error as Error).message}).`);
  }
  if (!isUtf8(bytes)) throw new UsageError(`${file}: it is no UTF-8, so it is no tape.`);
  return bytes.toString("utf8");
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeWholeFile(file, text);
  } catch (error) {
    throw new UsageError(`${file}: it cannot be written (${(error as Error).message}).`);
  }
}

const WHY_LEFT = {
  whole: "a field that must stay whole holds a secret. Record it again without",
  unwritable: "what would stand there could not be read. Replace it by hand",
};

function report(files: readonly ScannedFile[], written: number): string {
  const lines = files.flatMap(({ secrets, stale, left, shown }) => [
    ...secrets.map((secret) => secretLine(secret, left, written > 0)),
    ...stale.map((place) => `${placeText({ file: shown, ...place })}: recorded with other redaction; record it again.`),
  ]);
  const secrets = files.reduce((sum, file) => sum + file.secrets.length, 0);
  const count = `${counted(secrets, "secret")} in ${counted(files.length, "file")}`;
  const fixable = files.some((file) => file.secrets.some(({ replacement }) => replacement !== undefined));
  const hint = written > 0 ? `; ${written} written` : fixable ? "; --fix replaces them" : "";
  return `${[...lines, `${count}${hint}.`].join("\n")}\n`;
}

function secretLine(secret: ScannedSecret, left: ScannedFile["left"], isFixed: boolean): string {
  const { line, detector, replacement } = secret;
  const what = `${placeText(secret)}: ${detector}`;
  if (line === undefined) return `${what} in its name. Rename it.`;
  if (left !== undefined) return `${what}; its file cannot be changed, since ${WHY_LEFT[left]}.`;
  return isFixed ? `${what}, now ${replacement}` : what;
}

function placeText({ file, line, pointer }: Pick<ScannedSecret, "file" | "line" | "pointer">): string {
  return `${file}${line === undefined ? "" : `:${line}`}${pointer === undefined ? "" : ` ${pointer}`}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
