import { loadSuite } from "../../conformance/load.ts";
import { record, writeRecording } from "../../conformance/recording.ts";
import { differingPointers, suspectPointers } from "../../conformance/volatility.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED } from "../../report/verdict.ts";
import type { RecordFlags } from "../flags.ts";
import { UsageError } from "../run-verb.ts";
import { refuseRedaction, replayOptions, targetFor } from "./target.ts";

export async function recordTranscripts(
  path: string,
  cases: readonly string[],
  command: readonly string[],
  flags: RecordFlags,
): Promise<number> {
  refuseRedaction(flags);
  const target = targetFor(command, flags);
  const suite = await loadSuite(path, { recorded: false });
  const missing = cases.filter((name) => !suite.some((transcript) => transcript.manifest.case === name));
  if (missing.length > 0)
    throw new UsageError(
      `${path}: there is no case ${missing.join(", ")}; there are ${suite.map((transcript) => transcript.manifest.case).join(", ")}.`,
    );
  let failed = 0;
  for (const transcript of suite) {
    if (cases.length > 0 && !cases.includes(transcript.manifest.case)) continue;
    const volatile = [...transcript.manifest.volatile, ...(flags.volatile ?? [])];
    const recording = await record(transcript, target, replayOptions(flags));
    if (recording.stopped !== "") {
      failed++;
      process.stderr.write(
        `${recording.case}: not recorded, since it is not whole (${recording.stopped}).\n${recording.stderr}`,
      );
      continue;
    }
    await writeRecording(recording.dir, recording.frames, volatile);
    process.stdout.write(`${recording.case}: recorded, ${recording.frames.length} frames.\n`);
    for (const noise of recording.noise)
      process.stderr.write(`${recording.case}: what came and is no frame was left out: ${noise}.\n`);
    const again = (flags.runs ?? 1) > 1 ? await record(transcript, target, replayOptions(flags)) : undefined;
    const differing = again ? differingPointers(recording.frames, again.frames, volatile) : [];
    for (const pointer of differing)
      process.stderr.write(`${recording.case}: ${pointer} differed in a second run; list it in "volatile".\n`);
    for (const { pointer, looksLike } of suspectPointers(recording.frames)) {
      if (!volatile.includes(pointer) && !differing.includes(pointer))
        process.stderr.write(`${recording.case}: ${pointer} looks like ${looksLike}; is it volatile?\n`);
    }
  }
  return failed > 0 ? EXIT_DIFFERENCES : EXIT_PASSED;
}
