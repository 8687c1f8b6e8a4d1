import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A small file system of its own. */
export interface Volume {
  path: string;
  makeReadOnly(): void;
  remove(): void;
}

/**
 * Mounts one in memory; needs Linux and root, or `sudo` that asks for no password, as continuous integration has.
 * @param size as `mount` takes it: `256k`
 * @throws {Error} where that is not to be had
 */
export function mountVolume(size: string): Volume {
  const path = mkdtempSync(join(tmpdir(), "stuntdouble-volume-"));
  const asRoot = (...command: string[]): void => {
    const [name, ...args] = process.getuid?.() === 0 ? command : ["sudo", "-n", ...command];
    execFileSync(name!, args, { stdio: "pipe" });
  };
  try {
    asRoot("mount", "-t", "tmpfs", "-o", `size=${size},mode=0777`, "tmpfs", path);
  } catch (error) {
    rmSync(path, { recursive: true });
    throw error;
  }
  return {
    path,
    makeReadOnly: () => asRoot("mount", "-o", "remount,ro", path),
    remove: () => {
      asRoot("umount", path);
      rmSync(path, { recursive: true });
    },
  };
}

/** Why no volume can be mounted here; undefined where one can. */
export function volumesUnavailable(): string | undefined {
  try {
    mountVolume("64k").remove();
    return undefined;
  } catch (error) {
    return (error as Error).message.trim();
  }
}
