import { randomUUID } from "node:crypto";
import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Others hold a lock for milliseconds. One whose holder died is taken over after this time; a living one renews it. */
const STALE_MS = 10_000;
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 200;

/**
 * Does something while no other process that asks for the same lock does.
 *
 * Nothing here listens for signals: a library that did would decide how the process ends that it is used in.
 * @param lock a file that is there as long as the lock is held
 * @param patienceMs how long it is waited for
 * @throws {Error} what the file system says, that others held the lock for too long, or that it was lost meanwhile
 */
export async function whileLocked<Result>(
  lock: string,
  work: () => Promise<Result>,
  patienceMs = 60_000,
): Promise<Result> {
  const holder = `${process.pid} ${randomUUID()}`;
  await acquire(lock, holder, Date.now() + patienceMs);
  const renewal = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => {});
  }, STALE_MS / 4).unref();
  let lost = false;
  let result: Result;
  try {
    result = await work();
  } finally {
    clearInterval(renewal);
    lost = (await readFile(lock, "utf8").catch(() => "")) !== holder;
    // One that cannot be taken away is taken over later.
    if (!lost) await rm(lock).catch(() => {});
  }
  if (lost) throw new Error(`${lock} was taken over by another process, which may have written at the same time.`);
  return result;
}

async function acquire(lock: string, holder: string, until: number): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; !(await create(lock, holder)); waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.2)) {
    if (await isStale(lock)) await takeAway(lock);
    else if (Date.now() > until)
      throw new Error(`${lock} is held by process ${await pidIn(lock)}, and has been for long.`);
    else await sleep(waitMs);
  }
}

async function isStale(lock: string): Promise<boolean> {
  const there = await stat(lock).catch(() => undefined);
  return there !== undefined && Date.now() - there.mtimeMs > STALE_MS;
}

/** By one at a time: who comes second would take the lock of who came first. */
function takeAway(lock: string): Promise<void> {
  return whileLocked(`${lock}.stale`, async () => {
    if (await isStale(lock)) await rm(lock, { force: true });
  });
}

/** @returns whether it was not there yet */
async function create(lock: string, holder: string): Promise<boolean> {
  try {
    const handle = await open(lock, "wx");
    try {
      await handle.writeFile(holder);
    } catch (error) {
      await rm(lock, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function pidIn(lock: string): Promise<string> {
  return (await readFile(lock, "utf8").catch(() => "")).split(" ", 1)[0]!;
}
