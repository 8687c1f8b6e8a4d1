import { coverageOf, describeCoverage } from "../../conformance/contracts/coverage.ts";
import { loadContracts } from "../../conformance/contracts/load.ts";
import { EXIT_DIFFERENCES, EXIT_PASSED } from "../../report/verdict.ts";
import { UsageError } from "../run-verb.ts";

export async function showCoverage(path: string, { require = false }: { require?: boolean }): Promise<number> {
  const coverage = coverageOf(await loadContracts(path));
  if (!coverage) throw new UsageError(`${path}: there is no schema to cover; name it in "schema" of contract.json.`);
  process.stdout.write(`${describeCoverage(coverage)}.\n`);
  for (const line of coverage.missing) process.stdout.write(`missing  ${line}\n`);
  for (const line of coverage.unknown) process.stdout.write(`unknown  ${line}\n`);
  return require && coverage.missing.length > 0 ? EXIT_DIFFERENCES : EXIT_PASSED;
}
