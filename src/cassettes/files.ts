import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { whileLocked } from "../transport/file-lock.ts";
import { writeWholeFile } from "../transport/whole-file.ts";
import { parseCassette } from "./damage.ts";
import { isOf } from "./folder.ts";
import { type CassetteText, FORMAT_VERSION, formatCassette, withTake } from "./format.ts";
import { type Place, UNKNOWN_INVOKER } from "./identity.ts";
import { chosenName, fileName, LOCK_FILE, readFileName, SHOWN_DIGITS, scenarioFolder } from "./names.ts";
import type { Cassette, Trace } from "./types.ts";

/** A take that is to be written. */
export interface Take {
  place: Place;
  /** From 1. */
  occurrence: number;
  /** What the call says, for the file's name. */
  title: string;
  trace: Trace;
}

export interface WrittenTake {
  file: string;
  cassette: Cassette;
}

interface Waiting {
  take: Take;
  done: (written: WrittenTake) => void;
  failed: (error: unknown) => void;
}

/**
 * Writes takes into the files of a folder. A file is whole at any moment, and a scenario's folder is locked between
 * processes while one is written: two that found the same free name would overwrite one another.
 */
export class CassetteFiles {
  readonly #root: string;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(root: string) {
    this.#root = root;
  }

  /** @throws {Error} what the file system says, or that the cassette which is there is damaged */
  write(take: Take): Promise<WrittenTake> {
    const folder = join(this.#root, scenarioFolder(take.place.scenario));
    return new Promise((done, failed) => {
      const waiting = { take, done, failed };
      const queue = this.#waiting.get(folder);
      if (queue !== undefined) {
        queue.push(waiting);
        return;
      }
      this.#waiting.set(folder, [waiting]);
      void this.#drain(folder);
    });
  }

  /** What comes while a folder is locked waits for the next turn together. */
  async #drain(folder: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(folder)!;
      if (batch.length === 0) break;
      this.#waiting.set(folder, []);
      try {
        await mkdir(folder, { recursive: true });
        const tell = await whileLocked(join(folder, LOCK_FILE), () => writeAll(folder, batch));
        // Only now: who has been told may end the process, and the lock would stay.
        tell();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.#waiting.delete(folder);
  }
}

/** @returns tells those who wait what has become of it */
async function writeAll(folder: string, batch: readonly Waiting[]): Promise<() => void> {
  const names = await readdir(folder);
  const outcomes: (() => void)[] = [];
  for (const { take, done, failed } of batch) {
    try {
      const before = await beforeOf(folder, names, take);
      const name = before?.name ?? newName(names, take);
      const cassette = withTake(before?.cassette ?? emptyCassette(take), take.trace);
      const file = join(folder, name);
      await writeWholeFile(file, formatCassette(cassette, before));
      if (before === undefined) names.push(name);
      outcomes.push(() => done({ file, cassette }));
    } catch (error) {
      outcomes.push(() => failed(error));
    }
  }
  return () => {
    for (const tell of outcomes) tell();
  };
}

/** The file that holds other takes of the same call. */
async function beforeOf(
  folder: string,
  names: readonly string[],
  { place, occurrence }: Take,
): Promise<(CassetteText & { name: string }) | undefined> {
  const digits = place.fingerprint.slice(0, SHOWN_DIGITS);
  const base = place.filename === undefined ? undefined : chosenName(place.filename, 0).slice(0, -".json".length);
  for (const name of names) {
    const mayBe = base === undefined ? readFileName(name)?.digits === digits : name.startsWith(base);
    if (!mayBe || !name.endsWith(".json")) continue;
    const text = await readFile(join(folder, name), "utf8");
    const cassette = parseCassette(text, join(folder, name));
    if (isOf(cassette, place) && (cassette.stuntdouble?.occurrence ?? 1) === occurrence)
      return { name, text, cassette };
  }
  return undefined;
}

function newName(names: readonly string[], { place, occurrence, title }: Take): string {
  const { filename, invoker, fingerprint } = place;
  if (filename !== undefined) {
    let others = 0;
    while (names.includes(chosenName(filename, others))) others++;
    return chosenName(filename, others);
  }
  const last = Math.max(0, ...names.map((name) => readFileName(name)?.order ?? 0));
  return fileName(last + 1, invoker, title, fingerprint, occurrence);
}

function emptyCassette({ place, occurrence }: Take): Cassette {
  const { scenario, invoker, filename, fingerprint } = place;
  return {
    scenario,
    latest_trace_id: "",
    history_keys: [],
    traces: {},
    stuntdouble: {
      format_version: FORMAT_VERSION,
      ...(invoker !== UNKNOWN_INVOKER && { invoker }),
      ...(filename !== undefined && { filename }),
      fingerprint,
      occurrence,
    },
  };
}
