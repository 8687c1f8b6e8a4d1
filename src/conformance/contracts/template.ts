import { formatPointer, parsePointer, pointerSegment, spansOf } from "../../wire/json-pointer.ts";
import { childrenAt, decodeString, kindAt, rootSpan, type Span } from "../../wire/json-text.ts";

/** A place in a golden message that is filled when it is sent. */
export interface Hole extends Span {
  pointer: string;
  /** `$uuid`; empty for a place that is filled although a literal stands there. */
  name: string;
  /** It is the name of the member at the pointer, and not its value. One that nobody knows (`$ref`) is meant as it is. */
  isMemberName?: true;
}

/**
 * A golden message as text with holes. Text, because numbers and ids have to leave as they were written:
 * 9007199254740993 would not survive a parser.
 */
export interface Template {
  /** The message on one line. */
  text: string;
  /** The message, parsed, with its placeholders as they stand. */
  value: unknown;
  holes: readonly Hole[];
}

/** The placeholder that a string stands for. `$$name` is the string `$name` itself. */
export function placeholderIn(value: unknown): string | undefined {
  return typeof value === "string" && /^\$[A-Za-z_]\w*$/.test(value) ? value : undefined;
}

const ESCAPED = /^\$\$[A-Za-z_]\w*$/;

/** A golden literal as it is meant: `$$name` is `$name`. */
export function literalOf(value: unknown): unknown {
  return typeof value === "string" && ESCAPED.test(value) ? value.slice(1) : value;
}

/** @param json text that `JSON.parse` accepts */
export function makeTemplate(json: string): Template {
  const text = unescapeLiterals(compact(json));
  return { text: text.text, value: JSON.parse(compact(json)), holes: text.holes };
}

/** The template with further holes, at pointers where literals stand. Pointers that lead nowhere are passed over. */
export function withHoles(template: Template, pointers: readonly string[]): Template {
  const added = pointers.flatMap((pointer) =>
    template.holes.some((hole) => hole.pointer === pointer)
      ? []
      : spansOf(template.text, parsePointer(pointer)).map(({ start, end }) => ({ start, end, pointer, name: "" })),
  );
  if (added.length === 0) return template;
  return { ...template, holes: [...template.holes, ...added].sort((a, b) => a.start - b.start) };
}

/** @param fill gives the JSON text for a hole */
export function render(template: Template, fill: (hole: Hole) => string): string {
  let result = "";
  let at = 0;
  for (const hole of template.holes) {
    const filled = fill(hole);
    result += template.text.slice(at, hole.start);
    result += hole.isMemberName && !filled.startsWith('"') ? JSON.stringify(filled) : filled;
    at = hole.end;
  }
  return at === 0 ? template.text : result + template.text.slice(at);
}

/** JSON text without the white space between its tokens. */
export function compact(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (token) => (token[0] === '"' ? token : ""));
}

function unescapeLiterals(json: string): { text: string; holes: Hole[] } {
  if (!json.includes('"$')) return { text: json, holes: [] };
  let text = "";
  let copied = 0;
  const holes: Hole[] = [];
  const take = (start: number, end: number, pointer: string, isMemberName: boolean): void => {
    const value = decodeString(json.slice(start, end));
    const name = placeholderIn(value);
    if (name === undefined && !ESCAPED.test(value)) return;
    text += json.slice(copied, start);
    copied = end;
    if (name === undefined) text += JSON.stringify(literalOf(value));
    else {
      const hole = { pointer, name, start: text.length, end: text.length + end - start };
      holes.push(isMemberName ? { ...hole, isMemberName: true } : hole);
      text += json.slice(start, end);
    }
  };
  const visit = (start: number, end: number, pointer: string): void => {
    const kind = kindAt(json, start);
    if (kind === "string") take(start, end, pointer, false);
    for (const child of childrenAt(json, start)) {
      const at = pointer + pointerSegment(child.key);
      // Nothing but the colon is between a name and its value.
      const name = child.start - 1 - child.key.length - 2;
      if (kind === "object" && json.startsWith(`"${child.key}":`, name)) take(name, child.start - 1, at, true);
      visit(child.start, child.end, at);
    }
  };
  const root = rootSpan(json);
  visit(root.start, root.end, "");
  return { text: text + json.slice(copied), holes };
}

/** The JSON text at a pointer. */
export function textAt(text: string, pointer: string): string | undefined {
  const [span] = spansOf(text, parsePointer(pointer));
  return span && text.slice(span.start, span.end);
}

/** The value at a pointer; undefined where there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const segment of parsePointer(pointer)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, segment)) return undefined;
    at = (at as Record<string, unknown>)[segment];
  }
  return at;
}

/** 1-based line of a place in a JSON text; of the nearest place above it where there is none. */
export function lineOf(text: string, pointer: string): number {
  const segments = parsePointer(pointer);
  for (let depth = segments.length; depth >= 0; depth--) {
    const [span] = spansOf(text, parsePointer(formatPointer(segments.slice(0, depth))));
    if (span) return text.slice(0, span.start).split("\n").length;
  }
  return 1;
}
