import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import pico from "picocolors";
import { CassetteError } from "../cassettes/format.ts";
import { FixtureError } from "../fixtures/load.ts";
import { RedactionOptionsError } from "../guard/finding.ts";
import { GuardError } from "../guard/guardrails.ts";
import { type CassetteOptions, DEFAULT_CASSETTES } from "../server/cassette-options.ts";
import { StuntDouble } from "../server/double.ts";
import type { StuntDoubleOptions } from "../server/options.ts";
import type { JournalResponse } from "../state/journal.ts";
import { type BehaviourSettings, behaviourOptions } from "./behaviour-flags.ts";
import { type CassetteFlags, cassetteSettings } from "./cassette-options.ts";
import { type GuardFlags, guardSettings } from "./guard-options.ts";
import { type RecordOptionFlags, recordSettings } from "./record-options.ts";
import { type RedactFlags, redactionSettings } from "./redact-options.ts";
import { UsageError } from "./run-verb.ts";
import { summaryOf } from "./summary.ts";

export type LogLevel = "silent" | "warn" | "info" | "debug";

/** What the command line says. */
export interface ServeSettings extends BehaviourSettings, RecordOptionFlags, CassetteFlags, GuardFlags, RedactFlags {
  port: number;
  host: string;
  fixtures: string[];
  watch?: true;
  /** An `aimock.json`. */
  config?: string;
  /** Where recordings go, if not into the first folder of fixtures. */
  recordFolder?: string;
  /** `stuntdouble proxy`: the folder of its certificate authority. */
  ca?: string;
  logLevel: LogLevel;
  seed?: string;
  tls?: true;
  tlsCert?: string;
  tlsKey?: string;
  latency?: number;
  chunkSize?: number;
}

const DEFAULT_FOLDER = "./fixtures";
/** Wrong usage, or files that cannot be used. */
const UNUSABLE = 2;

/** Serves until it is told to stop. */
export async function serve(settings: ServeSettings): Promise<void> {
  const log = logger(settings.logLevel);
  const paths = settings.fixtures.length > 0 || !existsSync(DEFAULT_FOLDER) ? settings.fixtures : [DEFAULT_FOLDER];
  const { repeat } = settings;
  const recordFolder = settings.recordFolder ?? paths[0];
  if (settings.record) prepareFolder(recordFolder);
  const { latency, chunkSize, seed } = settings;
  const cassettes = cassettesOf(settings, (message) => log.warn(message));
  const guard = await orFail(guardSettings(settings));
  const redact = await orFail(redactionSettings(settings));
  const options: StuntDoubleOptions = {
    port: settings.port,
    host: settings.host,
    ...(latency !== undefined && { latency }),
    ...(chunkSize !== undefined && { chunkSize }),
    ...(seed !== undefined && { seed }),
    ...tlsOptions(settings),
    ...behaviourOptions(settings),
    ...(repeat !== undefined && { repeat }),
    ...(settings.ca !== undefined && { proxy: { ca: settings.ca } }),
    record: recordSettings(settings, recordFolder),
    ...(cassettes !== undefined && { cassettes }),
    ...(guard !== undefined && { guard }),
    ...(redact !== undefined && { redact }),
    onWarning: (message) => log.warn(message),
    onCall: ({ method, path, response }) => log.call(method, path, response),
  };
  const double = create(options);
  // What it would be done with is known, for when it is switched on by the control API.
  if (!settings.record && !settings.proxyOnly && settings.ca === undefined && cassettes === undefined)
    double.disableRecording();
  try {
    if (settings.watch) {
      await double.watch(paths, {
        onChange: ({ added, removed, kept }) =>
          log.info(`The fixtures changed: ${added} added, ${removed} removed, ${kept} as before.`),
        onFault: ({ message }) => log.warn(`${message}\nWhat was loaded before is served on.`),
      });
    } else await double.loadAsync(...paths);
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    fail(error.message);
  }
  try {
    await double.start();
  } catch (error) {
    if (error instanceof CassetteError || isGuardFault(error)) fail(error.message);
    fail(listenFault(error as NodeJS.ErrnoException, settings));
  }
  const count = double.fixtures.length;
  log.info(`stuntdouble serves ${count} ${count === 1 ? "fixture" : "fixtures"} on ${pico.bold(double.url)}`);
  if (settings.ca !== undefined) log.info(proxyHelp(double.url, settings.ca));
  if (cassettes !== undefined)
    log.info(`Cassettes in ${cassettes.folder ?? DEFAULT_CASSETTES}, mode ${cassettes.mode}.`);
  else if (settings.record) log.info(`What no fixture answers is recorded in ${recordFolder ?? DEFAULT_FOLDER}.`);
  else if (settings.proxyOnly || settings.ca !== undefined) log.info("What no fixture answers goes to its provider.");
  else if (count === 0)
    log.warn("There is no fixture: embeddings are made, everything else is a miss. Name files or folders.");
  const stop = (): void => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    void double.stop().then(
      () => log.info(summaryOf(double)),
      (error: Error) => {
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 1;
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

function proxyHelp(url: string, folder: string): string {
  const certificate = resolve(folder, "ca.pem");
  return `Use it so: HTTPS_PROXY=${url} NODE_EXTRA_CA_CERTS=${certificate} (Python: SSL_CERT_FILE, curl: --cacert)`;
}

function cassettesOf(settings: ServeSettings, say: (message: string) => void): CassetteOptions | undefined {
  try {
    return cassetteSettings(settings, process.env, say);
  } catch (error) {
    fail((error as Error).message);
  }
}

async function orFail<Options>(settings: Promise<Options>): Promise<Options> {
  try {
    return await settings;
  } catch (error) {
    if (error instanceof UsageError) fail(error.message);
    throw error;
  }
}

function isGuardFault(error: unknown): error is Error {
  return error instanceof GuardError || error instanceof RedactionOptionsError;
}

/** The folder that is recorded into need not be there yet. */
function prepareFolder(path: string | undefined): void {
  if (path === undefined || existsSync(path)) return;
  if (/\.jsonc?$/.test(path)) fail(`--record needs a folder to write to, and ${path} is named like a file.`);
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    fail(`--record: cannot make the folder ${path}: ${(error as Error).message}`);
  }
}

function create(options: StuntDoubleOptions): StuntDouble {
  try {
    return new StuntDouble(options);
  } catch (error) {
    if (error instanceof RangeError) fail(error.message);
    throw error;
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(UNUSABLE);
}

function tlsOptions({ tls, tlsCert, tlsKey }: ServeSettings): Pick<StuntDoubleOptions, "tls"> {
  if (tlsCert === undefined && tlsKey === undefined) return tls ? { tls: true } : {};
  if (tlsCert === undefined || tlsKey === undefined) fail("--tls-cert and --tls-key go together: give both files.");
  return { tls: { cert: readPem(tlsCert, "--tls-cert"), key: readPem(tlsKey, "--tls-key") } };
}

function readPem(path: string, flag: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    fail(`${flag}: cannot read ${path}: ${(error as Error).message}`);
  }
}

function listenFault(error: NodeJS.ErrnoException, { host, port }: ServeSettings): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is in use. Stop what listens there, or choose another with --port (0 takes a free one).`;
    case "EACCES":
      return `Not allowed to listen on port ${port}. Choose one above 1023 with --port.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is no address of this machine. Use --host 127.0.0.1, or 0.0.0.0 for all.`;
    default:
      return `Cannot listen on ${host}:${port}: ${error.message}`;
  }
}

interface Logger {
  info(message: string): void;
  warn(message: string): void;
  call(method: string, path: string, response: JournalResponse): void;
}

function logger(level: LogLevel): Logger {
  const shows = (wanted: LogLevel): boolean => RANK[level] >= RANK[wanted];
  const write = (text: string): void => void process.stderr.write(`${text}\n`);
  // A line for each request is for a person who watches; a file would only grow.
  const showsCalls = level === "debug" || (level === "info" && process.stderr.isTTY === true);
  return {
    info: (message) => shows("info") && write(message),
    warn: (message) => shows("warn") && write(pico.yellow(message)),
    call: (method, path, response) => {
      const wanted = response.source === "miss" || response.source === "internal" ? shows("warn") : showsCalls;
      if (wanted) write(callLine(method, path, response));
    },
  };
}

const RANK: Record<LogLevel, number> = { silent: 0, warn: 1, info: 2, debug: 3 };

function callLine(method: string, path: string, { status, source, fixture, detail }: JournalResponse): string {
  const colour = status >= 500 ? pico.red : status >= 400 ? pico.yellow : pico.green;
  const by = fixture === null ? source : `${source} ${fixture}`;
  return `${colour(String(status))} ${method} ${path} ${pico.dim(by)}${detail === undefined ? "" : ` ${detail}`}`;
}
