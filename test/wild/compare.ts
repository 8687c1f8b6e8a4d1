/** Where two values differ: paths of members, with `*` for every place in a list, and both values. */
export interface Difference {
  field: string;
  original: unknown;
  served: unknown;
}

/**
 * The differences between what a client makes of the original and of the reply served again. Null, an empty list
 * and an absent member are one: a client's user sees nothing in all three.
 */
export function differences(original: unknown, served: unknown, field = ""): Difference[] {
  if (isNothing(original) && isNothing(served)) return [];
  if (Array.isArray(original) && Array.isArray(served)) {
    if (original.length !== served.length) return [{ field, original, served }];
    return original.flatMap((value, index) => differences(value, served[index], join(field, "*")));
  }
  if (isMembers(original) && isMembers(served)) {
    const names = new Set([...Object.keys(original), ...Object.keys(served)]);
    return [...names].flatMap((name) => differences(original[name], served[name], join(field, name)));
  }
  return Object.is(original, served) ? [] : [{ field, original, served }];
}

function join(field: string, name: string): string {
  return field === "" ? name : `${field}.${name}`;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For people: the field and both values, cut to a readable length. */
export function described({ field, original, served }: Difference): string {
  return `${field}: was ${shown(original)}, is served as ${shown(served)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
