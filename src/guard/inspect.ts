import { WholeFieldError } from "./finding.ts";
import type { GuardDirection, GuardHit, Screen, Screens } from "./guardrails.ts";

/** What rules say of a whole body. */
export interface Inspection {
  hits: GuardHit[];
  /** The one for which the body must not go on. */
  block: GuardHit | undefined;
  /** What goes on: the body itself, or without what was to be redacted. */
  body: Uint8Array;
  /** Without anything that any rule finds; undefined where it cannot be taken out. */
  masked: Uint8Array | undefined;
}

/** Looks at a whole body, decompressed. */
export function inspect(
  body: Uint8Array,
  contentType: string | undefined,
  screens: Screens,
  direction: GuardDirection,
): Inspection {
  const result: Inspection = { hits: [], block: undefined, body, masked: body };
  for (const screen of screens.all) {
    const { name: rule, action } = screen;
    const { found, fixed } = look(screen, result.body, contentType, direction);
    if (found.length === 0) continue;
    const hits = [...new Set(found)].map((detector) => ({ rule, action, detector, direction }));
    result.hits.push(...hits);
    // What cannot be taken out must not go on either.
    if (action === "block" || (action === "redact" && fixed === undefined)) result.block ??= hits[0]!;
    else if (action === "redact") result.body = fixed!;
    result.masked = result.masked && look(screen, result.masked, contentType, direction).fixed;
  }
  return result;
}

function look(
  { redactor }: Screen,
  body: Uint8Array,
  contentType: string | undefined,
  direction: GuardDirection,
): { found: string[]; fixed: Uint8Array | undefined } {
  const redaction = redactor.call();
  try {
    const fixed = redaction.body(body, contentType, `${direction} body`);
    return { found: redaction.findings.map(({ detector }) => detector), fixed };
  } catch (error) {
    if (!(error instanceof WholeFieldError)) throw error;
    return { found: [...redaction.findings.map(({ detector }) => detector), error.detector], fixed: undefined };
  }
}
