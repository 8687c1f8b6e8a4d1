import { type Command, InvalidArgumentError, Option } from "commander";
import type { Repeat } from "../fixtures/select.ts";
import type { RecordOptions } from "../server/recording.ts";
import { providerNames } from "../upstream/providers.ts";
import { collect, oneOf } from "./arguments.ts";

/** What becomes of calls that no fixture answers. */
export interface RecordOptionFlags {
  record?: true;
  proxyOnly?: true;
  upstreamTimeoutMs?: number;
  bodyTimeoutMs?: number;
  connectTimeoutMs?: number;
  maxProxyBufferBytes?: number;
  recordFullModelVersion?: true;
  ignore?: string[];
  repeat?: Repeat;
  /** `providerOpenai`, `providerAnthropic` … */
  [flag: `provider${string}`]: string | undefined;
}

const REPEATS: readonly Repeat[] = ["last", "cycle", "miss"];

export function recordOptions(command: Command): Command {
  return upstreamOptions(
    command
      .option("--record", "pass on what no fixture answers, and write the answers into the first folder of fixtures")
      .option("--proxy-only", "pass on what no fixture answers, and write nothing")
      .option("--record-full-model-version", "keep the date of a model's name in recordings"),
  ).option(
    "--repeat <how>",
    `after a recorded sequence: ${REPEATS.join(", ")} (last; while recording miss)`,
    oneOf(REPEATS),
  );
}

/** How providers are reached, and what of a request does not tell it from others. */
export function upstreamOptions(command: Command): Command {
  command
    .option("--upstream-timeout-ms <ms>", "for a provider to begin its answer (600000); 0 is for ever", milliseconds)
    .option("--body-timeout-ms <ms>", "between two pieces of an answer (600000); 0 is for ever", milliseconds)
    .option("--connect-timeout-ms <ms>", "for a connection to a provider (10000); 0 is for ever", milliseconds)
    .option("--max-proxy-buffer-bytes <bytes>", "of an answer that are kept for its recording (67108864)", bytes)
    .option("--ignore <pointer|pattern>", "what of a request says nothing about it; can be repeated", collect);
  for (const name of providerNames) {
    // Two dozen lines for one sentence: what there is stands in the documentation.
    command.addOption(new Option(`--provider-${name} <url>`, `where ${name} is`).argParser(baseUrl).hideHelp());
  }
  return command.addHelpText(
    "after",
    `\n--provider-<name> <url> says where a provider is: ${providerNames.join(", ")}.`,
  );
}

/** What recording would be done with, also when it is switched on later. */
export function recordSettings(flags: RecordOptionFlags, folder: string | undefined): RecordOptions {
  const { upstreamTimeoutMs, bodyTimeoutMs, connectTimeoutMs, maxProxyBufferBytes } = flags;
  return {
    providers: providersOf(flags),
    ...(folder !== undefined && { fixturePath: folder }),
    ...(!flags.record && { proxyOnly: true }),
    ...(upstreamTimeoutMs !== undefined && { upstreamTimeoutMs }),
    ...(bodyTimeoutMs !== undefined && { bodyTimeoutMs }),
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(maxProxyBufferBytes !== undefined && { maxProxyBufferBytes }),
    ...(flags.recordFullModelVersion && { fullModelVersion: true }),
    ...(flags.ignore !== undefined && { ignore: flags.ignore }),
  };
}

function providersOf(flags: RecordOptionFlags): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const name of providerNames) {
    const url = flags[`provider${name[0]!.toUpperCase()}${name.slice(1)}`];
    if (url !== undefined) urls[name] = url;
  }
  return urls;
}

function baseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError("Expected a URL that begins with http:// or https://.");
  }
  const { search, hash } = new URL(text);
  if (search !== "" || hash !== "") throw new InvalidArgumentError("Expected a URL without a query.");
  return text;
}

function milliseconds(text: string): number {
  return whole(text, 0);
}

function bytes(text: string): number {
  return whole(text, 1);
}

function whole(text: string, least: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > 2 ** 31 - 1) {
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${2 ** 31 - 1}.`);
  }
  return value;
}
