import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWholeFile } from "../transport/whole-file.ts";
import { memberAt, replaceSpans, rootSpan } from "../wire/json-text.ts";
import { makePlan } from "./plan.ts";
import { redact } from "./redact.ts";
import { perform, type ReplayOptions } from "./replay.ts";
import type { Target } from "./target.ts";
import { MANIFEST_FILE, REQUEST_FILE, RESPONSE_FILE, type Transcript } from "./transcript.ts";

export interface Recording {
  case: string;
  dir: string;
  /** The frames as they came, not masked yet. */
  frames: readonly string[];
  stderr: string;
  /** Why it is not whole; empty when it is. One that is not whole is not to be written. */
  stopped: string;
  /** What came and is no frame, in words. */
  noise: readonly string[];
}

/**
 * Drives the requests of a case and gives what the adapter answers. The case need not have been recorded before.
 *
 * @throws TransportError when the target cannot be started.
 */
export async function record(transcript: Transcript, target: Target, options: ReplayOptions = {}): Promise<Recording> {
  const { result, stderr } = await perform(
    transcript,
    makePlan(transcript, transcript.recorded.length > 0),
    target,
    options,
  );
  return {
    case: transcript.manifest.case,
    dir: transcript.dir,
    frames: result.frames.map(({ text }) => text),
    stderr,
    stopped: result.stopped,
    noise: result.noise.map(({ noise }) => noise.reason),
  };
}

/** Writes `response.jsonl`, masked, and the number of frames into the manifest, whose other text stays as it is. */
export async function writeRecording(
  dir: string,
  frames: readonly string[],
  volatile: readonly string[],
): Promise<void> {
  const manifestFile = join(dir, MANIFEST_FILE);
  const text = await readFile(manifestFile, "utf8");
  const member = memberAt(text, rootSpan(text).start, "responses");
  const manifest = member
    ? replaceSpans(text, [member], String(frames.length))
    : jsonFile({ ...(JSON.parse(text) as object), responses: frames.length });
  await writeWholeFile(join(dir, RESPONSE_FILE), linesFile(frames.map((frame) => redact(frame, volatile))));
  await writeWholeFile(manifestFile, manifest);
}

/** Writes a new case. */
export async function writeCase(
  dir: string,
  manifest: object,
  requests: readonly string[],
  frames: readonly string[],
  volatile: readonly string[],
): Promise<void> {
  await mkdir(dir, { recursive: true });
  await writeWholeFile(join(dir, MANIFEST_FILE), jsonFile(manifest));
  await writeWholeFile(join(dir, REQUEST_FILE), linesFile(requests));
  await writeWholeFile(join(dir, RESPONSE_FILE), linesFile(frames.map((frame) => redact(frame, volatile))));
}

function jsonFile(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function linesFile(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
