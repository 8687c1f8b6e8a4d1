import { childrenAt, kindAt, rootSpan, type Span } from "./json-text.ts";

/**
 * JSON Pointers (RFC 6901, https://www.rfc-editor.org/rfc/rfc6901), and patterns: pointers in which the segment `*`
 * stands for every element of an array and every member of an object.
 */
export function parsePointer(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw new SyntaxError(`"${pointer}" is no JSON Pointer: it has to start with "/".`);
  if (/~(?![01])/.test(pointer))
    throw new SyntaxError(`"${pointer}" is no JSON Pointer: "~" is written "~0" and "/" is written "~1".`);
  return pointer
    .slice(1)
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** One segment, escaped, with its slash. */
export function pointerSegment(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function formatPointer(segments: readonly string[]): string {
  return segments.map(pointerSegment).join("");
}

/** Every place in the JSON text that the pattern (already split by `parsePointer`) names; none is no error. */
export function spansOf(text: string, pattern: readonly string[]): Span[] {
  let found: Span[] = [rootSpan(text)];
  for (const segment of pattern) {
    found = found.flatMap((span) => {
      if (segment === "*") return childrenAt(text, span.start);
      const children = childrenAt(text, span.start).filter((child) => child.key === segment);
      // Of repeated members a reader sees the last, but what is masked has to be gone from all of them.
      return kindAt(text, span.start) === "array" ? children.slice(0, 1) : children;
    });
    if (found.length === 0) break;
  }
  return found;
}

/** A place in a JSON text that a pattern names. */
export interface PointedPlace extends Span {
  pointer: string;
}

/** As `spansOf`, each with the pointer to it. */
export function pointedAt(text: string, [segment, ...rest]: readonly string[], from?: PointedPlace): PointedPlace[] {
  const at = from ?? { ...rootSpan(text), pointer: "" };
  if (segment === undefined) return [at];
  return childrenAt(text, at.start)
    .filter(({ key }) => segment === "*" || key === segment)
    .flatMap(({ key, start, end }) => pointedAt(text, rest, { start, end, pointer: at.pointer + pointerSegment(key) }));
}
