import { join } from "node:path";
import { CREDENTIALS_ONLY } from "../guard/detectors.ts";
import { createRedactor, type Redactor } from "../guard/redact.ts";
import { parsePointer, spansOf } from "../wire/json-pointer.ts";
import { tokensIn } from "./bind.ts";
import type { Problem } from "./errors.ts";
import { inspectSuite } from "./load.ts";
import { MANIFEST_MEMBERS } from "./manifest.ts";
import { makePlan } from "./plan.ts";
import { VOLATILE_MASK } from "./redact.ts";
import { isPlaceholder, secretsIn } from "./secrets.ts";
import { MANIFEST_FILE, REQUEST_FILE, RESPONSE_FILE, type Transcript } from "./transcript.ts";
import { stringsOf } from "./volatility.ts";

/** How a description begins that is still to be written. */
export const BLANK_DESCRIPTION = "TODO";

/** What lint found in one case. */
export interface LintedCase {
  case: string;
  dir: string;
  problems: readonly Problem[];
}

const MACHINE_PATH =
  /(?:^|[\s"'=(:])((?:\/(?:home|Users|root|tmp|private|var\/folders)\/|[A-Za-z]:\\(?:Users|Temp)\\)[^\s"')]*)|file:\/\/\/[^\s"')]+/;

/**
 * Looks for what a case should not hold, and would replay with all the same.
 *
 * @throws SuiteError when there is no case.
 */
export async function lintSuite(root: string): Promise<LintedCase[]> {
  const inspections = await inspectSuite(root, { recorded: true });
  const redactor = await createRedactor({ detectors: CREDENTIALS_ONLY }, undefined, isPlaceholder);
  return inspections.map(({ name, dir, transcript, problems }) => ({
    case: name,
    dir,
    problems: [...problems, ...(transcript ? lintTranscript(transcript, redactor) : [])],
  }));
}

export function lintTranscript(transcript: Transcript, redactor: Redactor): Problem[] {
  const { dir, manifest } = transcript;
  const manifestFile = join(dir, MANIFEST_FILE);
  const problems: Problem[] = [...makePlan(transcript).unanswered];
  const inManifest = (message: string) => void problems.push({ file: manifestFile, message });

  if (manifest.description.startsWith(BLANK_DESCRIPTION))
    inManifest(`"description" is still a blank ("${manifest.description}"): say which behaviour the case proves.`);
  const used = new Set(transcript.requests.flatMap(tokensIn));
  for (const token of Object.keys(manifest.placeholders)) {
    if (!used.has(token)) inManifest(`the placeholder ${token} is never used in ${REQUEST_FILE}.`);
  }
  for (const token of used) {
    if (!Object.hasOwn(manifest.placeholders, token))
      inManifest(`the placeholder ${token} is used and not described in "placeholders".`);
  }
  for (const pointer of manifest.volatile) {
    const pattern = parsePointer(pointer);
    if (!transcript.recorded.some((frame) => spansOf(frame, pattern).length > 0))
      inManifest(`the volatile pointer "${pointer}" matches nothing in any response.`);
  }
  for (const member of manifest.unknownMembers) {
    inManifest(`the member "${member}" is not known, and nothing reads it; known are ${MANIFEST_MEMBERS.join(", ")}.`);
  }
  for (const pointer of manifest.volatile) {
    const pattern = parsePointer(pointer);
    for (const [index, frame] of transcript.recorded.entries()) {
      const bare = spansOf(frame, pattern).some(
        (span) => frame.slice(span.start, span.end) !== JSON.stringify(VOLATILE_MASK),
      );
      if (bare)
        problems.push({
          file: join(dir, RESPONSE_FILE),
          line: index + 1,
          message: `the volatile value at ${pointer} is not masked; record the case again.`,
        });
    }
  }
  lintLines(transcript.requests, join(dir, REQUEST_FILE), redactor, problems);
  lintLines(transcript.recorded, join(dir, RESPONSE_FILE), redactor, problems);
  return problems;
}

function lintLines(lines: readonly string[], file: string, redactor: Redactor, problems: Problem[]): void {
  for (const [index, line] of lines.entries()) {
    for (const { pointer, detector } of secretsIn(line, redactor))
      problems.push({ file, line: index + 1, message: `${pointer} holds what looks like a secret (${detector}).` });
    for (const { pointer, value } of stringsOf(line)) {
      const path = MACHINE_PATH.exec(value);
      if (path)
        problems.push({
          file,
          line: index + 1,
          message: `${pointer} holds a path of someone's machine (${(path[1] ?? path[0]).slice(0, 60)}).`,
        });
    }
  }
}
