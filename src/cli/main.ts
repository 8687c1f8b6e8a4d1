#!/usr/bin/env node
import { Command } from "commander";
import { registerCassettes } from "./cassettes/manage.ts";
import { registerConvert } from "./convert.ts";
import { registerCoverage } from "./coverage.ts";
import { registerEnv } from "./env.ts";
import { registerExplain } from "./explain.ts";
import { registerGenerate } from "./generate.ts";
import { registerLint } from "./lint.ts";
import { registerPlay } from "./play.ts";
import { registerRecord } from "./record.ts";
import { registerAuto, registerReplay } from "./run.ts";
import { registerScan } from "./scan.ts";
import { registerProxy, registerServe } from "./serve.ts";
import { withVerb } from "./verb.ts";
import { registerVerify } from "./verify.ts";

// Who reads no longer what is said (`| head`) must not end a server, or a run before its command.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const program = new Command("stuntdouble")
  .description("Stands in for every model, tool and daemon that an application talks to.")
  .showHelpAfterError("(add --help for what there is)")
  // Wrong usage is exit code 2 everywhere; 1 is kept for what a run found.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

registerServe(program);
registerProxy(program);
registerVerify(program);
registerPlay(program);
registerRecord(program);
registerReplay(program);
registerAuto(program);
registerEnv(program);
registerLint(program);
registerCoverage(program);
registerGenerate(program);
registerExplain(program);
registerScan(program);
registerConvert(program);
registerCassettes(program);

await program.parseAsync(withVerb(process.argv));
