import { WholeFieldError } from "../guard/finding.ts";
import type { Redactor } from "../guard/redact.ts";

/** Where in a JSON text there are secrets, and of which kind; never the secrets themselves. */
export function secretsIn(text: string, redactor: Redactor): { pointer: string; detector: string }[] {
  const redaction = redactor.call();
  try {
    redaction.json(text, "");
  } catch (error) {
    if (!(error instanceof WholeFieldError)) throw error;
    return [error];
  }
  return redaction.findings.map(({ pointer = "", detector }) => ({ pointer, detector }));
}
