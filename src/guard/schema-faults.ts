/**
 * What is wrong with a value that came from a file or the control API, each with its place; the validator loads here.
 * @param others schemas that the schema refers to, by their names
 */
export async function schemaFaults(
  value: unknown,
  schema: object,
  others: Readonly<Record<string, object>> = {},
): Promise<string[]> {
  const { Ajv } = await import("ajv");
  const ajv = new Ajv({ allErrors: true });
  for (const [name, other] of Object.entries(others)) ajv.addSchema(other, name);
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: string[] };
    return `${instancePath || "/"} ${message}${additionalProperty ? ` (${additionalProperty})` : ""}${allowedValues ? `: ${allowedValues.join(", ")}` : ""}`;
  });
}
