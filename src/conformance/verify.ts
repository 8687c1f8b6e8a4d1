import { SuiteError } from "./errors.ts";
import { loadSuite } from "./load.ts";
import { planOf } from "./plan.ts";
import { type ReplayOptions, type Result, replay } from "./replay.ts";
import type { Target } from "./target.ts";
import type { Transcript } from "./transcript.ts";

export interface VerifyOptions extends ReplayOptions {
  /** Only the cases that it accepts are run. */
  filter?: ((transcript: Transcript) => boolean) | undefined;
  /** How many cases run at once; 1 where not given. */
  jobs?: number | undefined;
  /** Starts no further case once one has failed. */
  bail?: boolean | undefined;
  /** Told before the first case starts. */
  onBegin?: ((transcripts: readonly Transcript[]) => void) | undefined;
  /** Told each result as soon as it and all before it are there: in suite order, however many run at once. */
  onResult?: ((result: Result) => void) | undefined;
}

/**
 * Replays every case of the suite and gives a result for each, in suite order; with `bail` for those that were run.
 *
 * @throws SuiteError when the suite cannot be run, or holds no case that the filter accepts; TransportError when the
 * target cannot be started. A failed case is a result, not an error.
 */
export async function verify(root: string, target: Target, options: VerifyOptions = {}): Promise<Result[]> {
  const suite = await loadSuite(root);
  const transcripts = options.filter ? suite.filter(options.filter) : suite;
  if (transcripts.length === 0)
    throw new SuiteError([{ file: root, message: `the filter leaves none of the ${suite.length} cases.` }]);
  const problems = transcripts.flatMap(problemsOf);
  if (problems.length > 0) throw new SuiteError(problems);
  options.onBegin?.(transcripts);

  const results: (Result | undefined)[] = [];
  let reported = 0;
  let next = 0;
  let halted = false;
  const work = async () => {
    while (!halted && next < transcripts.length) {
      const at = next++;
      try {
        const result = await replay(transcripts[at] as Transcript, target, options);
        results[at] = result;
        if (!result.ok && options.bail) halted = true;
      } catch (error) {
        halted = true;
        throw error;
      }
      for (let ready = results[reported]; ready; ready = results[++reported]) options.onResult?.(ready);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.max(1, options.jobs ?? 1) }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return results.filter((result) => result !== undefined);
}

/** A request without an answer is found before anything starts, not when its turn comes. */
function problemsOf(transcript: Transcript) {
  try {
    planOf(transcript);
    return [];
  } catch (error) {
    if (error instanceof SuiteError) return error.problems;
    throw error;
  }
}
