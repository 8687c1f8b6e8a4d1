/** A value of a message, and where in its list it stands. */
export interface Item {
  value: unknown;
  /** Of the nearest list around it; 0 where there is none. */
  position: number;
  /** The item that it was found in, where a rule has looked for it there. */
  outer?: Item;
}

const compiled = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  let steps = compiled.get(path);
  if (steps === undefined) {
    steps = path === "" ? [] : path.split(".");
    compiled.set(path, steps);
  }
  return steps;
}

/**
 * All that a path leads to (see `Path` in `rules.ts`), null included. A member that only the prototype has is
 * not there: a message is data that anyone may have sent.
 */
export function read(path: string, item: Item): Item[] {
  let items = [item];
  for (const step of stepsOf(path)) {
    const next: Item[] = [];
    for (const { value, position, outer } of items) {
      if (step === "^") {
        if (outer !== undefined) next.push(outer);
      } else if (step === "#") next.push({ value: position, position });
      else if (step.startsWith("=")) next.push({ value: step.slice(1), position });
      else if (typeof value !== "object" || value === null) continue;
      else if (step === "*") {
        for (const [index, member] of Object.values(value).entries()) next.push({ value: member, position: index });
      } else if (Object.hasOwn(value, step)) {
        next.push({
          value: (value as Record<string, unknown>)[step],
          position: Array.isArray(value) ? Number(step) : position,
        });
      }
    }
    items = next;
  }
  return items;
}

/** The first thing other than null that one of the paths leads to. */
export function readFirst(paths: string | string[], item: Item): unknown {
  for (const path of typeof paths === "string" ? [paths] : paths) {
    for (const { value } of read(path, item)) if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** A copy of an object in which a value stands at the place that a path names. */
export function withValue(object: unknown, path: string, value: unknown): unknown {
  return setSteps(object, stepsOf(path), 0, value);
}

function setSteps(object: unknown, steps: readonly string[], at: number, value: unknown): unknown {
  const step = steps[at];
  if (step === undefined) return value;
  const members = typeof object === "object" && object !== null && !Array.isArray(object) ? object : {};
  const old = Object.hasOwn(members, step) ? (members as Record<string, unknown>)[step] : undefined;
  return { ...members, [step]: setSteps(old, steps, at + 1, value) };
}
