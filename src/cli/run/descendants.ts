import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { groupLives, livingProcesses } from "../../transport/process-group.ts";

/** The processes that a command has started, and those that these have started. */
export interface Descendants {
  /** For the command's environment. */
  mark: Readonly<Record<string, string>>;
  /**
   * Those that live, with the command itself.
   * @param group the command's process group, where it has one of its own
   */
  living(group: number | undefined): { pid: number; name: string }[];
}

const MARK = "STUNTDOUBLE_RUN";

/**
 * On Linux they are known by a mark in their environment, which they keep when their parent ends before them or when
 * they leave its group. Elsewhere only the group is known.
 */
export function descendantsOf(): Descendants {
  const mark = { [MARK]: randomUUID() };
  const text = `${MARK}=${mark[MARK]}`;
  return {
    mark,
    living(group) {
      if (process.platform === "linux") {
        return livingProcesses().filter((found) => found.group === group || environmentOf(found.pid).includes(text));
      }
      // A negative process id is a group's.
      return group !== undefined && groupLives(group) ? [{ pid: -group, name: "the command's process group" }] : [];
    },
  };
}

function environmentOf(pid: number): Buffer {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    // It has ended, or is another user's.
    return Buffer.alloc(0);
  }
}
