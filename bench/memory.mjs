// Does memory grow with calls? The heap after forced collections, with the journal full, over 200,000 calls.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BENCH, number, table } from "./harness.mjs";

const CALLS = 200_000;

export async function memory() {
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--expose-gc", join(BENCH, "servers", "memory.mjs"), String(CALLS)],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  if (status !== 0) throw new Error("The memory benchmark failed.");
  const samples = JSON.parse(stdout);
  const slope = slopeOf(samples);
  table(
    `Heap after forced collection, MB, with the journal full (${number(CALLS)} calls)`,
    [...samples.map(({ calls }) => number(calls)), "bytes a call"],
    [[...samples.map(({ bytes }) => number(bytes / 1_048_576, 2)), number(slope, 2)]],
  );
}

/** Least squares: bytes by which the heap grows with a call. */
function slopeOf(samples) {
  const meanCalls = samples.reduce((sum, { calls }) => sum + calls, 0) / samples.length;
  const meanBytes = samples.reduce((sum, { bytes }) => sum + bytes, 0) / samples.length;
  let above = 0;
  let below = 0;
  for (const { calls, bytes } of samples) {
    above += (calls - meanCalls) * (bytes - meanBytes);
    below += (calls - meanCalls) ** 2;
  }
  return above / below;
}
