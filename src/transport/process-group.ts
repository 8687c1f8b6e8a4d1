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
  // A process that is dead and that nobody has waited for still takes signals. In a container whose first process
  // collects no orphans it does so for good, and would be reported as left behind.
  if (process.platform !== "linux") return true;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      // "pid (name) state ppid pgrp …", where the name may hold anything, parentheses too.
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(group) === leader && state !== "Z" && state !== "X") return true;
    } catch {
      // It ended while we looked.
    }
  }
  return false;
}
