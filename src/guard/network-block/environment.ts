import { createRequire } from "node:module";
import type { NetworkBlockOptions } from "./policy.ts";

/** What a child process is to hold to: a JSON list of options. */
export const BLOCK_VARIABLE = "STUNTDOUBLE_BLOCK";

let found: string | undefined;

/** The file that a process of Node's loads before all else, to block the network in it. */
export function preloadFile(): string {
  found ??= createRequire(import.meta.url).resolve("stuntdouble/block");
  return found;
}

/**
 * The variables that carry a block into a process of Node's, and on into its own children.
 * @param environment that it is to have besides
 */
export function blockEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  blocks: readonly NetworkBlockOptions[],
): { NODE_OPTIONS: string; [BLOCK_VARIABLE]: string } {
  const options = environment["NODE_OPTIONS"] ?? "";
  const preload = `--require ${quoted(preloadFile())}`;
  return {
    NODE_OPTIONS: options.includes(preload) ? options : `${options} ${preload}`.trim(),
    [BLOCK_VARIABLE]: blocksText(blocks),
  };
}

/** Functions stay behind. */
export function blocksText(blocks: readonly NetworkBlockOptions[]): string {
  return JSON.stringify(blocks.map(({ hosts, commands, report }) => ({ hosts, commands, report })));
}

/** @throws {Error} when it is broken: what it should keep out must not get out for that */
export function readBlocks(text: string): NetworkBlockOptions[] {
  try {
    return JSON.parse(text) as NetworkBlockOptions[];
  } catch (error) {
    throw new Error(`${BLOCK_VARIABLE} is no JSON list of what is let through: ${(error as Error).message}`);
  }
}

/** As `NODE_OPTIONS` has a path with spaces in it. */
function quoted(path: string): string {
  return /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
}
