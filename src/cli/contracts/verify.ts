import { isNamed, loadContracts } from "../../conformance/contracts/load.ts";
import { verifyContracts } from "../../conformance/contracts/verify.ts";
import { exitCodeOf, summarize } from "../../report/verdict.ts";
import type { VerifyFlags } from "../flags.ts";
import { reportersFor } from "../reporting.ts";
import { UsageError } from "../run-verb.ts";
import { liveTarget } from "./target.ts";

export async function verifyContractFolder(
  path: string,
  command: readonly string[],
  flags: VerifyFlags,
): Promise<number> {
  if (flags.watch || flags.update)
    throw new UsageError(
      "--watch and --update are for transcripts; a contract is recorded anew by stuntdouble record.",
    );
  const suite = await loadContracts(path);
  const { target, transport } = liveTarget(suite, command, flags);
  const reporter = reportersFor(flags.reporter);
  const startedAt = performance.now();
  const { filter } = flags;
  const verdicts = await verifyContracts(suite, target, {
    transport,
    allow: flags.allow,
    filter: filter === undefined ? undefined : (contract) => contract.id.includes(filter) || isNamed(contract, filter),
    jobs: flags.jobs,
    bail: flags.bail,
    responseTimeoutMs: flags.responseTimeout,
    stopGraceMs: flags.stopGrace,
    onBegin: (count) => reporter.begin(path, count),
    onVerdict: (verdict) => reporter.verdict(verdict),
  });
  const summary = summarize(path, verdicts, performance.now() - startedAt);
  reporter.end(summary);
  return exitCodeOf(summary);
}
