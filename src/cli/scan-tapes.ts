import { isUtf8 } from "node:buffer";
import { type Dirent, existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MANIFEST_FILE } from "../conformance/transcript.ts";
import { LineFinder, lineAt } from "../fixtures/faults.ts";
import { redactTape } from "../fixtures/redact-tape.ts";
import { type Finding, RedactionOptionsError, WholeFieldError } from "../guard/finding.ts";
import { createRedactor, type Redaction, type Redactor } from "../guard/redact.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED } from "../report/verdict.ts";
import { writeWholeFile } from "../transport/whole-file.ts";
import type { ScanFlags } from "./flags.ts";
import { UsageError } from "./run-verb.ts";

/** A secret in a file. */
interface ScannedSecret {
  file: string;
  line: number;
  pointer?: string;
  detector: string;
  /** What stands there after `--fix`; missing where nothing may be put in its place. */
  replacement?: string;
}

/** The text of a file and what of it is to be written. */
interface ScannedFile {
  file: string;
  redacted: string | undefined;
  secrets: ScannedSecret[];
}

/**
 * Looks for secrets in all tapes under the paths, and replaces them if asked.
 * @returns the exit code: 0 when there are none, or all were replaced; 1 when there are
 * @throws {UsageError} for paths without a tape, or detectors that there are not
 */
export async function scan(paths: readonly string[], flags: ScanFlags): Promise<number> {
  const redactor = await redactorFor(flags);
  const tapes = await tapesUnder(paths);
  const scanned: ScannedFile[] = [];
  for (const files of tapes) scanned.push(...(await scanTape(files, redactor)));

  const secrets = scanned.flatMap((file) => file.secrets);
  const left = secrets.filter(({ replacement }) => flags.fix === undefined || replacement === undefined);
  let written = 0;
  for (const { file, redacted } of flags.fix ? scanned : []) {
    if (redacted === undefined) continue;
    await write(file, redacted);
    written++;
  }
  const files = scanned.length;
  if (flags.json) process.stdout.write(`${JSON.stringify({ files, written, secrets }, null, 2)}\n`);
  else process.stdout.write(report(secrets, files, written));
  return left.length > 0 ? EXIT_DIFFERENCES : EXIT_PASSED;
}

async function redactorFor({ detect = [], skip = [] }: ScanFlags): Promise<Redactor> {
  try {
    return await createRedactor({
      detectors: Object.fromEntries([...detect.map((name) => [name, true]), ...skip.map((name) => [name, false])]),
    });
  } catch (error) {
    throw error instanceof RedactionOptionsError ? new UsageError(error.message) : error;
  }
}

const TAPES = /\.(?:jsonc?|jsonl|ndjson|ya?ml)$/i;

/** The files under the paths, those of one tape together: the same secret is replaced by the same in all of them. */
async function tapesUnder(paths: readonly string[]): Promise<string[][]> {
  const tapes = new Map<string, Set<string>>();
  for (const path of paths) {
    const found = await filesUnder(path);
    if (found.length === 0)
      throw new UsageError(`${path}: there is no tape here; expected files of JSON, JSON lines or YAML.`);
    for (const file of found) {
      const tape = existsSync(join(dirname(file), MANIFEST_FILE)) ? dirname(file) : file;
      tapes.set(tape, (tapes.get(tape) ?? new Set()).add(file));
    }
  }
  return [...tapes.values()].map((files) => [...files]);
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
    .filter((file) => !/(?:^|[\\/])(?:node_modules|\.[^\\/.][^\\/]*)[\\/]/.test(file.slice(path.length)))
    .sort();
}

async function scanTape(files: readonly string[], redactor: Redactor): Promise<ScannedFile[]> {
  const redaction = redactor.call();
  const texts: [string, string][] = [];
  for (const file of files) texts.push([file, await read(file)]);
  for (const [, text] of texts) redaction.reserve(text);
  return texts.map(([file, text]) => scanFile(file, text, redaction));
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

function scanFile(file: string, text: string, redaction: Redaction): ScannedFile {
  const from = redaction.findings.length;
  const isLines = /\.(?:jsonl|ndjson)$/i.test(file);
  let redacted: string | undefined;
  let stopped: ScannedSecret[] = [];
  const lines = new Lines(text);
  try {
    redacted = isLines ? redactLines(text, redaction, file) : redactTape(text, redaction, file);
  } catch (error) {
    if (!(error instanceof WholeFieldError)) throw error;
    const { replacement: _, ...secret } = secretOf(file, { ...error, offset: 0, replacement: "" }, lines);
    stopped = [secret];
  }
  const secrets = redaction.findings.slice(from).map((finding) => secretOf(file, finding, lines));
  // A file is written whole or not at all.
  const kept = stopped.length > 0 ? secrets.map(({ replacement: _, ...secret }) => secret) : secrets;
  return { file, redacted: redacted === text ? undefined : redacted, secrets: [...kept, ...stopped] };
}

/** Each line by itself, so that its findings have a line; a JSON-RPC frame's text is not split over lines. */
function redactLines(text: string, redaction: Redaction, file: string): string {
  return text
    .split("\n")
    .map((line, index) => redaction.json(line, `${file}:${index + 1}`))
    .join("\n");
}

function secretOf(
  file: string,
  { pointer, offset, detector, replacement, place }: Finding,
  lines: Lines,
): ScannedSecret {
  const line = place === file ? lines.of(pointer, offset) : Number(place.slice(file.length + 1));
  return { file, line, ...(pointer !== undefined && { pointer }), detector, replacement };
}

/** Line numbers of pointers and offsets, found when they are asked for. */
class Lines {
  readonly #text: string;
  #finder: LineFinder | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  of(pointer: string | undefined, offset: number): number {
    if (pointer === undefined) return lineAt(this.#text, offset);
    this.#finder ??= new LineFinder(this.#text);
    return this.#finder.lineOf(pointer);
  }
}

function report(secrets: readonly ScannedSecret[], files: number, written: number): string {
  const lines = secrets.map(({ file, line, pointer, detector, replacement }) => {
    const where = `${file}:${line}${pointer === undefined ? "" : ` ${pointer}`}`;
    if (replacement === undefined)
      return `${where}: ${detector}; its file cannot be changed, since a field that must stay whole holds a secret. Record it again without.`;
    return `${where}: ${detector}${written > 0 ? `, now ${replacement}` : ""}`;
  });
  const count = `${secrets.length} ${secrets.length === 1 ? "secret" : "secrets"} in ${files} ${files === 1 ? "file" : "files"}`;
  const hint =
    secrets.length > 0 && written === 0 ? "; --fix replaces them" : written > 0 ? `; ${written} written` : "";
  return `${[...lines, `${count}${hint}.`].join("\n")}\n`;
}
