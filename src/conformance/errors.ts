/** One thing that is wrong with a suite. */
export interface Problem {
  file: string;
  /** 1-based; undefined when it is about the file as a whole. */
  line?: number | undefined;
  message: string;
}

/** A suite that cannot be run as it is. Nothing was sent or served. */
export class SuiteError extends Error {
  override readonly name = "SuiteError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}

export function formatProblem(problem: Problem): string {
  return `${problem.file}${problem.line === undefined ? "" : `:${problem.line}`}: ${problem.message}`;
}
