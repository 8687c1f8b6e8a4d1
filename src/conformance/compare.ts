import { cut, cutAroundDifference, type Difference } from "../report/difference.ts";
import { pointerSegment } from "../wire/json-pointer.ts";
import { readMessage } from "../wire/json-rpc.ts";
import { type Child, childrenAt, decodeString, kindAt, numberKey, rootSpan, type Span } from "../wire/json-text.ts";
import { alignFrames, isFrame, type Order, type ReadFrame } from "./align.ts";
import { redact, redactJson } from "./redact.ts";

/** Below this depth values are compared as text: nobody reads a pointer of a thousand segments. */
const MAX_DEPTH = 500;

const NO_FRAME = "this was written where only frames may be, and is no JSON-RPC frame";

/**
 * Every place where the frames that came depart from the recorded ones. What is declared volatile is masked on both
 * sides rather than left out, so that it may change but not be absent.
 *
 * @param name the case, for the differences.
 * @param volatile JSON Pointers from a frame's root, `*` matching every element and member.
 */
export function compare(
  name: string,
  want: readonly string[],
  got: readonly string[],
  volatile: readonly string[],
  order: Order = "recorded",
): Difference[] {
  return compareRead(
    name,
    want.map(readMessage),
    (at) => redact(want[at] as string, volatile),
    got.map(readMessage),
    volatile,
    order,
  );
}

/**
 * `compare` for who has read the frames already, and keeps the masked recording: each case is masked once, however
 * often it is replayed.
 */
export function compareRead(
  name: string,
  want: readonly ReadFrame[],
  maskedWant: (at: number) => string,
  got: readonly ReadFrame[],
  volatile: readonly string[],
  order: Order,
): Difference[] {
  const differences: Difference[] = [];
  const report = (response: number, pointer: string, detail: string, wanted = "", gotten = "") =>
    void differences.push({ case: name, response, pointer, want: wanted, got: gotten, detail });

  const frames: ReadFrame[] = [];
  for (const read of got) {
    if (isFrame(read)) frames.push(read);
    else report(frames.length + 1, "", NO_FRAME, "", cut(JSON.stringify(read.text)));
  }
  if (frames.length !== want.length) {
    report(0, "", `the recording has ${countOf(want.length)}, the adapter wrote ${frames.length}`);
  }
  for (const [wanted, gotten] of alignFrames(want, frames, order)) {
    const wantText = wanted === undefined ? undefined : (want[wanted] as ReadFrame).text;
    const gotText = gotten === undefined ? undefined : (frames[gotten] as ReadFrame).text;
    if (wantText === gotText) continue;
    if (gotText === undefined) report((wanted as number) + 1, "", "this frame never came", cut(wantText as string));
    else if (wanted === undefined)
      report((gotten as number) + 1, "", "this frame is not in the recording", "", cut(gotText));
    else
      compareTexts(maskedWant(wanted), redactJson(gotText, volatile), (pointer, detail, a, b) =>
        report(wanted + 1, pointer, detail, a, b),
      );
  }
  return differences;
}

type Report = (pointer: string, detail: string, want: string, got: string) => void;

/** Compares two JSON texts as values: the order of members, white space and the spelling of numbers and strings are free. */
export function compareTexts(want: string, got: string, report: Report): void {
  if (want === got) return;
  compareValues({ text: want, ...rootSpan(want) }, { text: got, ...rootSpan(got) }, "", 0, report);
}

interface Value extends Span {
  text: string;
}

function compareValues(want: Value, got: Value, pointer: string, depth: number, report: Report): void {
  const wantText = want.text.slice(want.start, want.end);
  const gotText = got.text.slice(got.start, got.end);
  if (wantText === gotText) return;
  const kind = kindAt(want.text, want.start);
  const sameKind = kind === kindAt(got.text, got.start);
  if (sameKind && (kind === "object" || kind === "array") && depth < MAX_DEPTH) {
    const part = kind === "object" ? "member" : "element";
    const gotten = lastByKey(childrenAt(got.text, got.start));
    const wanted = lastByKey(childrenAt(want.text, want.start));
    for (const [key, child] of wanted) {
      const other = gotten.get(key);
      const at = pointer + pointerSegment(key);
      if (other) compareValues({ text: want.text, ...child }, { text: got.text, ...other }, at, depth + 1, report);
      else report(at, `this ${part} is missing`, cut(want.text.slice(child.start, child.end)), "");
    }
    for (const [key, child] of gotten) {
      if (!wanted.has(key))
        report(
          pointer + pointerSegment(key),
          `this ${part} is unexpected`,
          "",
          cut(got.text.slice(child.start, child.end)),
        );
    }
    return;
  }
  if (sameKind && kind === "string" && decodeString(wantText) === decodeString(gotText)) return;
  if (sameKind && kind === "number" && numberKey(wantText) === numberKey(gotText)) return;
  report(pointer, "", ...cutAroundDifference(wantText, gotText));
}

// Of repeated members the last counts, as every common parser has it.
function lastByKey(children: readonly Child[]): Map<string, Child> {
  return new Map(children.map((child) => [child.key, child]));
}

function countOf(frames: number): string {
  return frames === 1 ? "1 frame" : `${frames} frames`;
}
