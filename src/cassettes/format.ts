import { isDeepStrictEqual } from "node:util";
import { isObject } from "../dialects/raw-request.ts";
import { childrenAt, memberAt, rootSpan } from "../wire/json-text.ts";
import { type Cassette, MOST_TAKES, type Trace } from "./types.ts";

/** What this product writes; readers of other versions may ask for it. */
export const FORMAT_VERSION = 1;

/** The seed's order; members that it does not know follow in theirs. */
const ORDER = ["scenario", "latest_trace_id", "history_keys", "traces", "stuntdouble"];

/** A cassette as it was read, with the text that it is to go back to. */
export interface CassetteText {
  text: string;
  cassette: Cassette;
}

/**
 * The text of a cassette: two spaces, the seed's order of members.
 * @param before what it was read from. Takes and members that have not changed keep their text byte for byte, so that
 * a review shows what was recorded and nothing else, and no number is respelled.
 */
export function formatCassette(cassette: Cassette, before?: CassetteText): string {
  if (before === undefined) return `${JSON.stringify(ordered(cassette), null, 2)}\n`;
  if (isDeepStrictEqual(before.cassette, cassette)) return before.text;
  const { text } = before;
  const root = rootSpan(text).start;
  const kept = (name: string, value: unknown): string => {
    const child = memberAt(text, root, name);
    const old = (before.cassette as unknown as Record<string, unknown>)[name];
    return child !== undefined && isDeepStrictEqual(old, value)
      ? text.slice(child.start, child.end)
      : indented(value, 1);
  };
  const members = Object.entries(ordered(cassette)).map(([name, value]) => {
    const written = name === "traces" ? tracesText(cassette.traces, before, root) : kept(name, value);
    return `  ${JSON.stringify(name)}: ${written}`;
  });
  return `{\n${members.join(",\n")}\n}${/\n$/.test(text) ? "\n" : ""}`;
}

function tracesText(traces: Cassette["traces"], { text, cassette }: CassetteText, root: number): string {
  const child = memberAt(text, root, "traces");
  const spans = new Map(
    child === undefined
      ? []
      : childrenAt(text, child.start).map(({ key, start, end }) => [key, text.slice(start, end)]),
  );
  const members = Object.entries(traces).map(([id, trace]) => {
    const old = spans.get(id);
    const same = old !== undefined && isDeepStrictEqual(cassette.traces[id], trace);
    return `    ${JSON.stringify(id)}: ${same ? old : indented(trace, 2)}`;
  });
  return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n  }`;
}

function indented(value: unknown, levels: number): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${"  ".repeat(levels)}`);
}

/** A file keeps its own order where it was written by somebody else, but for what is new. */
function ordered(cassette: Cassette): Record<string, unknown> {
  const members: Record<string, unknown> = { ...cassette };
  const known = ORDER.filter((name) => members[name] !== undefined);
  const names = Object.keys(members);
  const isInOrder = isDeepStrictEqual(
    names.filter((name) => ORDER.includes(name)),
    known,
  );
  const order = isInOrder ? names : [...known, ...names.filter((name) => !ORDER.includes(name))];
  return Object.fromEntries(order.map((name) => [name, members[name]]));
}

/**
 * The cassette with one take more, which becomes the one that is replayed. A take with the same id is replaced; beyond
 * five, the oldest one leaves.
 */
export function withTake(cassette: Cassette, trace: Trace): Cassette {
  const id = trace.trace_id;
  const history = [...cassette.history_keys.filter((key) => key !== id), id].slice(-MOST_TAKES);
  const traces = { ...cassette.traces };
  // A take that is recorded anew stands at the end, as in the history.
  delete traces[id];
  traces[id] = trace;
  for (const key of Object.keys(traces)) if (!history.includes(key)) delete traces[key];
  return { ...cassette, latest_trace_id: id, history_keys: history, traces };
}

/** Bytes of the largest file that is read. A recording beyond it is a mistake, and reading it would stop the server. */
export const LARGEST_CASSETTE_BYTES = 100 * 1024 * 1024;

/** A file that is no cassette, or a damaged one. */
export class CassetteError extends Error {
  override readonly name = "CassetteError";
}

/** Whether something looks like a cassette at all, so that it can be told from other tapes. */
export function looksLikeCassette(value: unknown): boolean {
  return isObject(value) && "traces" in value && ("latest_trace_id" in value || "history_keys" in value);
}
