import { pointerSegment } from "../../wire/json-pointer.ts";
import { childrenAt, type JsonKind, kindAt, memberAt, rootSpan } from "../../wire/json-text.ts";
import { Placeholders } from "./placeholders.ts";
import { compareShape } from "./shape.ts";

/**
 * What a request gives, as JSON text by the param's name. The members of a param that is an object count too, where no
 * param has their name.
 */
export type Given = ReadonlyMap<string, string>;

/** @param names of params that come by position; without them those have no name to come back under */
export function givenIn(request: string, names: readonly string[] | undefined): Map<string, string> {
  const given = new Map<string, string>();
  const params = memberAt(request, rootSpan(request).start, "params");
  if (!params) return given;
  const positional = kindAt(request, params.start) === "array";
  const children = childrenAt(request, params.start);
  for (const [index, child] of children.entries()) {
    const name = positional ? names?.[index] : child.key;
    if (name !== undefined) given.set(name, request.slice(child.start, child.end));
  }
  for (const child of children) {
    if (kindAt(request, child.start) !== "object") continue;
    for (const { key, start, end } of childrenAt(request, child.start))
      if (!given.has(key)) given.set(key, request.slice(start, end));
  }
  return given;
}

export interface Echo {
  /** Pointers of the response's members that are what the request gives under their name. */
  back: ReadonlySet<string>;
  /** Names under which the service says something else than the request gave. */
  changed: ReadonlySet<string>;
}

/** What a golden pair shows of how its service treats what it is given. */
export function echoOf(given: Given, response: string): Echo {
  const back = new Set<string>();
  const changed = new Set<string>();
  const same = new Set<string>();
  const visit = (start: number, pointer: string): void => {
    for (const child of childrenAt(response, start)) {
      const at = pointer + pointerSegment(child.key);
      const value = kindAt(response, start) === "object" ? given.get(child.key) : undefined;
      if (value !== undefined && sameJson(value, response.slice(child.start, child.end))) {
        back.add(at);
        same.add(child.key);
        continue;
      }
      if (value !== undefined) changed.add(child.key);
      visit(child.start, at);
    }
  };
  for (const { key, start } of childrenAt(response, rootSpan(response).start))
    if (key === "result" || key === "error") visit(start, `/${key}`);
  for (const name of same) changed.delete(name);
  return { back, changed };
}

/** JSON of every member of that name, however deep. */
export function membersOf(text: string, name: string, start = rootSpan(text).start): string[] {
  const named = kindAt(text, start) === "object";
  return childrenAt(text, start).flatMap((child) =>
    named && child.key === name ? [text.slice(child.start, child.end)] : membersOf(text, name, child.start),
  );
}

export function sameJson(one: string, other: string): boolean {
  return one === other || JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
}

const NOTHING = new Placeholders(new Map(), new Map());

/** Whether a value can stand where the golden has another, as far as a client can tell by its shape. */
export function fitsGolden(golden: string, value: string): boolean {
  const [want, kind] = [kindAt(golden, 0), kindAt(value, 0)];
  // Most are scalars, whose first character says it all.
  if (isScalar(want) && isScalar(kind)) return want === kind || want === "null" || kind === "null";
  const rules = { placeholders: NOTHING, bound: new Map(), schemaRules: true, extraMembers: [], text: value };
  return compareShape(JSON.parse(golden), JSON.parse(value), rules).differences.length === 0;
}

function isScalar(kind: JsonKind): boolean {
  return kind !== "object" && kind !== "array";
}
