/**
 * aimock's command has no verb: `stuntdouble -p 4010 -f fixtures` serves.
 * @param argv Node's, from the executable on
 */
export function withVerb(argv: readonly string[]): string[] {
  const [first, ...rest] = argv.slice(2);
  const asksForHelp = first === "--help" || (first === "-h" && rest.length === 0);
  if (first === undefined || !first.startsWith("-") || asksForHelp) return [...argv];
  return [...argv.slice(0, 2), "serve", first, ...rest];
}
