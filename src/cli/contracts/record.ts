import { loadContracts } from "../../conformance/contracts/load.ts";
import { recordContracts } from "../../conformance/contracts/record.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED } from "../../report/verdict.ts";
import type { RecordFlags } from "../flags.ts";
import { redactionSettings } from "../redact-options.ts";
import { liveTarget } from "./target.ts";

export async function recordContractFolder(
  path: string,
  names: readonly string[],
  command: readonly string[],
  flags: RecordFlags,
): Promise<number> {
  const redact = await redactionSettings(flags);
  const suite = await loadContracts(path);
  const { target, transport } = liveTarget(suite, command, flags);
  const recorded = await recordContracts(suite, target, names, {
    transport,
    redact,
    responseTimeoutMs: flags.responseTimeout,
    stopGraceMs: flags.stopGrace,
  });
  for (const { id, failed, notes } of recorded) {
    if (failed.length > 0) process.stderr.write(`${id}: not recorded: ${failed.join("; ")}.\n`);
    else process.stdout.write(`${id}: recorded.\n`);
    for (const note of notes) process.stderr.write(`${id}: ${note}.\n`);
  }
  return recorded.some(({ failed }) => failed.length > 0) ? EXIT_DIFFERENCES : EXIT_PASSED;
}
