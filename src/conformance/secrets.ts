import { saysNothing } from "../guard/find.ts";
import { WholeFieldError } from "../guard/finding.ts";
import type { Redactor } from "../guard/redact.ts";
import { tokensIn, withoutTokens } from "./bind.ts";
import { placeholderIn } from "./contracts/template.ts";
import { VOLATILE_MASK } from "./redact.ts";

/** Whether a text of a tape only marks where something will stand or has stood: it is no secret, whatever it is called. */
export function isPlaceholder(text: string): boolean {
  return text === VOLATILE_MASK || (tokensIn(text).length > 0 && saysNothing(withoutTokens(text)));
}

/** The same for contracts, which have placeholders of their own. */
export function isContractPlaceholder(text: string): boolean {
  return placeholderIn(text) !== undefined || isPlaceholder(text);
}

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
