import { createColors } from "picocolors";
import { type Difference, placeOf } from "./difference.ts";
import type { Output } from "./output.ts";
import { countsOf, type Reporter, type Summary, type Verdict } from "./verdict.ts";

const STDERR_LINES = 12;

/** For people: a line a case, and below a failed one what differs. */
export class PrettyReporter implements Reporter {
  private readonly output: Output;
  private readonly colors: ReturnType<typeof createColors>;
  private cases = 0;
  private done = 0;

  constructor(output: Output) {
    this.output = output;
    this.colors = createColors(output.colors);
  }

  begin(suite: string, cases: number): void {
    this.cases = cases;
    this.done = 0;
    this.output.write(`${this.colors.bold(suite)}, ${cases} ${cases === 1 ? "case" : "cases"}\n`);
    this.progress();
  }

  verdict(verdict: Verdict): void {
    this.done++;
    this.clearProgress();
    this.output.write(
      `${this.mark(verdict)} ${verdict.case} ${this.colors.dim(`${Math.round(verdict.durationMs)} ms`)}\n`,
    );
    if (verdict.status === "failed") for (const difference of verdict.differences) this.difference(difference);
    for (const note of verdict.notes) this.output.write(`    ${this.colors.yellow("note")} ${note}\n`);
    if (verdict.status === "failed") this.stderr(verdict.stderr);
    this.progress();
  }

  end(summary: Summary): void {
    this.clearProgress();
    const counts = countsOf(summary);
    this.output.write(
      `\n${summary.failed > 0 ? this.colors.red(counts) : this.colors.green(counts)} in ${Math.round(summary.durationMs)} ms\n`,
    );
    if (summary.failed === 0 && summary.passed === 0) this.output.write(`${this.colors.red("Nothing was checked.")}\n`);
  }

  private mark(verdict: Verdict): string {
    if (verdict.status === "passed") return this.colors.green("✓");
    return verdict.status === "failed" ? this.colors.red("✗") : this.colors.yellow("-");
  }

  private difference(difference: Difference): void {
    const { colors } = this;
    const detail = difference.detail === "" ? "" : ` ${difference.detail}`;
    this.output.write(`    ${colors.cyan(placeOf(difference))}${detail}\n`);
    if (difference.want !== "") this.output.write(`      ${colors.dim("want")} ${colors.green(difference.want)}\n`);
    if (difference.got !== "") this.output.write(`      ${colors.dim("got ")} ${colors.red(difference.got)}\n`);
  }

  private stderr(text: string): void {
    const lines = text.trimEnd().split("\n");
    if (text.trim() === "") return;
    this.output.write(
      `    ${this.colors.dim(lines.length > STDERR_LINES ? `stderr, the last ${STDERR_LINES} lines` : "stderr")}\n`,
    );
    for (const line of lines.slice(-STDERR_LINES)) this.output.write(`      ${this.colors.dim(line)}\n`);
  }

  // A line that is written over needs a terminal; in a log file it would be noise.
  private progress(): void {
    if (this.output.terminal && this.done < this.cases)
      this.output.write(this.colors.dim(`… ${this.done} of ${this.cases}`));
  }

  private clearProgress(): void {
    if (this.output.terminal) this.output.write("\r\u001b[2K");
  }
}
