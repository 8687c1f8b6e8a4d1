import guardSchema from "../../schemas/guard.schema.json" with { type: "json" };
import priceSchema from "../../schemas/prices.schema.json" with { type: "json" };
import redactSchema from "../../schemas/redact.schema.json" with { type: "json" };
import type { BreakerOptions } from "./breaker.ts";
import { RedactionOptionsError } from "./finding.ts";
import { GuardError, type GuardRule } from "./guardrails.ts";
import type { RedactionOptions } from "./redact.ts";
import { schemaFaults } from "./schema-faults.ts";

/** What must not pass, and at what a reply is cut. */
export interface GuardOptions {
  rules?: readonly GuardRule[];
  breaker?: BreakerOptions;
}

/**
 * A value from a file or the control API as what it has to be.
 * @throws {GuardError} with everything that is wrong with its form; names and patterns are checked when it is put in force
 */
export async function readGuardOptions(value: unknown): Promise<GuardOptions> {
  const faults = await schemaFaults(value, guardSchema, { "prices.schema.json": priceSchema });
  if (faults.length === 0) return value as GuardOptions;
  throw new GuardError(`This is no guard (its form is in schemas/guard.schema.json): ${faults.join("; ")}.`);
}

/**
 * A value from a file as what it has to be.
 * @throws {RedactionOptionsError} with everything that is wrong with its form; names and patterns are checked on use
 */
export async function readRedactionOptions(value: unknown): Promise<RedactionOptions> {
  const faults = await schemaFaults(value, redactSchema);
  if (faults.length === 0) return value as RedactionOptions;
  throw new RedactionOptionsError(
    `This says nothing of redaction (its form is in schemas/redact.schema.json): ${faults.join("; ")}.`,
  );
}
