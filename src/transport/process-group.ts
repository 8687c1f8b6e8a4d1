import { readdirSync, readFileSync } from "node:fs";

const running = new Set<number>();
let watching = false;

/** Remembers a group, so that it is killed when this process ends before it: a group of its own hears no Ctrl-C. */
export function rememberGroup(leader: number): void {
  if (!watching) {
    watching = true;
    process.on("exit", () => {
      for (const group of running) killGroup(group);
    });
  }
  running.add(leader);
}

export function forgetGroup(leader: number): void {
  running.delete(leader);
}

export function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}

/** Whether a process lives in the group. */
export function groupLives(leader: number): boolean {
  try {
    process.kill(-leader, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return process.platform !== "linux" || livingProcesses().some(({ group }) => group === leader);
}

/**
 * The processes of this machine, as Linux shows them. Without those that are dead and that nobody has waited for: they
 * still take signals, and in a container whose first process collects no orphans they do so for good.
 */
export function livingProcesses(): { pid: number; name: string; group: number }[] {
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      // "pid (name) state ppid pgrp …", where the name may hold anything, parentheses too.
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      const end = stat.lastIndexOf(")");
      const [state, , group] = stat.slice(end + 2).split(" ");
      if (state === "Z" || state === "X") return [];
      return [{ pid: Number(entry), name: stat.slice(stat.indexOf("(") + 1, end), group: Number(group) }];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}
