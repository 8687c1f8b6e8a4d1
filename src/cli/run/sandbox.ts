import { spawnSync } from "node:child_process";
import { UsageError } from "../run-verb.ts";
import { runCommand } from "./child.ts";

/** Set for those who are inside already. */
const INSIDE = "STUNTDOUBLE_SANDBOX";
const LOOPBACK_UP = "ip link set lo up";
const PROBE_MS = 10_000;

export function isInSandbox(environment: NodeJS.ProcessEnv): boolean {
  return environment[INSIDE] === "1";
}

/**
 * Runs this very command line again in a network namespace that has a loopback interface and no route: the double, its
 * command and all that these start.
 * @returns its exit code
 * @throws {UsageError} where that cannot be done
 */
export async function runInSandbox(stopGraceMs: number): Promise<number> {
  const fault = faultOfSandbox(process.platform, () => {
    const { error, status, stderr } = spawnSync("unshare", ["--net", "sh", "-c", LOOPBACK_UP], {
      timeout: PROBE_MS,
      encoding: "utf8",
    });
    return { error, status, stderr };
  });
  if (fault !== undefined) throw new UsageError(fault);
  const itself = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { code } = await runCommand(["unshare", "--net", "sh", "-c", `${LOOPBACK_UP} && exec "$0" "$@"`, ...itself], {
    env: { [INSIDE]: "1" },
    stopGraceMs,
  });
  return code;
}

/** Why there can be no sandbox here, and what to do about it. */
export function faultOfSandbox(
  platform: NodeJS.Platform,
  probe: () => { error?: Error | undefined; status: number | null; stderr: string },
): string | undefined {
  if (platform !== "linux")
    return `--sandbox needs the network namespaces of Linux, and this is ${platform}. --offline blocks Node processes everywhere.`;
  const { error, status, stderr } = probe();
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT")
    return "--sandbox needs the command unshare. Install util-linux.";
  if (error !== undefined) return `--sandbox: unshare failed: ${error.message}.`;
  if (status === 0) return undefined;
  if (/\bip\b.*not found|No such file/i.test(stderr))
    return "--sandbox needs the command ip, to have a loopback interface inside. Install iproute2.";
  return `--sandbox is not permitted here (${stderr.trim() || `unshare ended with ${status}`}). It needs root, and in a container the capability SYS_ADMIN too.`;
}
