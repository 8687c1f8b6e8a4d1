import { readFileSync } from "node:fs";
import type { CassetteFolder } from "./folder.ts";
import type { Cassette } from "./types.ts";

/** Which takes are replayed in place of the latest ones. */
export class TraceRoutes {
  readonly #byScenario = new Map<string, string[]>();
  readonly #anywhere: string[] = [];

  /** @param text `scenario:id,id…`: an id with a scenario is of that one alone, a bare one of every cassette that has it */
  constructor(text = "") {
    for (const word of text.split(",").map((part) => part.trim())) {
      if (word === "") continue;
      const colon = word.lastIndexOf(":");
      const id = word.slice(colon + 1).toLowerCase();
      if (colon < 0) this.#anywhere.push(id);
      else {
        const scenario = word.slice(0, colon);
        this.#byScenario.set(scenario, [...(this.#byScenario.get(scenario) ?? []), id]);
      }
    }
  }

  /** The take of a cassette that was asked for; undefined where it is the latest. */
  of({ scenario, traces }: Cassette): string | undefined {
    const ids = [...(this.#byScenario.get(scenario) ?? []), ...this.#anywhere];
    return ids.find((id) => Object.hasOwn(traces, id));
  }

  /** Ids that no cassette of the folder holds. Reads all of it, and only where ids were given. */
  unknown(folder: CassetteFolder): string[] {
    const wanted = new Set([...this.#anywhere, ...[...this.#byScenario.values()].flat()]);
    for (const { file } of folder.entries) {
      if (wanted.size === 0) break;
      const text = readFileSync(file, "utf8");
      for (const id of wanted) if (text.includes(`"${id}"`)) wanted.delete(id);
    }
    return [...wanted];
  }
}
