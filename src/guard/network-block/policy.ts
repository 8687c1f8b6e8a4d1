import { appendFileSync } from "node:fs";
import { type Called, stackFrom } from "./callers.ts";
import { allowsCommand } from "./commands.ts";
import { AllowedHosts, isLoopback } from "./hosts.ts";

export interface NetworkBlockOptions {
  /** What may be reached besides loopback: names, `*.domain` and addresses, each with or without a port. */
  hosts?: readonly string[];
  /** What may be started besides Node: names of commands, or their paths; `*` for all. */
  commands?: readonly string[];
  /** A file to which each refusal is added as a line of JSON, by children too. */
  report?: string;
  /** Told of each refusal in this process; stderr unless given. */
  onRefused?: (refusal: Refusal) => void;
}

export type RefusalKind = "connection" | "lookup" | "datagram" | "process";

/** What did not pass. */
export interface Refusal {
  kind: RefusalKind;
  /** `api.example.com:443`, or the command. */
  target: string;
  /** Where it was asked for. */
  stack: string;
  pid: number;
}

/** As the system's own error for what cannot be reached: it has `code` and `syscall`. */
export class NetworkBlockedError extends Error {
  override readonly name = "NetworkBlockedError";
  readonly code: string;
  readonly syscall: string;
  readonly refusal: Refusal;

  constructor(refusal: Refusal, code: string, syscall: string, remedy: string) {
    super(`${syscall} ${code} ${refusal.target}: the network is blocked. ${remedy}`);
    this.code = code;
    this.syscall = syscall;
    this.refusal = refusal;
  }
}

/** What may pass and what becomes of the rest. */
export class Policy {
  /** It is over, though contexts that began under it may go on. */
  lifted = false;
  readonly options: NetworkBlockOptions;
  readonly #hosts: AllowedHosts;
  readonly #told = new Set<string>();

  /** @throws {RangeError} when a host is none */
  constructor(options: NetworkBlockOptions = {}) {
    this.options = options;
    this.#hosts = new AllowedHosts(options.hosts ?? []);
  }

  allowsHost(host: string, port?: number): boolean {
    return isLoopback(host) || this.#hosts.includes(host, port);
  }

  allowsCommand(file: string, shellLine: string | undefined): boolean {
    return allowsCommand(this.options.commands ?? [], file, shellLine);
  }

  /**
   * Reports what does not pass.
   * @param from the function that was called, below which the stack begins
   */
  refuse(kind: RefusalKind, target: string, code: string, syscall: string, from: Called): NetworkBlockedError {
    const stack = stackFrom(from);
    const refusal: Refusal = { kind, target, stack, pid: process.pid };
    this.#tell(refusal);
    const remedy =
      kind === "process"
        ? `Put the command on the list if it may be started (commands: [${JSON.stringify(target.split(" ", 1)[0])}]).`
        : `Put the host on the list if it may be reached (hosts: [${JSON.stringify(target)}]).`;
    return new NetworkBlockedError(refusal, code, syscall, remedy);
  }

  #tell(refusal: Refusal): void {
    const { report, onRefused } = this.options;
    if (report !== undefined) appendFileSync(report, `${JSON.stringify(refusal)}\n`);
    if (onRefused !== undefined) {
      onRefused(refusal);
      return;
    }
    // A client that tries again and again need not be told of again and again.
    const { kind, target, stack, pid } = refusal;
    const key = `${kind} ${target}\n${stack}`;
    if (this.#told.has(key)) return;
    if (this.#told.size < MOST_TOLD) this.#told.add(key);
    process.stderr.write(
      `stuntdouble: the network is blocked, and a ${kind} was refused (process ${pid}): ${target}\n${stack}\n`,
    );
  }
}

const MOST_TOLD = 1000;
