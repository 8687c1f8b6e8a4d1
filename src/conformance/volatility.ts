import { pointerSegment } from "../wire/json-pointer.ts";
import { childrenAt, decodeString, kindAt, rootSpan } from "../wire/json-text.ts";
import { compare } from "./compare.ts";

/** A value that holds no other. */
export interface Leaf {
  pointer: string;
  /** The value's text as written. */
  text: string;
}

/** All leaves of a JSON text; none for a text that is no JSON. */
export function leavesOf(text: string): Leaf[] {
  try {
    JSON.parse(text);
  } catch {
    return [];
  }
  const leaves: Leaf[] = [];
  const open = [{ pointer: "", ...rootSpan(text) }];
  for (let value = open.pop(); value; value = open.pop()) {
    const kind = kindAt(text, value.start);
    if (kind !== "object" && kind !== "array")
      leaves.push({ pointer: value.pointer, text: text.slice(value.start, value.end) });
    const { pointer } = value;
    open.push(
      ...childrenAt(text, value.start)
        .map((child) => ({ pointer: pointer + pointerSegment(child.key), start: child.start, end: child.end }))
        .reverse(),
    );
  }
  return leaves;
}

/** The strings of a JSON text, decoded, with their pointers. */
export function stringsOf(text: string): { pointer: string; value: string }[] {
  return leavesOf(text)
    .filter((leaf) => leaf.text.startsWith('"'))
    .map((leaf) => ({ pointer: leaf.pointer, value: decodeString(leaf.text) }));
}

/** Pointers to what two runs of the same requests answered differently. Ids are left out: they belong to the exchange. */
export function differingPointers(
  first: readonly string[],
  second: readonly string[],
  volatile: readonly string[],
): string[] {
  const pointers = compare("", first, second, volatile)
    .filter((difference) => difference.response > 0 && difference.pointer !== "" && difference.pointer !== "/id")
    .map((difference) => difference.pointer);
  return generalize(pointers);
}

/** Pointers to strings that hold one of the paths. */
export function pointersToPaths(frames: readonly string[], paths: readonly string[]): string[] {
  const holds = (value: string) => paths.some((path) => value.includes(path));
  return generalize(
    frames.flatMap((frame) =>
      stringsOf(frame)
        .filter(({ value }) => holds(value))
        .map(({ pointer }) => pointer),
    ),
  );
}

const VOLATILE_FORMS: readonly [RegExp, string][] = [
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d/, "a time"],
  [/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i, "a UUID"],
  [/^(\/(home|Users|tmp|var|private)\/|[A-Za-z]:\\)/, "a path of this machine"],
];

/** Pointers to strings that look as if the next run would write others, with what they look like. */
export function suspectPointers(frames: readonly string[]): { pointer: string; looksLike: string }[] {
  return VOLATILE_FORMS.flatMap(([form, looksLike]) => {
    const found = frames.flatMap((frame) =>
      stringsOf(frame)
        .filter(({ value }) => form.test(value))
        .map(({ pointer }) => pointer),
    );
    return generalize(found).map((pointer) => ({ pointer, looksLike }));
  });
}

// Pointers that differ in nothing but the places in arrays become one with "*" there; one that stands alone stays.
export function generalize(pointers: readonly string[]): string[] {
  const groups = new Map<string, Set<string>>();
  for (const pointer of pointers) {
    const pattern = pointer.replace(/\/\d+(?=\/|$)/g, "/*");
    groups.set(pattern, (groups.get(pattern) ?? new Set()).add(pointer));
  }
  return [...groups].map(([pattern, members]) => (members.size > 1 ? pattern : ([...members][0] as string)));
}
