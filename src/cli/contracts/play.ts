import { loadContracts } from "../../conformance/contracts/load.ts";
import { serveChannel } from "../../conformance/contracts/serve.ts";
import { EXIT_NOT_RUN, EXIT_PASSED } from "../../report/verdict.ts";
import { SystemClock } from "../../state/clock.ts";
import { FreshStamps, SeededStamps } from "../../state/stamps.ts";
import { parseAddress } from "../../transport/address.ts";
import { streamChannel } from "../../transport/channel.ts";
import { listen } from "../../transport/listen.ts";
import { framings } from "../../wire/framings.ts";
import { chaosOf } from "../behaviour-flags.ts";
import type { PlayFlags } from "../flags.ts";
import { UsageError } from "../run-verb.ts";
import { ControlledDaemon } from "./controlled-daemon.ts";

/** Answers as a daemon until it is told to stop; on stdio until the input ends. */
export async function playContracts(path: string, flags: PlayFlags): Promise<number> {
  if (flags.case !== undefined)
    throw new UsageError("--case is for transcripts; a folder of contracts is played as one daemon.");
  const suite = await loadContracts(path);
  const addresses = (flags.listen ?? ["stdio"]).map(parseAddress);
  const control = flags.control === undefined ? undefined : parseAddress(flags.control);
  if (control && control.kind !== "http")
    throw new UsageError("--control takes an address such as http://127.0.0.1:4011.");
  const clock = new SystemClock();
  const stamps = flags.seed === undefined ? new FreshStamps(clock) : new SeededStamps(flags.seed);
  const delays = new Map(Object.entries(flags.delay ?? {}));
  const controlled = new ControlledDaemon(suite, { clock, stamps, delays, allow: flags.allow }, chaosOf(flags));
  const framing = framings[flags.framing ?? suite.settings.framing];
  const api = control?.kind === "http" ? await controlled.listen(control.host, control.port) : undefined;
  // stdout is a conversation where stdio is played.
  const stdio = addresses.some(({ kind }) => kind === "stdio");
  const say = (text: string) => void (stdio ? process.stderr : process.stdout).write(text);
  const listeners = await Promise.all(
    addresses
      .filter(({ kind }) => kind !== "stdio")
      .map((address) =>
        listen(address, framing, (channel) => void serveChannel(controlled.daemon, channel, address.kind)),
      ),
  );
  for (const listener of listeners) say(`Listening on ${listener.address}\n`);
  if (api && control?.kind === "http") say(`Control API on http://${control.host}:${api.port}/__stuntdouble\n`);
  if (stdio) await serveChannel(controlled.daemon, streamChannel(process.stdin, process.stdout, framing), "stdio");
  else {
    await new Promise<void>((stop) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        process.removeAllListeners(signal);
        process.once(signal, () => stop());
      }
    });
  }
  await Promise.all(listeners.map((listener) => listener.close()));
  api?.close();
  if (controlled.served > 0) return EXIT_PASSED;
  process.stderr.write(`${path}: nothing was asked that could be served.\n`);
  return EXIT_NOT_RUN;
}
