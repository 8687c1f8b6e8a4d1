import { base64Texts } from "./base64-text.ts";
import { applyEdits, type Edit } from "./edits.ts";

/** What an event says, and how edits of that become edits of its payload. */
export interface EventText {
  text: string;
  toPayload(edits: Edit[]): Edit[];
}

const WRAPPED = /^(\s*\{\s*"bytes"\s*:\s*")([A-Za-z0-9+/=]+)"/;

/** Bedrock's invoke streams wrap each event of the model in base64. */
export function unwrapped(payload: string): EventText {
  const match = WRAPPED.exec(payload);
  const inner = match === null ? undefined : base64Texts(match[2]!)[0];
  if (match === null || inner === undefined) return { text: payload, toPayload: (edits) => edits };
  const start = match[1]!.length;
  const end = start + match[2]!.length;
  return {
    text: inner.text,
    toPayload: (edits) =>
      edits.length === 0 ? edits : [{ start, end, text: inner.encode(applyEdits(inner.text, edits)) }],
  };
}
