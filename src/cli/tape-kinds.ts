import { stat } from "node:fs/promises";
import type { LintFlags, PlayFlags, RecordFlags, VerifyFlags } from "./flags.ts";
import { UsageError } from "./run-verb.ts";

/** A kind of tape and what each verb does with it. A verb gives the process's exit code. All load when they are used. */
export interface TapeKind {
  /** What a path of this kind holds, to complete "expected …". */
  name: string;
  holds(path: string): Promise<boolean>;
  verify?(path: string, command: readonly string[], flags: VerifyFlags): Promise<number>;
  play?(path: string, flags: PlayFlags): Promise<number>;
  record?(path: string, cases: readonly string[], command: readonly string[], flags: RecordFlags): Promise<number>;
  /** @param paths in the order in which they would be used together */
  lint?(paths: readonly string[], flags: LintFlags): Promise<number>;
  /** What does instead of a verb that this kind does not take, and that another kind would take it for its own by. */
  instead?: Partial<Record<Verb, string>>;
}

export type Verb = "verify" | "play" | "record" | "lint";

const kinds: readonly TapeKind[] = [
  {
    name: "a suite of transcripts (a folder of cases, each with its manifest.json)",
    holds: async (path) => (await import("../conformance/load.ts")).holdsTranscripts(path),
    verify: async (...args) => (await import("./transcripts/verify.ts")).verifyTranscripts(...args),
    play: async (...args) => (await import("./transcripts/play.ts")).playTranscripts(...args),
    record: async (...args) => (await import("./transcripts/record.ts")).recordTranscripts(...args),
    lint: async (...args) => (await import("./transcripts/lint.ts")).lintTranscripts(...args),
  },
  {
    name: "a folder of contracts (contract.json, *.json, errors/*.json, events/*.json)",
    holds: async (path) => (await import("../conformance/contracts/load.ts")).holdsContracts(path),
    verify: async (...args) => (await import("./contracts/verify.ts")).verifyContractFolder(...args),
    play: async (...args) => (await import("./contracts/play.ts")).playContracts(...args),
    record: async (...args) => (await import("./contracts/record.ts")).recordContractFolder(...args),
    lint: async (...args) => (await import("./contracts/lint.ts")).lintContractFolder(...args),
  },
  {
    name: "cassettes (a recorded call in a JSON file, or a folder of them)",
    holds: async (path) => (await import("./cassettes/verify.ts")).holdsCassettes(path),
    verify: async (...args) => (await import("./cassettes/verify.ts")).verifyCassettes(...args),
    instead: { lint: "these are cassettes: stuntdouble verify checks them, and stuntdouble scan looks for secrets." },
  },
  {
    name: "fixtures (JSON and YAML files, folders of them, globs, URLs)",
    holds: async (path) => (await import("./fixtures/lint.ts")).holdsFixtures(path),
    lint: async (...args) => (await import("./fixtures/lint.ts")).lintFixturePaths(...args),
  },
];

/** What the path holds tells its kind. Throws a `UsageError` where it holds nothing that the verb takes. */
export async function kindOf<V extends Verb>(path: string, verb: V): Promise<TapeKind & Required<Pick<TapeKind, V>>> {
  const takes = (kind: TapeKind): kind is TapeKind & Required<Pick<TapeKind, V>> => kind[verb] !== undefined;
  const able = kinds.filter(takes);
  for (const kind of kinds) {
    const instead = kind.instead?.[verb];
    if (!(takes(kind) || instead !== undefined) || !(await kind.holds(path))) continue;
    if (takes(kind)) return kind;
    throw new UsageError(`${path}: ${instead}`);
  }
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const expected = able.map((kind) => kind.name).join(", or ");
  throw new UsageError(
    exists
      ? `${path}: there is nothing here that ${verb} takes; expected ${expected}.`
      : `${path}: there is no such file or folder.`,
  );
}
