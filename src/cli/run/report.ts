import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { PriceList } from "../../chat/prices.ts";
import { createRedactor, type RedactionOptions } from "../../guard/redact.ts";
import { UsageError } from "../run-verb.ts";
import { costOfTake, type Figures } from "./figures.ts";
import { reportPage } from "./report-page.ts";
import type { RunReport } from "./run-report.ts";
import type { SourceOutcome } from "./tape-source.ts";

/** What of a run is written as it is. */
export type RunFacts = Omit<RunReport, "version" | "figures" | "calls" | "takes" | "unused">;

/** Secrets in the command line and in messages are replaced. */
export async function reportOf(
  facts: RunFacts,
  figures: Figures,
  outcome: SourceOutcome,
  prices: PriceList,
  redact?: RedactionOptions,
): Promise<RunReport> {
  const { calls, takes, unused } = outcome;
  const report: RunReport = {
    version: 1,
    ...facts,
    figures,
    calls,
    takes: takes.map((take) => {
      const cost = costOfTake(take, prices);
      return { ...take, ...(cost !== undefined && { cost }) };
    }),
    unused,
  };
  return (await createRedactor(redact)).call().value(report, "report");
}

/**
 * The two files of a report: FILE.html and FILE.json, whichever of them was named.
 * @throws {UsageError} for a name that ends otherwise
 */
export function reportFiles(file: string): { page: string; data: string } {
  const found = /^(.+)\.(html|json)$/.exec(file);
  if (found === null)
    throw new UsageError(`--report ${file}: expected a name that ends with .html or .json; both are written.`);
  return { page: `${found[1]}.html`, data: `${found[1]}.json` };
}

/** @returns why it could not be written */
export function writeReport(file: string, report: RunReport): string | undefined {
  const { page, data } = reportFiles(file);
  try {
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(data, `${JSON.stringify(report, null, 2)}\n`);
    writeFileSync(page, reportPage(report));
    return undefined;
  } catch (error) {
    return `The report ${file} could not be written: ${(error as Error).message}`;
  }
}
