import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { registerBehaviour } from "./behaviour-flags.ts";
import { cassetteOptions } from "./cassette-options.ts";
import { guardOptions } from "./guard-options.ts";
import { recordOptions } from "./record-options.ts";
import { redactOption } from "./redact-options.ts";
import type { LogLevel, ServeSettings } from "./run-serve.ts";

const LOG_LEVELS: LogLevel[] = ["silent", "warn", "info", "debug"];

export function registerServe(program: Command): void {
  register(program.command("serve").description("serve fixtures as a stand-in for model providers"));
}

/** The same server for applications without a base URL, which are told of a proxy instead. */
export function registerProxy(program: Command): void {
  register(
    program
      .command("proxy")
      .description("serve fixtures to applications that use this as their HTTPS proxy; what none answers passes")
      .requiredOption("--ca <dir>", "folder of the local certificate authority, which is made on first use"),
  );
}

function register(command: Command): void {
  command
    .argument("[path...]", "fixture files, folders, globs and URLs (./fixtures if there is such a folder)")
    .option("-p, --port <port>", "port; 0 takes a free one", integer(0, 65_535), 4010)
    .option("-h, --host <host>", "address to listen on", "127.0.0.1")
    .option("-f, --fixtures <path>", "the same as an argument; can be repeated", collect, [])
    .option("--config <file>", "an aimock.json; what the command line says wins over it")
    .option("-w, --watch", "serve what changes in the files, without a new start")
    .option("--validate-on-load", "files are checked in any case; for command lines that have it")
    .option("-l, --latency <ms>", "milliseconds before each chunk", integer(0, 3_600_000))
    .option("-c, --chunk-size <characters>", "characters in a piece of streamed text (20)", integer(1, 1_000_000))
    .option("--log-level <level>", `one of ${LOG_LEVELS.join(", ")}`, oneOf(LOG_LEVELS), "info")
    .option("--seed <seed>", "fix ids, time stamps and chance: the same calls get the same bytes")
    .option("--tls", "HTTPS with a certificate made on the spot")
    .option("--tls-cert <file>", "HTTPS with this certificate (PEM)")
    .option("--tls-key <file>", "its private key (PEM)");
  registerBehaviour(guardOptions(redactOption(cassetteOptions(recordOptions(command)))))
    .helpOption("--help", "show this help")
    .action(async (paths: string[], flags: ServeSettings) => {
      const { serve } = await import("./run-serve.ts");
      const settings = await withConfig({ ...flags, fixtures: [...paths, ...flags.fixtures] }, command);
      await serve(settings);
    });
}

/** Over what the environment and a configuration file say, but not over what is the default only. */
async function withConfig(flags: ServeSettings, command: Command): Promise<ServeSettings> {
  const { apiKeysInEnvironment, readAimockConfig, ConfigError } = await import("./aimock-config.ts");
  const apiKey = apiKeysInEnvironment();
  const below = { ...flags, ...(flags.apiKey === undefined && apiKey !== undefined && { apiKey }) };
  if (flags.config === undefined) return below;
  try {
    const said = Object.entries(readAimockConfig(flags.config)).filter(([name]) =>
      name === "fixtures" ? flags.fixtures.length === 0 : !isSaid(command, name),
    );
    return { ...below, ...Object.fromEntries(said), ...(apiKey !== undefined && { apiKey: below.apiKey ?? apiKey }) };
  } catch (error) {
    if (error instanceof ConfigError) command.error(error.message, { exitCode: 2 });
    throw error;
  }
}

function isSaid(command: Command, name: string): boolean {
  const source = command.getOptionValueSource(name);
  return source !== undefined && source !== "default";
}

function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    if (!words.includes(text as T)) throw new InvalidArgumentError(`Expected one of ${words.join(", ")}.`);
    return text as T;
  };
}

function collect(value: string, values: string[]): string[] {
  return [...values, value];
}
