import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `500ms`, `20s`, `1.5m` or `1h` as milliseconds. A bare number is refused: nobody could tell its unit. */
export function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  if (!match) throw new InvalidArgumentError("Expected a duration such as 500ms, 20s or 2m.");
  return Math.round(Number(match[1]) * (UNITS[match[2] as string] as number));
}

/** Reads a whole number of at least 1. */
export function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1_000_000)
    throw new InvalidArgumentError("Expected a whole number of at least 1.");
  return value;
}

/** Reads one of the words. */
export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((known) => known === text);
    if (word === undefined) throw new InvalidArgumentError(`Expected one of ${words.join(", ")}.`);
    return word;
  };
}

/** For an option that can be repeated. */
export function collect(value: string, values: string[] = []): string[] {
  return [...values, value];
}

/** Reads `Name: value`, for an option that can be repeated. */
export function header(text: string, headers: Record<string, string> = {}): Record<string, string> {
  const colon = text.indexOf(":");
  if (colon < 1) throw new InvalidArgumentError('Expected a header as "Name: value".');
  return { ...headers, [text.slice(0, colon).trim()]: text.slice(colon + 1).trim() };
}

/** Reads `METHOD=500ms`, for an option that can be repeated. */
export function methodDelay(text: string, delays: Record<string, number> = {}): Record<string, number> {
  const equals = text.lastIndexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Expected METHOD=DURATION, such as capture.offer=500ms.");
  return { ...delays, [text.slice(0, equals)]: durationMs(text.slice(equals + 1)) };
}

/** Splits what follows a verb into what stands before `--` and the command after it. Commander joins the two. */
export function splitAtDashes(
  rawArguments: readonly string[],
  operands: readonly string[],
): { before: string[]; command: string[] } {
  const dashes = rawArguments.indexOf("--");
  const after = dashes < 0 ? 0 : rawArguments.length - dashes - 1;
  return { before: operands.slice(0, operands.length - after), command: operands.slice(operands.length - after) };
}
