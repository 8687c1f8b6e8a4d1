import { isAbsolute } from "node:path";
import { SuiteError } from "./errors.ts";
import { type Bindings, REQUEST_FILE, type Transcript } from "./transcript.ts";

/** `${NAME}`. A request that means such a text itself writes its dollar sign as `\u0024`. */
const TOKEN = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The names of the tokens that a text holds. */
export function tokensIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].map((match) => match[1] as string);
}

/** A text without its tokens. */
export function withoutTokens(text: string): string {
  return text.replace(TOKEN, "");
}

/** The token of that name as it is written. */
export function tokenOf(name: string): string {
  return `\${${name}}`;
}

/** Whether a token of that name stands for something. */
export function isBound(name: string): boolean {
  return name === "FIXTURE" || name === "WORKDIR";
}

/** The text with the paths in place of `${FIXTURE}` and `${WORKDIR}`, each written by `write`; other tokens stay. */
export function substitute(text: string, bindings: Bindings, write: (path: string) => string): string {
  return text.replace(TOKEN, (token, name: string) => {
    if (name === "FIXTURE") return write(bindings.fixture);
    return name === "WORKDIR" ? write(bindings.workdir) : token;
  });
}

/** A path as it stands inside a JSON string. */
export function jsonEscaped(path: string): string {
  return JSON.stringify(path).slice(1, -1);
}

/**
 * The request lines with their placeholders replaced, as text and before anything parses them.
 *
 * @throws SuiteError for a token that stands for nothing: an adapter that was handed a literal `${WORKDIR}` would make
 * a folder of that name, and the case would fail far from the cause.
 */
export function bind(transcript: Transcript, bindings: Bindings): string[] {
  for (const [name, path] of Object.entries(bindings)) {
    if (!isAbsolute(path)) throw new TypeError(`The binding ${name} has to be an absolute path; it is "${path}".`);
  }
  return transcript.requests.map((line, index) => {
    // Looked for before anything is replaced: a folder may have a name that looks like a token.
    const left = tokensIn(line).find((name) => !isBound(name));
    if (left !== undefined)
      throw new SuiteError([{ file: `${transcript.dir}/${REQUEST_FILE}`, line: index + 1, message: tokenLeft(left) }]);
    return substitute(line, bindings, jsonEscaped);
  });
}

export function tokenLeft(name: string): string {
  return `${tokenOf(name)} stands for nothing: only \${FIXTURE} and \${WORKDIR} are replaced. Write \\u0024{…} if the text itself is meant.`;
}
