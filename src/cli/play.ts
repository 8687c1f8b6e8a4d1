import type { Command } from "commander";
import { collect, methodDelay, oneOf } from "./arguments.ts";
import { registerChaos } from "./behaviour-flags.ts";
import type { PlayFlags } from "./flags.ts";

export function registerPlay(program: Command): void {
  registerChaos(
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
      .option("--allow <contract>", "answer as a contract says whose condition holds; can be repeated", collect)
      .option("--delay <method=duration>", "let a method take its time; can be repeated", methodDelay)
      .option("--control <address>", "serve the control API there, such as http://127.0.0.1:4011")
      .option("--seed <seed>", "fix ids and chance"),
  ).action(async (path: string, flags: PlayFlags) => {
    const { runVerb } = await import("./run-verb.ts");
    const { kindOf } = await import("./tape-kinds.ts");
    await runVerb(async () => (await kindOf(path, "play")).play(path, flags));
  });
}
