import { readFileSync } from "node:fs";
import { ApiError } from "../dialects/api-error.ts";
import { FixtureError } from "../fixtures/load.ts";
import { StuntDouble } from "../server/double.ts";
import { explainRequest } from "../server/explain-request.ts";
import type { ExplainFlags } from "./flags.ts";
import { redactionSettings } from "./redact-options.ts";
import { UsageError } from "./run-verb.ts";

/** Prints the explanation of a request. 0: a fixture answers it. 1: none does. */
export async function explainFile(file: string, flags: ExplainFlags): Promise<number> {
  const redact = await redactionSettings(flags);
  const double = new StuntDouble({
    ...(redact && { redact }),
    onWarning: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    await double.loadAsync(...(flags.fixtures ?? ["./fixtures"]));
    const request = explainRequest(readJson(file));
    const explanation = await double.explain({ ...request, ...(flags.path !== undefined && { path: flags.path }) });
    process.stdout.write(`${flags.json ? JSON.stringify(explanation, null, 2) : explanation.text}\n`);
    return explanation.fixture === null ? 1 : 0;
  } catch (error) {
    if (error instanceof FixtureError) throw new UsageError(error.message);
    if (error instanceof ApiError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new UsageError(`${file}: cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file}: it is not JSON: ${(error as Error).message}`);
  }
}
