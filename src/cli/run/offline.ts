import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Policy } from "../../guard/network-block/policy.ts";
import { blockEnvironment, type Refusal } from "../../guard/network-block.ts";
import type { WrapFlags } from "../run-options.ts";
import { UsageError } from "../run-verb.ts";

/** What of the network the command's Node processes may reach. */
export interface NetworkLimits {
  hosts: readonly string[];
  commands: readonly string[];
}

/**
 * While a run replays, nothing may reach the network; `--offline` lets nothing but Node be started besides, where what
 * it starts might reach it.
 * @returns undefined where nothing is blocked
 * @throws {UsageError} when the flags contradict one another, or a host is none
 */
export function networkLimits(mode: string, flags: WrapFlags): NetworkLimits | undefined {
  const { offline = false, online = false, allowHost: hosts = [], allowCommand = [] } = flags;
  if (offline && online) throw new UsageError("--offline and --online exclude one another.");
  if (allowCommand.length > 0 && !offline) throw new UsageError("--allow-command goes with --offline.");
  const blocks = offline || (mode === "replay" && !online);
  if (hosts.length > 0 && !blocks) throw new UsageError("--allow-host goes with replay, and with --offline.");
  if (!blocks) return undefined;
  const limits = { hosts, commands: offline ? allowCommand : ["*"] };
  try {
    new Policy(limits);
  } catch (error) {
    throw new UsageError(`--allow-host: ${(error as Error).message}`);
  }
  return limits;
}

/** A block of the network in the Node processes of one run. */
export class RunBlock {
  readonly #limits: NetworkLimits;
  readonly #folder = mkdtempSync(join(tmpdir(), "stuntdouble-run-"));

  constructor(limits: NetworkLimits) {
    this.#limits = limits;
  }

  get #file(): string {
    return join(this.#folder, "refused.jsonl");
  }

  /** @param ours that the variables are added to */
  variables(ours: NodeJS.ProcessEnv): Record<string, string> {
    return blockEnvironment(ours, [{ ...this.#limits, report: this.#file }]);
  }

  /** What did not pass. Ends the block's own bookkeeping. */
  finish(): Refusal[] {
    try {
      const lines = readFileSync(this.#file, "utf8").split("\n");
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Refusal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}
