import type { Command } from "commander";
import { collect, oneOf } from "./arguments.ts";
import type { PlayFlags } from "./flags.ts";

export function registerPlay(program: Command): void {
  program
    .command("play")
    .description("answer JSON-RPC from a tape, in the real thing's place")
    .argument("<path>", "a tape or a suite of tapes; what it holds tells its kind")
    .option("--listen <address>", "stdio, unix:…, tcp://…, http://… or ws://…; can be repeated (stdio)", collect)
    .option("--case <name>", "the case of the suite to play")
    .option(
      "--framing <framing>",
      "lines or content-length; overrides the manifest",
      oneOf(["lines", "content-length"]),
    )
    .action(async (path: string, flags: PlayFlags) => {
      const { runVerb } = await import("./run-verb.ts");
      const { kindOf } = await import("./tape-kinds.ts");
      await runVerb(async () => (await kindOf(path, "play")).play(path, flags));
    });
}
