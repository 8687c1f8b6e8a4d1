import { loadSuite } from "../../conformance/load.ts";
import { Player, type PlayReport } from "../../conformance/player.ts";
import type { Transcript } from "../../conformance/transcript.ts";
import { EXIT_DIFFERENCES, EXIT_NOT_RUN, EXIT_PASSED } from "../../report/verdict.ts";
import { parseAddress } from "../../transport/address.ts";
import { listen } from "../../transport/listen.ts";
import { framings } from "../../wire/framings.ts";
import type { PlayFlags } from "../flags.ts";
import { UsageError } from "../run-verb.ts";

export async function playTranscripts(path: string, flags: PlayFlags): Promise<number> {
  const suite = (await loadSuite(path)).filter(
    (transcript) => flags.case === undefined || transcript.manifest.case === flags.case,
  );
  const [first] = suite;
  if (!first) throw new UsageError(`${path}: there is no case "${flags.case}".`);
  // All of them now: a transcript that cannot be played is found before anybody connects.
  for (const transcript of suite) new Player(transcript);
  const addresses = (flags.listen ?? ["stdio"]).map(parseAddress);
  if (addresses.some((address) => address.kind === "stdio")) {
    if (addresses.length > 1) throw new UsageError("stdio is one conversation, and excludes other addresses.");
    if (suite.length > 1)
      throw new UsageError(
        `stdio is one conversation: name its case with --case; there are ${suite.map((transcript) => transcript.manifest.case).join(", ")}.`,
      );
    return playOnStdio(first, flags);
  }
  const reports: PlayReport[] = [];
  let connections = 0;
  const framing = framings[flags.framing ?? first.manifest.framing];
  const listeners = await Promise.all(
    addresses.map((address) =>
      listen(address, framing, (channel) => {
        // Each conversation plays the next case, and after the last the first again.
        const transcript = suite[connections++ % suite.length] as Transcript;
        void new Player(transcript).serveChannel(channel).then((report) => {
          reports.push(report);
          process.stderr.write(`${describe(transcript.manifest.case, report)}\n`);
        });
      }),
    ),
  );
  for (const listener of listeners) process.stdout.write(`Listening on ${listener.address}\n`);
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.removeAllListeners(signal);
      process.once(signal, () => stop());
    }
  });
  await Promise.all(listeners.map((listener) => listener.close()));
  if (reports.some((report) => report.refused !== "")) return EXIT_DIFFERENCES;
  return connections > 0 ? EXIT_PASSED : EXIT_NOT_RUN;
}

async function playOnStdio(transcript: Transcript, flags: PlayFlags): Promise<number> {
  const manifest = { ...transcript.manifest, framing: flags.framing ?? transcript.manifest.framing };
  const report = await new Player({ ...transcript, manifest }).serve(process.stdin, process.stdout);
  process.stdin.destroy();
  process.stderr.write(`${describe(transcript.manifest.case, report)}\n`);
  if (report.refused !== "") return EXIT_DIFFERENCES;
  return report.consumed > 0 ? EXIT_PASSED : EXIT_NOT_RUN;
}

function describe(name: string, report: PlayReport): string {
  if (report.refused !== "") return `${name}: refused. ${report.refused}`;
  if (report.consumed === 0) return `${name}: nothing was asked.`;
  return report.complete
    ? `${name}: played.`
    : `${name}: played ${report.consumed} of ${report.recorded} recorded lines.`;
}
