import guardSchema from "../../schemas/guard.schema.json" with { type: "json" };
import priceSchema from "../../schemas/prices.schema.json" with { type: "json" };
import type { BreakerOptions } from "./breaker.ts";
import { GuardError, type GuardRule } from "./guardrails.ts";

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
  const { Ajv } = await import("ajv");
  const validate = new Ajv({ allErrors: true })
    .addSchema(priceSchema, "prices.schema.json")
    .compile<GuardOptions>(guardSchema);
  if (validate(value)) return value;
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: string[] };
    return `${instancePath || "/"} ${message}${additionalProperty ? ` (${additionalProperty})` : ""}${allowedValues ? `: ${allowedValues.join(", ")}` : ""}`;
  });
  throw new GuardError(`This is no guard (its form is in schemas/guard.schema.json): ${faults.join("; ")}.`);
}
