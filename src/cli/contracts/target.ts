import type { TransportName } from "../../conformance/contracts/contract.ts";
import type { Suite } from "../../conformance/contracts/load.ts";
import { withEnvironment } from "../../conformance/contracts/run.ts";
import type { Target } from "../../conformance/target.ts";
import { parseAddress } from "../../transport/address.ts";
import type { TargetFlags } from "../flags.ts";
import { UsageError } from "../run-verb.ts";
import { targetFor } from "../transcripts/target.ts";

/** The live service that the command line names, with the headers of the suite's authentication. */
export function liveTarget(
  suite: Suite,
  command: readonly string[],
  flags: TargetFlags,
): { target: Target; transport: TransportName } {
  const transport = command.length > 0 || flags.target === undefined ? "stdio" : parseAddress(flags.target).kind;
  const wanted = suite.settings.authentication?.headers ?? {};
  let headers: Record<string, string>;
  try {
    headers = JSON.parse(withEnvironment(JSON.stringify(wanted), process.env));
  } catch (error) {
    throw new UsageError(`${suite.root}: ${(error as Error).message}.`);
  }
  return { target: targetFor(command, { ...flags, header: { ...headers, ...flags.header } }), transport };
}
