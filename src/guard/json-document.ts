import { type DecodedView, decodeEscapes, toSource } from "./decoded-view.ts";
import type { Edit } from "./edits.ts";
import { bareLeaf, channelOf, type Leaf, leavesOf } from "./json-leaves.ts";

/** A string (or key, or number) of a JSON text, decoded, and the text that it is in. */
export interface JsonString {
  /** Number of the document in its list. */
  document: number;
  leaf: Leaf;
  value: string;
  /** From places of the value to those of the document. */
  toDocument(edit: Edit): Edit;
}

/**
 * The strings of JSON texts, in order; those that are pieces of one growing text together, where it begins. A text that
 * is no JSON is a string itself, and a piece of what others like it say.
 * @param inPieces whether there may be pieces of texts
 */
export function stringsOf(texts: readonly string[], inPieces: boolean): JsonString[][] {
  const groups: JsonString[][] = [];
  /** By their channels without and with numbers. */
  const channels = new Map<string, Map<string, JsonString[]>>();
  texts.forEach((text, document) => {
    for (const string of jsonStrings(text, document)) {
      const channel = inPieces ? channelOf(string.leaf) : undefined;
      if (channel === undefined) {
        groups.push([string]);
        continue;
      }
      const numbered = channels.get(channel.unnumbered) ?? new Map<string, JsonString[]>();
      channels.set(channel.unnumbered, numbered);
      const pieces = numbered.get(channel.exact);
      if (pieces === undefined) numbered.set(channel.exact, [string]);
      else pieces.push(string);
    }
  });
  for (const numbered of channels.values()) groups.push(...textsOf([...numbered.values()]));
  // In the order of the documents, so that replacements are numbered as a reader meets them.
  return groups.sort(([a], [b]) => a!.document - b!.document || a!.leaf.start - b!.leaf.start);
}

/** The strings of one JSON text, in order. A text that is no JSON is a string itself. */
export function jsonStrings(text: string, document: number): JsonString[] {
  return isJson(text)
    ? leavesOf(text).map((leaf) => jsonString(text, document, leaf))
    : [{ document, leaf: bareLeaf(text), value: text, toDocument: (edit) => edit }];
}

/** @param channels that agree in all but numbers */
function textsOf(channels: JsonString[][]): JsonString[][] {
  // Numbers of which each is met once, each in an event of its own, count the events.
  const counts = channels.length > 1 && channels.every((strings) => strings.length === 1);
  const documents = new Set(channels.map(([string]) => string!.document));
  const texts = counts && documents.size === channels.length ? [channels.flat()] : channels;
  // What every event repeats is no growing text: joined, it would look like one word.
  return texts.flatMap((strings) =>
    strings.every(({ value }) => value === strings[0]!.value) ? strings.map((string) => [string]) : [strings],
  );
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function jsonString(text: string, document: number, leaf: Leaf): JsonString {
  const { start, end } = leaf;
  const source = text.slice(start, end);
  const view: DecodedView | undefined = leaf.kind === "number" ? undefined : decodeEscapes(source, "json");
  return {
    document,
    leaf,
    value: view?.text ?? source,
    toDocument: (edit) => {
      const inSource = view ? toSource(view, edit) : edit;
      return { ...inSource, start: inSource.start + start, end: inSource.end + start };
    },
  };
}
