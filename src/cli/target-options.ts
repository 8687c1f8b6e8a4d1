import type { Command } from "commander";
import { durationMs, header, oneOf } from "./arguments.ts";

/** Adds the options that say how a target is reached. */
export function targetOptions(command: Command): Command {
  return command
    .option("--target <address>", "unix:…, tcp://…, http(s)://… or ws(s)://… instead of a command")
    .option(
      "--framing <framing>",
      "lines or content-length; overrides the manifest",
      oneOf(["lines", "content-length"]),
    )
    .option("--header <header>", '"Name: value" for HTTP and WebSocket; can be repeated', header)
    .option("--response-timeout <duration>", "longest wait for an answer (20s)", durationMs)
    .option("--drain-timeout <duration>", "longest wait for what follows the end of the input (2s)", durationMs)
    .option("--stop-grace <duration>", "time to end by itself before it is killed (2s)", durationMs)
    .option("--workdir <folder>", "where each case's workdir is made")
    .option("--keep-workdir", "leave the workdirs behind");
}
