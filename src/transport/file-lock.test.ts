import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { whileLocked } from "./file-lock.ts";

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stuntdouble-lock-"));
  lock = join(folder, "x.lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const turn = () => new Promise((done) => setImmediate(done));

describe("a lock", () => {
  it("lets one in at a time, and leaves nothing behind", async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await turn();
      inside--;
    };
    await Promise.all(Array.from({ length: 20 }, () => whileLocked(lock, work)));
    expect(most).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is let go when the work fails", async () => {
    await expect(whileLocked(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(existsSync(lock)).toBe(false);
  });

  it("of a process that died is taken over by one alone", async () => {
    writeFileSync(lock, "1 dead");
    const long = new Date(Date.now() - 60_000);
    utimesSync(lock, long, long);
    let runs = 0;
    await Promise.all(Array.from({ length: 5 }, () => whileLocked(lock, async () => void runs++)));
    expect(runs).toBe(5);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that others hold is named, with who holds it", async () => {
    writeFileSync(lock, "4711 other");
    await expect(whileLocked(lock, turn, 0)).rejects.toThrow(`${lock} is held by process 4711`);
    expect(existsSync(lock)).toBe(true);
  });

  it("that was taken over meanwhile is an error, and stays with who has it", async () => {
    await expect(whileLocked(lock, async () => writeFileSync(lock, "other"))).rejects.toThrow("was taken over");
    expect(existsSync(lock)).toBe(true);
  });

  it("in a place that cannot be written to fails at once", async () => {
    await expect(whileLocked(join(folder, "none", "x.lock"), turn)).rejects.toThrow("ENOENT");
  });
});
