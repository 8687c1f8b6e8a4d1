import { lintContracts } from "../../conformance/contracts/lint.ts";
import { formatProblem } from "../../conformance/errors.ts";
import { exitCodeOf, summarize, type Verdict } from "../../report/verdict.ts";
import type { LintFlags } from "../flags.ts";
import { reportersFor } from "../reporting.ts";

export async function lintContractFolder(paths: readonly string[], flags: LintFlags): Promise<number> {
  const reporter = reportersFor(flags.reporter);
  const startedAt = performance.now();
  const linted = (await Promise.all(paths.map(lintContracts))).flat();
  const path = paths.join(" ");
  reporter.begin(path, linted.length);
  const verdicts = linted.map(
    ({ id, file, problems }): Verdict => ({
      case: id,
      status: problems.length === 0 ? "passed" : "failed",
      durationMs: 0,
      differences: [],
      notes: problems.map(formatProblem),
      stderr: "",
      file,
    }),
  );
  for (const verdict of verdicts) reporter.verdict(verdict);
  const summary = summarize(path, verdicts, performance.now() - startedAt);
  reporter.end(summary);
  return exitCodeOf(summary);
}
