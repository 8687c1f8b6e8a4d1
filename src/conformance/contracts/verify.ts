import type { Verdict } from "../../report/verdict.ts";
import { type Clock, TimerClock } from "../../state/clock.ts";
import { SuiteError } from "../errors.ts";
import type { Target } from "../target.ts";
import { unboundIn } from "./bindings.ts";
import type { Contract, SetupCall, TransportName } from "./contract.ts";
import { coverageOf, describeCoverage } from "./coverage.ts";
import { isNamed, type Suite } from "./load.ts";
import { type RunOptions, runContract } from "./run.ts";
import type { Template } from "./template.ts";

export interface VerifyContractsOptions {
  /** What the target is reached by: contracts with another `transport` are skipped. */
  transport: TransportName;
  /** Contracts with `requires` whose condition has been arranged, by file or name. */
  allow?: readonly string[] | undefined;
  /** Only the contracts that it accepts. */
  filter?: ((contract: Contract) => boolean) | undefined;
  /** How many run at once; 1 where not given, since services have a state. */
  jobs?: number | undefined;
  bail?: boolean | undefined;
  /** The longest wait for a reply; 20 s where not given. */
  responseTimeoutMs?: number | undefined;
  /** How long it is listened for what must not come; 50 ms where not given. */
  settleMs?: number | undefined;
  /** How long a process may take to end by itself; 2 s where not given. */
  stopGraceMs?: number | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
  onBegin?: ((count: number) => void) | undefined;
  /** Told each verdict as soon as it and all before it are there. */
  onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/**
 * Holds a live service to every contract, each over a connection of its own, and says what of the schema no contract
 * covers. Verdicts are in the order of the contracts, coverage last.
 *
 * @throws SuiteError when a placeholder is used that nothing binds, or no contract is left; TransportError when the
 * target cannot be reached.
 */
export async function verifyContracts(
  suite: Suite,
  target: Target,
  options: VerifyContractsOptions,
): Promise<Verdict[]> {
  const contracts = options.filter ? suite.contracts.filter(options.filter) : suite.contracts;
  if (contracts.length === 0)
    throw new SuiteError([
      { file: suite.root, message: `none of the ${suite.contracts.length} contracts is left to run.` },
    ]);
  checkAllowed(suite, options.allow ?? []);
  const problems = contracts.flatMap((contract) => unboundPlaceholders(contract, suite));
  if (problems.length > 0) throw new SuiteError(problems);
  const run: RunOptions = {
    transport: options.transport,
    clock: options.clock ?? new TimerClock(),
    random: options.random ?? Math.random,
    responseTimeoutMs: options.responseTimeoutMs ?? 20_000,
    settleMs: options.settleMs ?? 50,
    stopGraceMs: options.stopGraceMs ?? 2_000,
    env: options.env ?? process.env,
  };
  const coverage = coverageOf(suite);
  options.onBegin?.(contracts.length + (coverage ? 1 : 0));
  const verdicts: Verdict[] = [];
  const results: (Verdict | undefined)[] = [];
  let next = 0;
  let halted = false;
  const work = async () => {
    while (!halted && next < contracts.length) {
      const at = next++;
      const contract = contracts[at] as Contract;
      try {
        const why = whySkipped(contract, options);
        results[at] = why === undefined ? await runContract(contract, suite, target, run) : skipped(contract, why);
      } catch (error) {
        halted = true;
        throw error;
      }
      if (results[at]?.status === "failed" && options.bail) halted = true;
      for (let ready = results[verdicts.length]; ready; ready = results[verdicts.length]) {
        verdicts.push(ready);
        options.onVerdict?.(ready);
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.max(1, options.jobs ?? 1) }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  for (let at = verdicts.length; at < contracts.length; at++) {
    const verdict = results[at] ?? skipped(contracts[at] as Contract, "not run: a contract before it failed");
    verdicts.push(verdict);
    options.onVerdict?.(verdict);
  }
  if (coverage) {
    // Gaps are said and fail nothing here; `coverage --require` is for those who want them to. A run that checked
    // nothing must not pass because of a complete schema.
    const checked = verdicts.some(({ status }) => status !== "skipped");
    const verdict: Verdict = {
      case: "coverage",
      status: checked && coverage.missing.length === 0 ? "passed" : "skipped",
      durationMs: 0,
      differences: [],
      notes: [describeCoverage(coverage), ...coverage.missing, ...coverage.unknown],
      stderr: "",
      file: suite.root,
    };
    verdicts.push(verdict);
    options.onVerdict?.(verdict);
  }
  return verdicts;
}

/** @throws SuiteError for a name that no contract has: it would be skipped all the same, and nobody would notice */
export function checkAllowed(suite: Suite, allow: readonly string[]): void {
  const unknown = allow.filter((name) => !suite.contracts.some((contract) => isNamed(contract, name)));
  if (unknown.length > 0)
    throw new SuiteError(
      unknown.map((name) => ({ file: suite.root, message: `there is no contract "${name}" to allow.` })),
    );
}

function whySkipped(contract: Contract, { allow = [], transport }: VerifyContractsOptions): string | undefined {
  if (contract.kind === "unrecorded") return "it has no response yet: stuntdouble record writes it";
  if (contract.requires !== undefined && !allow.some((name) => isNamed(contract, name)))
    return `it requires: ${contract.requires} (arrange that, and add --allow ${contract.id})`;
  if (contract.transport !== undefined && contract.transport !== transport)
    return `it is for ${contract.transport} only, and the target is reached by ${transport}`;
  if (contract.kind === "event" && contract.event.after === undefined && contract.event.everyMs === undefined)
    return `nothing says what causes it: add it to "events" in contract.json`;
  return undefined;
}

function skipped(contract: Contract, why: string): Verdict {
  return {
    case: contract.id,
    status: "skipped",
    durationMs: 0,
    differences: [],
    notes: [why],
    stderr: "",
    file: contract.file,
  };
}

/** Placeholders of a contract that are used and never given a value. */
export function unboundPlaceholders(contract: Contract, suite: Suite) {
  const bound = new Set<string>();
  const problems: { file: string; message: string }[] = [];
  const look = (template: Template, where: string) => {
    for (const { name, pointer } of unboundIn(template, suite.placeholders, bound))
      problems.push({
        file: contract.file,
        message: `${where}${pointer} is ${name}, and nothing binds it: bind it in a set-up call, or describe it in "placeholders" of contract.json.`,
      });
  };
  const setup: readonly SetupCall[] = contract.setup ?? suite.settings.setup;
  for (const [index, call] of setup.entries()) {
    look(call.request, `set-up call ${index + 1}: `);
    for (const name of call.bind.keys()) bound.add(name);
  }
  if (contract.kind === "event") look(contract.notification, "/notification");
  else look(contract.request, "/request");
  if (contract.kind === "success" || contract.kind === "error") look(contract.response, "/response");
  return problems;
}
