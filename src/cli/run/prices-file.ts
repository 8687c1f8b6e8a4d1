import { readFileSync } from "node:fs";
import schema from "../../../schemas/prices.schema.json" with { type: "json" };
import type { PriceList } from "../../chat/prices.ts";
import { UsageError } from "../run-verb.ts";

/** @throws {UsageError} when the file is no price list, with every reason */
export async function readPrices(file: string): Promise<PriceList> {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--prices: ${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const { Ajv } = await import("ajv");
  const validate = new Ajv({ allErrors: true }).compile<PriceList>(schema);
  if (validate(list)) return list;
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = (params as { additionalProperty?: string }).additionalProperty;
    return `  ${instancePath || "/"} ${message}${extra === undefined ? "" : `: ${extra}`}`;
  });
  throw new UsageError(
    `--prices: ${file} is no price list (its form is in schemas/prices.schema.json):\n${faults.join("\n")}`,
  );
}
