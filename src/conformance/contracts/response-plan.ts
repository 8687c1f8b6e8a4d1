import { formatPointer, parsePointer, pointerSegment, spansOf } from "../../wire/json-pointer.ts";
import { type Child, childrenAt, kindAt, rootSpan } from "../../wire/json-text.ts";
import type { IdKind, LiveIds } from "./live-ids.ts";
import { type Hole, placeholderIn, render, type Template, valueAt, withHoles } from "./template.ts";

/**
 * An array whose elements are things with ids, or a member whose name is an id: a mock answers one for each that lives.
 */
interface LiveList extends Hole {
  kind: IdKind;
  elements: readonly Template[];
  /** What stands around the elements where there are any, and where there are none. */
  around: readonly [before: string, after: string, without: string];
}

/** A member that may hold what a client gave, in the place of the golden's. */
export interface EchoHole extends Hole {
  /** The param's name; set where the golden pair shows that its value comes back here. */
  param: string | undefined;
  /** JSON of the golden's value; undefined where a placeholder stands here. */
  literal: string | undefined;
  /** The id beside it, of which the member says something. */
  beside: Beside | undefined;
  /** Whether the golden's value is the doing of the method, which changes what the id names. */
  effect: boolean;
}

export interface Beside {
  kind: IdKind;
  /** The placeholder; undefined for an id that is given out here. */
  name: string | undefined;
}

export function isEcho(hole: Hole): hole is EchoHole {
  return "effect" in hole;
}

/** An id that a response gives out. */
export interface Creation {
  kind: IdKind;
  /** What the golden has in its place. */
  golden: unknown;
  /** The param that gives it, where the golden pair shows that the client chooses it. */
  param: string | undefined;
}

/** A golden message, ready to be filled. */
export interface MessagePlan {
  template: Template;
  /** By pointer the ids that are given out here. */
  creates: ReadonlyMap<string, Creation>;
  lists: ReadonlyMap<Hole, LiveList>;
  /** Whether it holds what was given with the request that it answers, or that causes it. */
  takesGiven: boolean;
}

/** What a hole's value is taken from. */
export interface Fill {
  /** The JSON text for a hole. `element` is the id that the list's element is about. */
  value(hole: Hole, element: { kind: IdKind; id: string } | undefined): string;
}

/** What is known of the request that a message answers, or of the one that causes an event. */
export interface Asked {
  /** Whose response it is; undefined for an event, which gives out nothing. */
  method: string | undefined;
  /** Placeholders that the request has: they name one thing, and a list of it is as golden. */
  placeholders: ReadonlySet<string>;
  /** Pointers of members in which a param's value comes back. */
  back: ReadonlySet<string>;
  /** Whether the value of a member is what the golden pairs say of new ids under its name. */
  isUsual(kind: IdKind, member: string, literal: string): boolean;
}

export function planMessage(golden: Template, ids: LiveIds, asked: Asked): MessagePlan {
  const kinds = ids.kinds.filter((kind) => kind.method === asked.method);
  const creates = new Map(
    kinds.flatMap((kind) => {
      const value = valueAt(golden.value, kind.pointer);
      const param = asked.back.has(kind.pointer) ? parsePointer(kind.pointer).at(-1) : undefined;
      return value === undefined ? [] : [[kind.pointer, { kind, golden: value, param }] as const];
    }),
  );
  const filled = withHoles(golden, ["/id", ...creates.keys()]);
  const own = { ...filled, holes: withEchoes(filled, ids, creates, asked) };
  const lists = new Map<Hole, LiveList>();
  const holes: Hole[] = [];
  let end = 0;
  for (const hole of own.holes) {
    if (hole.start < end) continue;
    const list = creates.has(hole.pointer)
      ? undefined
      : (listAround(own, hole, ids, asked.placeholders) ?? liveMember(own, hole, ids, asked.placeholders));
    const taken: Hole = list ?? hole;
    if (list) lists.set(taken, list);
    end = taken.end;
    holes.push(taken);
  }
  const takesGiven = creates.size > 0 || own.holes.some((hole) => isEcho(hole) && hole.param !== undefined);
  return { template: { ...own, holes }, creates, lists, takesGiven };
}

/** The holes with those for what comes back. Values that hold placeholders stay as golden. */
function withEchoes(template: Template, ids: LiveIds, creates: MessagePlan["creates"], asked: Asked): Hole[] {
  const { text, holes } = template;
  const idHoles = holes.flatMap((hole) => {
    const kind = creates.get(hole.pointer)?.kind ?? ids.kindOf(hole.name);
    const name = creates.has(hole.pointer) ? undefined : hole.name;
    return kind ? [{ pointer: hole.pointer, kind, name, isMemberName: hole.isMemberName === true }] : [];
  });
  const [named] = [...asked.placeholders].flatMap((name) => {
    const kind = ids.kindOf(name);
    return kind ? [{ kind, name }] : [];
  });
  const besideIn = (holder: string, listed: boolean): Beside | undefined => {
    const there = idHoles.filter(
      ({ pointer, isMemberName }) => !isMemberName && pointer.slice(0, pointer.lastIndexOf("/")) === holder,
    );
    return (
      there.find(({ name }) => name === undefined) ??
      there.find(({ name }) => asked.placeholders.has(name as string) !== listed) ??
      there[0] ??
      idHoles.find(({ pointer, isMemberName }) => isMemberName && pointer === holder) ??
      // A response without an id is about the one that was asked for.
      (idHoles.length === 0 && holder === "/result" ? named : undefined)
    );
  };
  const echoes: EchoHole[] = [];
  const visit = (start: number, pointer: string, listed: boolean): void => {
    const kind = kindAt(text, start);
    const beside = kind === "object" ? besideIn(pointer, listed) : undefined;
    for (const child of childrenAt(text, start)) {
      const at = pointer + pointerSegment(child.key);
      const inside = holes.filter((hole) => hole.start >= child.start && hole.end <= child.end);
      const own = inside.find((hole) => hole.start === child.start);
      const back = asked.back.has(at);
      const plain = inside.length === 0 && (back || beside);
      if (plain || (own && back && !idHoles.some((id) => !id.isMemberName && id.pointer === at))) {
        const literal = own ? undefined : text.slice(child.start, child.end);
        const effect =
          beside !== undefined &&
          literal !== undefined &&
          asked.method !== undefined &&
          ids.changes(beside.kind, asked.method) &&
          !asked.isUsual(beside.kind, child.key, literal);
        const { start: from, end } = child;
        const name = own?.name ?? "";
        echoes.push({
          start: from,
          end,
          pointer: at,
          name,
          param: back ? child.key : undefined,
          literal,
          beside,
          effect,
        });
      } else visit(child.start, at, listed || kind === "array");
    }
  };
  for (const part of childrenAt(text, rootSpan(text).start))
    if (part.key === "result" || part.key === "error" || part.key === "params")
      visit(part.start, `/${part.key}`, false);
  const taken = new Set(echoes.map(({ start }) => start));
  return [...holes.filter(({ start }) => !taken.has(start)), ...echoes].sort((a, b) => a.start - b.start);
}

/** The member whose name is a hole for an id that the request does not name. */
function liveMember(template: Template, hole: Hole, ids: LiveIds, given: ReadonlySet<string>): LiveList | undefined {
  const kind = ids.kindOf(hole.name);
  if (!hole.isMemberName || !kind || given.has(hole.name)) return undefined;
  const { text } = template;
  const segments = parsePointer(hole.pointer);
  const [value] = spansOf(text, segments);
  const holder = formatPointer(segments.slice(0, -1));
  const others = template.holes.filter(
    ({ isMemberName, name, pointer }) =>
      isMemberName && ids.kindOf(name) && pointer.slice(0, pointer.lastIndexOf("/")) === holder,
  );
  if (!value || others.length > 1) return undefined;
  const member = { start: hole.start, end: value.end, key: segments.at(-1) as string };
  const element = part(template, member, holder);
  // A comma goes with the member, or none living would leave one behind.
  const first = text[member.start - 1] === "{";
  const start = first ? member.start : member.start - 1;
  const end = first && text[member.end] === "," ? member.end + 1 : member.end;
  const around = [text.slice(start, member.start), text.slice(member.end, end), ""] as const;
  return { start, end, pointer: hole.pointer, name: "", kind, elements: [element], around };
}

/** The innermost array around a hole for an id that the request does not name. */
function listAround(template: Template, hole: Hole, ids: LiveIds, given: ReadonlySet<string>): LiveList | undefined {
  const segments = parsePointer(hole.pointer);
  // The first hole of an element need not be the id's.
  for (let depth = segments.length - 1; depth >= 0; depth--) {
    const pointer = formatPointer(segments.slice(0, depth));
    const [span] = spansOf(template.text, segments.slice(0, depth));
    if (!span || kindAt(template.text, span.start) !== "array") continue;
    const inside = template.holes.filter(({ start }) => start >= span.start && start < span.end);
    const named = inside.find(({ name }) => placeholderIn(name) && ids.kindOf(name) && !given.has(name));
    if (!named) return undefined;
    const elements = childrenAt(template.text, span.start).map((child) => part(template, child, pointer));
    const around = ["[", "]", "[]"] as const;
    return { ...span, pointer, name: "", kind: ids.kindOf(named.name) as IdKind, elements, around };
  }
  return undefined;
}

/** A value of the template as a template of its own. */
function part(template: Template, { start, end, key }: Child, pointer: string): Template {
  const prefix = pointer + pointerSegment(key);
  const holes = template.holes
    .filter((hole) => hole.start >= start && hole.end <= end)
    .map((hole) => ({
      ...hole,
      start: hole.start - start,
      end: hole.end - start,
      pointer: hole.pointer.slice(prefix.length),
    }));
  return { text: template.text.slice(start, end), value: valueAt(template.value, prefix), holes };
}

/** The message as text. */
export function fillMessage(plan: MessagePlan, ids: LiveIds, fill: Fill): string {
  return render(plan.template, (hole) => {
    const list = plan.lists.get(hole);
    if (!list) return fill.value(hole, undefined);
    const [before, after, without] = list.around;
    const living = ids.all(list.kind);
    if (living.length === 0) return without;
    const elements = living.map((id, index) => {
      const element = list.elements[index % list.elements.length] as Template;
      return render(element, (inner) => fill.value(inner, { kind: list.kind, id }));
    });
    return before + elements.join(",") + after;
  });
}
