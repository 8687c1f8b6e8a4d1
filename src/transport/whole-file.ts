import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open, realpath, rename, rm, stat } from "node:fs/promises";

/**
 * Writes a file that is whole at any moment: with what it held before or with all that is new, also where the disk is
 * full or the process dies. A link stays one, and a file keeps its mode.
 * @param mode of the file; that of the one which is there, unless given
 * @throws {Error} what the file system says; the file is then as it was
 */
export async function writeWholeFile(file: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const wanted = mode ?? (await stat(target).catch(() => undefined))?.mode;
  const temporary = temporaryName(target);
  try {
    const handle = await open(temporary, "wx", wanted);
    try {
      // On a disk that is nearly full a single write puts down a part and reports no error; this one goes on until
      // there is one.
      await handle.writeFile(content);
      if (wanted !== undefined) await handle.chmod(wanted);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Like `writeWholeFile`, for callers that cannot wait. */
export function writeWholeFileSync(file: string, content: string | Uint8Array): void {
  const before = statSync(file, { throwIfNoEntry: false });
  const target = before === undefined ? file : realpathSync(file);
  const temporary = temporaryName(target);
  try {
    const descriptor = openSync(temporary, "wx", before?.mode);
    try {
      writeFileSync(descriptor, content);
      if (before !== undefined) chmodSync(temporary, before.mode);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Beside the file, since only there it can be renamed; its ending makes it no tape. */
function temporaryName(target: string): string {
  return `${target}.${process.pid}-${randomBytes(6).toString("hex")}`;
}
