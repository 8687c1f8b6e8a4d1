import type { Difference } from "./difference.ts";

/** What one case did, for every kind of tape. */
export interface Verdict {
  case: string;
  status: "passed" | "failed" | "skipped";
  durationMs: number;
  differences: readonly Difference[];
  /** Why it was skipped, why it stopped early, what else a reader has to know. */
  notes: readonly string[];
  /** What the other side logged; shown with a failure. */
  stderr: string;
  /** The file or folder the case is kept in, where a reviewer looks. */
  file: string;
}

export interface Summary {
  suite: string;
  passed: number;
  failed: number;
  skipped: number;
  durationMs: number;
  verdicts: readonly Verdict[];
}

/** Shows a run. `begin` and `verdict` come while it runs, verdicts in suite order. */
export interface Reporter {
  begin(suite: string, cases: number): void;
  verdict(verdict: Verdict): void;
  end(summary: Summary): void;
}

export const EXIT_PASSED = 0;
export const EXIT_DIFFERENCES = 1;
/** The suite could not be run, or nothing was checked, which must never look like a pass. */
export const EXIT_NOT_RUN = 2;

export function summarize(suite: string, verdicts: readonly Verdict[], durationMs: number): Summary {
  const count = (status: Verdict["status"]) => verdicts.filter((verdict) => verdict.status === status).length;
  return { suite, passed: count("passed"), failed: count("failed"), skipped: count("skipped"), durationMs, verdicts };
}

export function exitCodeOf(summary: Summary): number {
  if (summary.failed > 0) return EXIT_DIFFERENCES;
  return summary.passed === 0 ? EXIT_NOT_RUN : EXIT_PASSED;
}

/** The run in words: "3 passed, 1 failed". */
export function countsOf(summary: Summary): string {
  const counts = [`${summary.passed} passed`];
  if (summary.failed > 0) counts.push(`${summary.failed} failed`);
  if (summary.skipped > 0) counts.push(`${summary.skipped} skipped`);
  return counts.join(", ");
}
