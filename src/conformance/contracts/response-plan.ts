import { formatPointer, parsePointer, pointerSegment, spansOf } from "../../wire/json-pointer.ts";
import { type Child, childrenAt, kindAt } from "../../wire/json-text.ts";
import type { IdKind, LiveIds } from "./live-ids.ts";
import { type Hole, placeholderIn, render, type Template, valueAt, withHoles } from "./template.ts";

/** An array whose elements are things with ids: a mock answers one for each that lives. */
interface LiveList extends Hole {
  kind: IdKind;
  elements: readonly Template[];
}

/** A golden message, ready to be filled. */
export interface MessagePlan {
  template: Template;
  /** By pointer the ids that are given out here, with what the golden has in their place. */
  creates: ReadonlyMap<string, { kind: IdKind; golden: unknown }>;
  lists: ReadonlyMap<Hole, LiveList>;
}

/** What a hole's value is taken from. */
export interface Fill {
  /** The JSON text for a hole. `element` is the id that the list's element is about. */
  value(hole: Hole, element: { kind: IdKind; id: string } | undefined): string;
}

/**
 * @param method whose response it is; undefined for an event, which gives out nothing
 * @param given placeholders that the request has: they name one thing, and a list of it is as golden
 */
export function planMessage(
  golden: Template,
  ids: LiveIds,
  method: string | undefined,
  given: ReadonlySet<string>,
): MessagePlan {
  const kinds = ids.kinds.filter((kind) => kind.method === method);
  const creates = new Map(
    kinds.flatMap((kind) => {
      const value = valueAt(golden.value, kind.pointer);
      return value === undefined ? [] : [[kind.pointer, { kind, golden: value }] as const];
    }),
  );
  const own = withHoles(golden, ["/id", ...creates.keys()]);
  const lists = new Map<Hole, LiveList>();
  const holes: Hole[] = [];
  let end = 0;
  for (const hole of own.holes) {
    if (hole.start < end) continue;
    const list = creates.has(hole.pointer) ? undefined : listAround(own, hole, ids, given);
    const taken: Hole = list ?? hole;
    if (list) lists.set(taken, list);
    end = taken.end;
    holes.push(taken);
  }
  return { template: { ...own, holes }, creates, lists };
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
    return { ...span, pointer, name: "", kind: ids.kindOf(named.name) as IdKind, elements };
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
    const elements = ids.all(list.kind).map((id, index) => {
      const element = list.elements[index % list.elements.length] as Template;
      return render(element, (inner) => fill.value(inner, { kind: list.kind, id }));
    });
    return `[${elements.join(",")}]`;
  });
}
