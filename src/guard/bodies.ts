import { isUtf8 } from "node:buffer";
import { type AwsFrame, awsFrames, withPayload } from "./aws-frames.ts";
import { applyEdits, type Edit, toByteEdits } from "./edits.ts";
import { isJson } from "./json-document.ts";

/** What there is to look at in the bytes of a body, and the way back. */
export interface FramedTexts {
  /** Payloads of a stream's events in order, or the one JSON document. */
  events: readonly string[];
  /** Texts beside them that are no JSON. */
  texts: readonly string[];
  /** Whether the texts are percent-encoded fields of a form. */
  isForm: boolean;
  /** Edits of all these as edits of the bytes, in which a text's characters stand for bytes (`latin1`). */
  toByteEdits(edits: { events: Edit[][]; texts: Edit[][] }): Edit[];
}

/** @param bytes the whole body, decompressed */
export function framedTexts(bytes: Buffer, contentType: string | undefined): FramedTexts {
  const type = (contentType ?? "").toLowerCase();
  if (type.includes("vnd.amazon.eventstream")) return framedAws(awsFrames(bytes));
  if (type.includes("multipart/")) return framedParts(bytes, type, contentType!);
  // Bytes that are no text are an image, a sound, an archive: nothing in them can be replaced without breaking them.
  if (!isUtf8(bytes)) return inParts("", [], [], false);
  const text = bytes.toString("utf8");
  if (type.includes("text/event-stream")) return framedLines(text, sseLine);
  if (/ndjson|jsonl|json-lines|jsonlines|json-seq/.test(type)) return framedLines(text, ndjsonLine);
  const whole = { start: 0, end: text.length };
  if (type.includes("x-www-form-urlencoded")) return inParts(text, [], [whole], true);
  if (/^[\s\u001e\ufeff]*[[{"]/.test(text)) {
    // Ollama and others send lines of JSON without saying so.
    return !isJson(text) && text.includes("\n") ? framedLines(text, ndjsonLine) : inParts(text, [whole], [], false);
  }
  // Nor do some servers say that they stream events.
  return /^(?:event|data|id|retry)?:/m.test(text.slice(0, 100))
    ? framedLines(text, sseLine)
    : inParts(text, [], [whole], false);
}

/** A text of which one part is an event. */
export function framedPart(text: string, start: number, end: number): FramedTexts {
  return inParts(text, [{ start, end }], [], false);
}

interface Place {
  start: number;
  end: number;
}

function inParts(text: string, events: readonly Place[], texts: readonly Place[], isForm: boolean): FramedTexts {
  const shifted = (places: readonly Place[], edits: Edit[][]) =>
    places.flatMap(({ start }, at) =>
      edits[at]!.map((edit) => ({ ...edit, start: edit.start + start, end: edit.end + start })),
    );
  return {
    events: events.map(({ start, end }) => text.slice(start, end)),
    texts: texts.map(({ start, end }) => text.slice(start, end)),
    isForm,
    toByteEdits: (edits) => {
      const all = [...shifted(events, edits.events), ...shifted(texts, edits.texts)];
      return toByteEdits(
        text,
        all.sort((a, b) => a.start - b.start),
      );
    },
  };
}

/** Where a line's payload begins; undefined for a line that holds none. */
type LineReader = (line: string) => number | undefined;

const sseLine: LineReader = (line) => /^data: ?/.exec(line)?.[0].length;
const ndjsonLine: LineReader = (line) => /^[\s\u001e\ufeff]*/.exec(line)![0].length;

function framedLines(text: string, payloadOf: LineReader): FramedTexts {
  const events: Place[] = [];
  const texts: Place[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    const from = payloadOf(line);
    const place = { start: index + (from ?? 0), end: index + line.length };
    if (place.end > place.start) (from === undefined ? texts : events).push(place);
  }
  return inParts(text, events, texts, false);
}

/** A message is written anew with its checksums, into the chunk in which it began. */
function framedAws(frames: readonly AwsFrame[]): FramedTexts {
  const isText = frames.map(({ payload }) => isUtf8(payload));
  const texts = frames.map(({ payload }, at) => (isText[at] ? payload.toString("utf8") : ""));
  return {
    events: texts,
    texts: [],
    isForm: false,
    toByteEdits: ({ events }) =>
      frames.flatMap((frame, at) => {
        if (events[at]!.length === 0) return [];
        const payload = Buffer.from(applyEdits(texts[at]!, events[at]!), "utf8");
        return [{ start: frame.start, end: frame.end, text: withPayload(frame, payload).toString("latin1") }];
      }),
  };
}

/** Each part of a form that is text; files that are none stay. */
function framedParts(bytes: Buffer, type: string, contentType: string): FramedTexts {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1]?.trim();
  const latin1 = bytes.toString("latin1");
  if (boundary === undefined || type.includes("\0")) return inParts("", [], [], false);
  const parts: { start: number; text: string }[] = [];
  const mark = `--${boundary}`;
  for (let start = latin1.indexOf(mark); start >= 0; ) {
    const next = latin1.indexOf(mark, start + mark.length);
    const from = start + mark.length;
    const head = latin1.indexOf("\r\n\r\n", from);
    const end = next < 0 ? latin1.length : next;
    // Headers apart from the content: a file's name may be a secret although the file is no text.
    const places =
      head >= 0 && head < end
        ? [
            [from, head + 4],
            [head + 4, end],
          ]
        : [[from, end]];
    for (const [first, last] of places) {
      const part = bytes.subarray(first, last);
      if (isUtf8(part)) parts.push({ start: first!, text: part.toString("utf8") });
    }
    start = next;
  }
  return {
    events: [],
    texts: parts.map(({ text }) => text),
    isForm: false,
    toByteEdits: ({ texts }) =>
      parts.flatMap(({ start, text }, at) =>
        toByteEdits(text, texts[at]!).map((edit) => ({ ...edit, start: edit.start + start, end: edit.end + start })),
      ),
  };
}
