import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/** A regular expression that cannot be used. */
export class PatternError extends Error {
  override readonly name = "PatternError";
  /** Which member is to blame. */
  readonly member: "regex" | "flags";

  constructor(message: string, member: "regex" | "flags") {
    super(message);
    this.member = member;
  }
}

/** `u` and `g` change nothing: the engine sees whole characters, and one match is enough. */
const FLAGS = "imsug";

/**
 * A regular expression from a file or from the control API: it takes linear time, whoever wrote it.
 *
 * @throws {PatternError} when the engine does not take it
 */
export function compileLinearRegex(source: string, flags = ""): RE2JS {
  const engine = loadEngine();
  let bits = 0;
  for (const flag of flags) {
    if (!FLAGS.includes(flag)) {
      throw new PatternError(`there is no flag "${flag}" here; expected some of i, m, s`, "flags");
    }
    if (flag === "i") bits |= engine.CASE_INSENSITIVE;
    else if (flag === "m") bits |= engine.MULTILINE;
    else if (flag === "s") bits |= engine.DOTALL;
  }
  try {
    return engine.compile(engine.translateRegExp(source), bits);
  } catch (error) {
    throw new PatternError(`it is no regular expression of RE2: ${reasonOf(error)}${hintFor(source)}`, "regex");
  }
}

function reasonOf(error: unknown): string {
  return (error as Error).message.replace(/^error parsing regexp: /, "");
}

function hintFor(source: string): string {
  if (/\(\?<?[=!]/.test(source)) return "; it has no look-around, so that every pattern takes linear time";
  if (/\\[1-9]/.test(source)) return "; it has no back references, so that every pattern takes linear time";
  return "";
}

let engine: typeof RE2JS | undefined;

/** Loaded with the first pattern that needs it, at once: fixtures are added without waiting. */
function loadEngine(): typeof RE2JS {
  engine ??= (createRequire(import.meta.url)("re2js") as { RE2JS: typeof RE2JS }).RE2JS;
  return engine;
}
