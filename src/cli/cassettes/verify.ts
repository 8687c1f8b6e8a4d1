import { readFileSync, statSync } from "node:fs";
import { cassetteFiles } from "../../cassettes/folder.ts";
import { looksLikeCassette } from "../../cassettes/format.ts";
import { readFileName } from "../../cassettes/names.ts";
import { UserRules } from "../../cassettes/user-rules.ts";
import { verifiableFiles, verifyFile } from "../../cassettes/verify.ts";
import type { Rules } from "../../dialects/rules.ts";
import { exitCodeOf, summarize, type Verdict } from "../../report/verdict.ts";
import { dialects } from "../../services/registry.ts";
import type { VerifyFlags } from "../flags.ts";
import { reportersFor } from "../reporting.ts";
import { UsageError } from "../run-verb.ts";

/** Whether a path holds cassettes: one of its files says so, or is named as we name them. */
export async function holdsCassettes(path: string): Promise<boolean> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const files = stats.isDirectory() ? cassetteFiles(path) : [path];
  return files.some((file) => readFileName(file.split("/").at(-1)!) !== undefined || isCassette(file));
}

function isCassette(file: string): boolean {
  if (!file.endsWith(".json")) return false;
  const text = readFileSync(file, "utf8");
  try {
    return looksLikeCassette(JSON.parse(text));
  } catch {
    // A damaged one is still one: that is what verify is to tell.
    return text.includes('"latest_trace_id"');
  }
}

export async function verifyCassettes(path: string, command: readonly string[], flags: VerifyFlags): Promise<number> {
  if (command.length > 0)
    throw new UsageError("Cassettes are held to their own raw payload: verify takes no command for them.");
  const operations = dialects.flatMap((dialect) => dialect.operations);
  const known = new Map<string, Rules>();
  for (const { name, dialect, rules } of operations) {
    if (rules === undefined) continue;
    known.set(name, rules);
    if (!known.has(dialect)) known.set(dialect, rules);
  }
  const rules = await UserRules.load(flags.rules ?? [], known);
  const files = verifiableFiles(path).filter((file) => flags.filter === undefined || file.includes(flags.filter));
  const reporter = reportersFor(flags.reporter);
  const startedAt = performance.now();
  reporter.begin(path, files.length);
  const verdicts: Verdict[] = [];
  for (const file of files) {
    for (const verdict of await verifyFile(file, path, { operations, rules })) {
      verdicts.push(verdict);
      reporter.verdict(verdict);
    }
    if (flags.bail && verdicts.at(-1)?.status === "failed") break;
  }
  const summary = summarize(path, verdicts, performance.now() - startedAt);
  reporter.end(summary);
  return exitCodeOf(summary);
}
