import childProcess, { ChildProcess, type SpawnSyncReturns } from "node:child_process";
import workers from "node:worker_threads";
import { around, aroundNew } from "./around.ts";
import type { Called } from "./callers.ts";
import { BLOCK_VARIABLE, blockEnvironment, blocksText, preloadFile } from "./environment.ts";
import { policiesInForce, refusing } from "./in-force.ts";
import type { NetworkBlockedError } from "./policy.ts";

/** What a system does not start, whoever asks. */
const NEVER_STARTS = "/";

/** Child processes: they are refused, or take the block with them. Workers take it with them. */
export function guardProcesses(): void {
  guardSpawning();
  for (const name of ["spawnSync", "execFileSync", "execSync"]) guardSync(name);
  around(process, "execve", (execve, self, [file, args, environment = process.env, ...more], from) => {
    const error = refusalOf(String(file), undefined, from);
    if (error !== undefined) throw error;
    return Reflect.apply(execve, self, [file, args, withBlock(environment as NodeJS.ProcessEnv), ...more]);
  });
  guardWorkers();
}

interface SpawnOptions {
  file: string;
  args?: string[];
  shell?: unknown;
  envPairs?: string[];
}

/** `spawn`, `exec`, `execFile` and `fork`, and what is built on them. */
function guardSpawning(): void {
  around(ChildProcess.prototype, "spawn", (spawn, child: ChildProcess, args, from) => {
    const [options] = args as [SpawnOptions];
    const { file } = options;
    const error = refusalOf(file, options.shell ? unquoted(options.args?.at(-1)) : undefined, from);
    if (error === undefined) return Reflect.apply(spawn, child, [carrying(options)]);
    // Whoever starts it then gets a child that did not start, with its streams, as for any command that is not there.
    const result: unknown = Reflect.apply(spawn, child, [{ ...options, file: NEVER_STARTS }]);
    (child as { spawnfile: string }).spawnfile = file;
    child.prependOnceListener("error", (failure) => {
      Object.assign(failure, { message: error.message, cause: error });
      if (child.listenerCount("error") === 0) throw failure;
    });
    return result;
  });
}

function carrying(options: SpawnOptions): SpawnOptions {
  if (policiesInForce().length === 0) return options;
  const environment = Object.fromEntries(
    (options.envPairs ?? []).map((pair) => {
      const end = pair.indexOf("=", 1);
      return [pair.slice(0, end), pair.slice(end + 1)];
    }),
  );
  // The very object goes on: Node leaves in it what the child is made of.
  options.envPairs = Object.entries(withBlock(environment)).map(([name, value]) => `${name}=${value}`);
  return options;
}

function guardSync(name: string): void {
  around(childProcess, name, (run, self, args, from) => {
    const command = String(args[0]);
    const at = args.findIndex(
      (arg, index) => index > 0 && typeof arg === "object" && arg !== null && !Array.isArray(arg),
    );
    const options = (at < 0 ? {} : args[at]) as { shell?: unknown; env?: NodeJS.ProcessEnv };
    const list = Array.isArray(args[1]) ? (args[1] as string[]) : [];
    const line = name === "execSync" || options.shell ? [command, ...list].join(" ") : undefined;
    const error = refusalOf(line === undefined ? command : shellOf(options.shell), line, from);
    if (error !== undefined) {
      if (name !== "spawnSync") throw error;
      const nothing = { pid: 0, output: [], stdout: null, stderr: null, status: null, signal: null };
      return { ...nothing, error } as unknown as SpawnSyncReturns<Buffer>;
    }
    if (policiesInForce().length === 0) return Reflect.apply(run, self, args);
    const carried = { ...options, env: withBlock(options.env ?? process.env) };
    const rest = at < 0 ? [...args.filter((arg) => arg !== undefined), carried] : args.with(at, carried);
    return Reflect.apply(run, self, rest);
  });
}

/** Workers have modules of their own, which know nothing of what has been done to ours. */
function guardWorkers(): void {
  aroundNew(workers, "Worker", (make, [file, options]) => {
    const policies = policiesInForce();
    if (policies.length === 0) return make([file, options]);
    const given = (options ?? {}) as { execArgv?: string[] };
    workers.setEnvironmentData(BLOCK_VARIABLE, blocksText(policies.map((policy) => policy.options)));
    try {
      const execArgv = [...(given.execArgv ?? process.execArgv), "--require", preloadFile()];
      return make([file, { ...given, execArgv }]);
    } finally {
      workers.setEnvironmentData(BLOCK_VARIABLE, undefined);
    }
  });
}

function refusalOf(file: string, shellLine: string | undefined, from: Called): NetworkBlockedError | undefined {
  return refusing((policy) => policy.allowsCommand(file, shellLine))?.refuse(
    "process",
    shellLine ?? file,
    "EACCES",
    "spawn",
    from,
  );
}

function withBlock(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const policies = policiesInForce();
  if (policies.length === 0) return environment;
  return {
    ...environment,
    ...blockEnvironment(
      environment,
      policies.map((policy) => policy.options),
    ),
  };
}

function shellOf(shell: unknown): string {
  return typeof shell === "string" ? shell : "/bin/sh";
}

/** Windows has what a shell is to run in quotation marks. */
function unquoted(line: string | undefined): string {
  return (line ?? "").replace(/^"(.*)"$/s, "$1");
}
