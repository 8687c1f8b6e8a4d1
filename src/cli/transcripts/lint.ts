import { formatProblem } from "../../conformance/errors.ts";
import { lintSuite } from "../../conformance/lint.ts";
import { exitCodeOf, type Reporter, summarize, type Verdict } from "../../report/verdict.ts";
import type { LintFlags } from "../flags.ts";
import { reportersFor } from "../reporting.ts";

export async function lintTranscripts(paths: readonly string[], flags: LintFlags): Promise<number> {
  const reporter = reportersFor(flags.reporter);
  const codes: number[] = [];
  for (const path of paths) codes.push(await lintOne(path, reporter));
  return Math.max(...codes);
}

async function lintOne(path: string, reporter: Reporter): Promise<number> {
  const startedAt = performance.now();
  const cases = await lintSuite(path);
  reporter.begin(path, cases.length);
  const verdicts = cases.map(
    (linted): Verdict => ({
      case: linted.case,
      status: linted.problems.length === 0 ? "passed" : "failed",
      durationMs: 0,
      differences: [],
      notes: linted.problems.map(formatProblem),
      stderr: "",
      file: linted.dir,
    }),
  );
  for (const verdict of verdicts) reporter.verdict(verdict);
  const summary = summarize(path, verdicts, performance.now() - startedAt);
  reporter.end(summary);
  return exitCodeOf(summary);
}
