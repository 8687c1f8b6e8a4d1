import { type Command, InvalidArgumentError } from "commander";
import { CALL_LIMITS, USAGE_LIMITS } from "../guard/breaker.ts";
import { type GuardOptions, readGuardOptions } from "../guard/options.ts";
import { collect } from "./arguments.ts";

/** What the command line says of what must not pass. */
export interface GuardFlags {
  guard?: string;
  block?: string[];
  limit?: Limit[];
}

interface Limit {
  scope: "call" | "scenario" | "run";
  name: string;
  most: number;
}

export function guardOptions(command: Command): Command {
  return command
    .option("--guard <file>", "what must not pass, and limits of replies: a file as schemas/guard.schema.json says")
    .option("--block <what>", "refuse what this detector, or family of them, finds; can be repeated", collect)
    .option(
      "--limit <name=number>",
      "cut replies there: outputTokens=500, run.cost=1 …; can be repeated",
      (text: string, before: Limit[] = []) => [...before, limitOf(text)],
    );
}

/**
 * What the file says, and what the flags say besides.
 * @returns undefined where nothing is said
 * @throws {UsageError} when the file cannot be used
 */
export async function guardSettings({ guard, block, limit = [] }: GuardFlags): Promise<GuardOptions | undefined> {
  if (guard === undefined && block === undefined && limit.length === 0) return undefined;
  const { rules = [], breaker = {} } = guard === undefined ? {} : await guardFile(guard);
  const scopes = { ...breaker };
  for (const { scope, name, most } of limit) scopes[scope] = { ...scopes[scope], [name]: most };
  return {
    rules: [
      ...rules,
      ...(block === undefined ? [] : [{ name: "--block", action: "block" as const, detectors: block }]),
    ],
    ...(Object.keys(scopes).length > 0 && { breaker: scopes }),
  };
}

async function guardFile(path: string): Promise<GuardOptions> {
  const { optionsInFile } = await import("./options-file.ts");
  return optionsInFile("--guard", path, readGuardOptions);
}

function limitOf(text: string): Limit {
  const [, scope = "call", name = "", number = ""] =
    /^(?:(call|scenario|run)\.)?(\w+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const known: readonly string[] =
    scope === "call" ? CALL_LIMITS.filter((one) => one !== "repeatedText") : USAGE_LIMITS;
  if (!known.includes(name))
    throw new InvalidArgumentError(
      `Expected one of ${known.join(", ")}, with scenario. or run. before it where all calls count together, = and a number.`,
    );
  return { scope: scope as Limit["scope"], name, most: Number(number) };
}
