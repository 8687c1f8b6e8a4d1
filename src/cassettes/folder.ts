import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { parseCassette, tooLarge } from "./damage.ts";
import { CassetteError, LARGEST_CASSETTE_BYTES } from "./format.ts";
import { invokerName, type Place, UNKNOWN_INVOKER } from "./identity.ts";
import { fiberInvoker, readFileName, SHOWN_DIGITS, scenarioFolder } from "./names.ts";
import { SETTINGS_FILE } from "./settings.ts";
import type { Cassette } from "./types.ts";

/** A file with a cassette. It is read when it is first needed: a folder of ten thousand opens at once. */
export interface CassetteEntry {
  /** From the folder, with slashes. */
  name: string;
  file: string;
  cassette: Cassette | undefined;
  /** How many calls it has answered. */
  served: number;
  /** What has been made of it for being replayed. */
  prepared?: unknown;
}

/** The cassettes of a folder. */
export class CassetteFolder {
  readonly root: string;
  /** By the scenario's folder and the beginning of the fingerprint, as a file's name has them. */
  readonly #named = new Map<string, CassetteEntry[]>();
  /** Those whose names say nothing, by scenario. */
  readonly #others = new Map<string, CassetteEntry[]>();
  readonly #entries = new Map<string, CassetteEntry>();

  /**
   * @throws {CassetteError} when a file that has to be read to know what it is for is no cassette, or the folder
   * cannot be read
   */
  constructor(root: string) {
    this.root = root;
    for (const file of cassetteFiles(root)) this.add(file);
  }

  /** @param file takes the place of what was known of it */
  add(file: string, cassette?: Cassette): CassetteEntry {
    const name = relative(this.root, file).replaceAll("\\", "/");
    const known = this.#entries.get(name);
    if (known !== undefined) {
      known.cassette = cassette;
      known.prepared = undefined;
      return known;
    }
    const entry: CassetteEntry = { name, file, cassette, served: 0 };
    this.#entries.set(name, entry);
    const parts = name.split("/");
    const named = readFileName(parts.at(-1)!);
    if (named !== undefined && parts.length === 2) push(this.#named, `${parts[0]}/${named.digits}`, entry);
    else push(this.#others, this.read(entry).scenario, entry);
    return entry;
  }

  /** Whether any was recorded, and not written by hand: its name says so. */
  get recorded(): boolean {
    return this.#named.size > 0;
  }

  get entries(): CassetteEntry[] {
    return [...this.#entries.values()];
  }

  /** @throws {CassetteError} when it cannot be replayed */
  read(entry: CassetteEntry): Cassette {
    entry.cassette ??= readCassetteFile(entry.file);
    return entry.cassette;
  }

  /** The recordings of a call, by occurrence. */
  recordingsOf(place: Place): CassetteEntry[] {
    const digits = place.fingerprint.slice(0, SHOWN_DIGITS);
    const candidates = [
      ...(this.#named.get(`${scenarioFolder(place.scenario)}/${digits}`) ?? []),
      ...(this.#others.get(place.scenario) ?? []),
    ];
    const mine = candidates.filter((entry) => isOf(this.read(entry), place));
    if (mine.length > 1) mine.sort((one, other) => occurrenceOf(this.read(one)) - occurrenceOf(this.read(other)));
    return mine;
  }

  /** Cassettes without an identity: written by hand, or by Fiber. */
  anonymousOf(scenario: string): CassetteEntry[] {
    return (this.#others.get(scenario) ?? []).filter(
      (entry) => this.read(entry).stuntdouble?.fingerprint === undefined,
    );
  }

  /** The file that Fiber would replay for a scenario, whatever is asked. */
  fiberOf({ scenario, invoker }: Place): CassetteEntry | undefined {
    const found = this.anonymousOf(scenario).flatMap((entry) => {
      const by = fiberInvoker(entry.name.split("/").at(-1)!, scenario);
      return by === undefined ? [] : [{ entry, by: invokerName(by) }];
    });
    const own = found.find(({ by }) => by === invoker);
    // Who says nothing of itself gets the only one there is.
    return (own ?? (invoker === UNKNOWN_INVOKER && found.length === 1 ? found[0] : undefined))?.entry;
  }

  /** Whether a cassette is of a scenario, as far as is known without reading it. */
  isIn({ name, cassette }: CassetteEntry, scenario: string): boolean {
    return cassette === undefined ? name.startsWith(`${scenarioFolder(scenario)}/`) : cassette.scenario === scenario;
  }

  /** All of a scenario, read. Those that are damaged are left out: they are told of when they are asked for. */
  scenario(scenario: string): CassetteEntry[] {
    return this.entries.filter((entry) => {
      if (!this.isIn(entry, scenario)) return false;
      try {
        return this.read(entry).scenario === scenario;
      } catch {
        return false;
      }
    });
  }
}

function push(map: Map<string, CassetteEntry[]>, key: string, entry: CassetteEntry): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}

/** Whether a cassette is of calls of this place. */
export function isOf({ scenario, stuntdouble: identity }: Cassette, place: Place): boolean {
  return (
    identity?.fingerprint === place.fingerprint &&
    scenario === place.scenario &&
    (identity.invoker ?? UNKNOWN_INVOKER) === place.invoker &&
    identity.filename === place.filename
  );
}

export function occurrenceOf({ stuntdouble: identity }: Cassette): number {
  return identity?.occurrence ?? 1;
}

/** @throws {CassetteError} with the file and every reason why it cannot be replayed */
export function readCassetteFile(file: string): Cassette {
  try {
    const { size } = statSync(file);
    if (size > LARGEST_CASSETTE_BYTES) throw new CassetteError(`${file}: ${tooLarge(size).message}`);
    return parseCassette(readFileSync(file, "utf8"), file);
  } catch (error) {
    if (error instanceof CassetteError) throw error;
    throw new CassetteError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * The files below a folder that hold cassettes, in the order of their names. None where there is no such folder.
 * @throws {CassetteError} when it cannot be read
 */
export function cassetteFiles(root: string): string[] {
  try {
    return filesBelow(root).sort();
  } catch (error) {
    throw new CassetteError(
      `The cassettes in ${isAbsolute(root) ? root : `./${root}`} cannot be read: ${(error as Error).message}`,
    );
  }
}

/** Not by a recursive `readdir`, which gives up all of it when one folder goes meanwhile. */
function filesBelow(folder: string): string[] {
  let found: Dirent[];
  try {
    found = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return found.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && entry.name.endsWith(".json") && entry.name !== SETTINGS_FILE ? [path] : [];
  });
}
