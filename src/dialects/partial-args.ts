import { isObject } from "./raw-request.ts";

/**
 * A value put at a place inside the arguments of a call: how Gemini streams them.
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
 */
export interface PartialArg {
  /** `$.recipe.steps[0]` */
  jsonPath: string;
  stringValue?: string;
  numberValue?: number;
  boolValue?: boolean;
  nullValue?: "NULL_VALUE";
  /** More of the same text comes. */
  willContinue?: boolean;
}

type Step = string | number;

/**
 * The object that assignments build, as JSON text; empty if there was none. A path or a value that is not
 * understood, or an element far beyond a list's end, is passed over.
 */
export function assignedJson(assignments: readonly unknown[]): string {
  // Without a prototype, so that `__proto__` is a name like any other.
  const root: Record<string, unknown> = Object.create(null);
  let open: string | undefined;
  let assigned = false;
  for (const assignment of assignments) {
    if (!isObject(assignment) || typeof assignment["jsonPath"] !== "string") continue;
    const { jsonPath: path, willContinue } = assignment as { jsonPath: string; willContinue?: unknown };
    const steps = stepsOf(path);
    const value = assignedValue(assignment);
    if (steps === undefined || value === undefined) continue;
    if (assign(root, steps, value, open === path)) assigned = true;
    open = willContinue === true && typeof value === "string" ? path : undefined;
  }
  return assigned ? JSON.stringify(root) : "";
}

function assignedValue(assignment: Record<string, unknown>): unknown {
  for (const name of ["stringValue", "numberValue", "boolValue"]) {
    if (assignment[name] !== undefined) return assignment[name];
  }
  return assignment["nullValue"] === undefined ? undefined : null;
}

function assign(root: object, steps: Step[], value: unknown, continued: boolean): boolean {
  let place = root as Record<Step, unknown>;
  for (const [index, step] of steps.entries()) {
    if (Array.isArray(place) ? typeof step !== "number" || step > place.length : typeof step === "number") return false;
    const next = steps[index + 1];
    if (next === undefined) {
      const before = place[step];
      place[step] = continued && typeof before === "string" && typeof value === "string" ? before + value : value;
      return true;
    }
    let inner = place[step];
    if (typeof inner !== "object" || inner === null) {
      inner = typeof next === "number" ? [] : Object.create(null);
      place[step] = inner;
    }
    place = inner as Record<Step, unknown>;
  }
  return false;
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y;

function stepsOf(path: string): Step[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const steps: Step[] = [];
  for (let at = 1; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) return undefined;
    steps.push(found[2] !== undefined ? Number(found[2]) : (found[1] ?? found[3] ?? found[4])!);
  }
  return steps.length > 0 && typeof steps[0] === "string" ? steps : undefined;
}

/**
 * The assignments that build an object, in its order, or undefined where they cannot: nothing says that a list or
 * an object is empty, and names are written as they stand.
 * @param pieces a text in the pieces in which it is streamed
 */
export function assignmentsOf(args: unknown, pieces: (text: string) => string[]): PartialArg[] | undefined {
  if (!isObject(args)) return undefined;
  const assignments: PartialArg[] = [];
  return addAssignments(args, "$", pieces, assignments) ? assignments : undefined;
}

function addAssignments(value: unknown, path: string, pieces: (text: string) => string[], all: PartialArg[]): boolean {
  switch (typeof value) {
    case "string":
      for (const piece of pieces(value)) all.push({ jsonPath: path, stringValue: piece, willContinue: true });
      all.push({ jsonPath: path, stringValue: "" });
      return true;
    case "number":
      all.push({ jsonPath: path, numberValue: value });
      return true;
    case "boolean":
      all.push({ jsonPath: path, boolValue: value });
      return true;
  }
  if (value === null) {
    all.push({ jsonPath: path, nullValue: "NULL_VALUE" });
    return true;
  }
  if (Array.isArray(value)) {
    return (
      value.length > 0 && value.every((element, index) => addAssignments(element, `${path}[${index}]`, pieces, all))
    );
  }
  const members = Object.entries(value as object);
  return (
    members.length > 0 &&
    members.every(([name, inner]) => NAME.test(name) && addAssignments(inner, `${path}.${name}`, pieces, all))
  );
}

const NAME = /^[\w-]+$/;
