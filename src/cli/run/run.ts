import { DEFAULT_SCENARIO } from "../../cassettes/identity.ts";
import { KNOWN_PRICES, type PriceList } from "../../chat/prices.ts";
import { RedactionOptionsError } from "../../guard/finding.ts";
import { GuardError } from "../../guard/guardrails.ts";
import type { GuardOptions } from "../../guard/options.ts";
import type { RedactionOptions } from "../../guard/redact.ts";
import { type CassetteMode, type CassetteOptions, DEFAULT_CASSETTES } from "../../server/cassette-options.ts";
import { SystemClock } from "../../state/clock.ts";
import { cassetteSettings } from "../cassette-options.ts";
import { guardSettings } from "../guard-options.ts";
import { recordSettings } from "../record-options.ts";
import { redactionSettings } from "../redact-options.ts";
import type { WrapFlags } from "../run-options.ts";
import { UsageError } from "../run-verb.ts";
import { CommandError, runCommand } from "./child.ts";
import { commandEnvironment, upstreamsOf } from "./environment.ts";
import { faultsOf, figuresOf } from "./figures.ts";
import { HttpSource } from "./http-source.ts";
import { type NetworkLimits, networkLimits, RunBlock } from "./offline.ts";
import { readPrices } from "./prices-file.ts";
import { reportFiles, reportOf, writeReport } from "./report.ts";
import { isInSandbox, runInSandbox } from "./sandbox.ts";
import { summaryLines } from "./summary.ts";
import type { SourceOutcome, TapeSource } from "./tape-source.ts";
import { runOnChange } from "./watch.ts";

/** What a run failed with although its command did not. */
const FAILED = 1;
const DEFAULT_GRACE_MS = 2_000;

/**
 * Runs a command with its calls recorded or replayed.
 * @returns the command's exit code, or 1 where it is 0 and the run failed
 * @throws {UsageError | CassetteError} when it cannot be run
 */
export async function runWithTapes(mode: CassetteMode, command: readonly string[], flags: WrapFlags): Promise<number> {
  try {
    return await run(mode, command, flags);
  } catch (error) {
    const unusable = error instanceof GuardError || error instanceof RedactionOptionsError;
    throw unusable ? new UsageError(error.message) : error;
  }
}

async function run(mode: CassetteMode, command: readonly string[], flags: WrapFlags): Promise<number> {
  if (command.length === 0)
    throw new UsageError(`stuntdouble ${mode} needs a command: stuntdouble ${mode} --scenario NAME -- COMMAND …`);
  const cassettes = settingsOf(mode, flags);
  const stopGraceMs = flags.stopGrace ?? DEFAULT_GRACE_MS;
  if (flags.report !== undefined) reportFiles(flags.report);
  const limits = networkLimits(cassettes.mode, flags);
  if (flags.sandbox && !isInSandbox(process.env)) {
    if (cassettes.mode !== "replay")
      throw new UsageError(
        `--sandbox cuts off the providers too, so that nothing can be recorded: it goes with replay.`,
      );
    return runInSandbox(stopGraceMs);
  }
  const prices = flags.prices === undefined ? KNOWN_PRICES : await readPrices(flags.prices);
  const guard = guardWith(prices, await guardSettings(flags));
  const redact = await redactionSettings(flags);
  const once = (signal?: AbortSignal): Promise<{ code: number; told: boolean }> =>
    runOnce({ command, cassettes, flags, limits, guard, redact, prices, stopGraceMs, ...(signal && { signal }) });
  if (flags.watch === undefined) return (await once()).code;
  const { report, cassettes: folder = DEFAULT_CASSETTES } = flags;
  return runOnChange(once, {
    paths: flags.watch.length > 0 ? flags.watch : ["."],
    ignored: [
      ...(cassettes.mode === "replay" ? [] : [folder]),
      ...(report === undefined ? [] : Object.values(reportFiles(report))),
    ],
    waiting: () => say("Waiting for changes; Ctrl-C ends it."),
  });
}

function settingsOf(mode: CassetteMode, flags: WrapFlags): CassetteOptions & { scenario: string } {
  if (flags.scenario === "") throw new UsageError("--scenario needs a name.");
  const settings = cassetteSettings({ ...flags, vcr: mode }, process.env, say);
  return { ...settings!, scenario: settings!.scenario ?? DEFAULT_SCENARIO };
}

interface Run {
  command: readonly string[];
  cassettes: CassetteOptions & { scenario: string };
  flags: WrapFlags;
  limits: NetworkLimits | undefined;
  guard: GuardOptions | undefined;
  redact: RedactionOptions | undefined;
  prices: PriceList;
  stopGraceMs: number;
  signal?: AbortSignal;
}

/** What a run costs is counted by one list. */
function guardWith(prices: PriceList, guard: GuardOptions | undefined): GuardOptions | undefined {
  return guard?.breaker === undefined ? guard : { ...guard, breaker: { prices, ...guard.breaker } };
}

async function runOnce(run: Run): Promise<{ code: number; told: boolean }> {
  const { command, cassettes, flags, limits, guard, redact, prices, stopGraceMs, signal } = run;
  const clock = new SystemClock();
  const startedAt = clock.wall();
  const begin = clock.now();
  const record = recordSettings(flags, undefined);
  const providers = { ...upstreamsOf(process.env), ...record.providers };
  const sources: TapeSource[] = [
    new HttpSource({ cassettes, record: { ...record, providers }, guard, redact, warn: say }),
  ];
  const variables = Object.assign({}, ...(await Promise.all(sources.map((source) => source.start()))));
  const block = limits && new RunBlock(limits);
  let ending: Awaited<ReturnType<typeof runCommand>>;
  try {
    ending = await runCommand(command, {
      env: { ...commandEnvironment(process.env, variables), ...block?.variables(process.env) },
      stopGraceMs,
      ...(signal && { signal }),
    });
  } catch (error) {
    await finished(sources);
    block?.finish();
    if (!(error instanceof CommandError)) throw error;
    say(error.message);
    return { code: error.exitCode, told: false };
  }
  const outcome = await finished(sources);
  const refused = block?.finish() ?? [];
  const { mode, scenario } = cassettes;
  const figures = figuresOf(outcome, prices);
  const faults = faultsOf(figures, outcome, { miss: flags.allowMiss ?? false, empty: flags.allowEmpty ?? false });
  const exitCode = ending.code === 0 && faults.length > 0 ? FAILED : ending.code;
  const pruned = cassettes.prune === true && figures.recorded + figures.replayed > 0;
  for (const line of summaryLines(figures, outcome, { mode, scenario, pruned })) say(line);
  for (const target of new Set(refused.map(({ kind, target }) => `${kind} ${target}`))) say(`  refused ${target}`);
  for (const name of ending.leftBehind) say(`The command left ${name} behind, which was ended.`);
  for (const fault of faults) say(fault);
  if (flags.report !== undefined) {
    const facts = {
      command,
      mode,
      scenario,
      startedAt: new Date(startedAt).toISOString(),
      durationMs: Math.round(clock.now() - begin),
      commandExitCode: ending.code,
      exitCode,
      faults,
      leftBehind: ending.leftBehind,
      refused,
    };
    const fault = writeReport(flags.report, await reportOf(facts, figures, outcome, prices, redact));
    if (fault !== undefined) {
      say(fault);
      return { code: ending.code === 0 ? FAILED : ending.code, told: ending.told };
    }
  }
  return { code: exitCode, told: ending.told };
}

async function finished(sources: readonly TapeSource[]): Promise<SourceOutcome> {
  const outcomes = await Promise.all(sources.map((source) => source.finish()));
  return {
    calls: outcomes.flatMap(({ calls }) => calls),
    takes: outcomes.flatMap(({ takes }) => takes),
    unused: outcomes.flatMap(({ unused }) => unused),
    lost: outcomes.flatMap(({ lost }) => lost),
  };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
