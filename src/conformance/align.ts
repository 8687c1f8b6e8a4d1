import { isMessage, type NoMessage, type RpcMessage } from "../wire/json-rpc.ts";

export type Order = "recorded" | "any";

/** Places of two frames that belong together, from 0; undefined on the side where there is none. */
export type Pair = [want: number | undefined, got: number | undefined];

// A table of so many cells takes a moment; where there are more frames they are paired by position.
const MAX_TABLE = 4_000_000;

/** A frame that was read, which may have turned out to be no message. */
export type ReadFrame = RpcMessage | NoMessage;

/** Whether a text can be a frame at all: a JSON object or array. */
export function isFrame(read: ReadFrame): boolean {
  return isMessage(read) || (read.json && /^\s*[[{]/.test(read.text));
}

/**
 * Says which frame is to be compared with which. As recorded, that is by position; where the numbers differ, the
 * frames' ids and methods tell which is missing or too many, or one lost frame would make all that follow look wrong.
 * In any order an answer goes with the recorded answer to the same id, and a method's nth notification with its nth.
 */
export function alignFrames(want: readonly ReadFrame[], got: readonly ReadFrame[], order: Order): Pair[] {
  if (order === "any") return alignByKey(want.map(frameKey), got.map(frameKey));
  if (want.length === got.length || want.length * got.length > MAX_TABLE)
    return alignByPosition(want.length, got.length);
  return alignBySequence(want.map(frameKey), got.map(frameKey));
}

function frameKey(read: ReadFrame): string {
  if (!isMessage(read)) return "other";
  return read.members
    .map((member) => (member.kind === "response" ? `answer ${member.idKey}` : `${member.kind} ${member.method}`))
    .join("\n");
}

function alignByPosition(want: number, got: number): Pair[] {
  return Array.from({ length: Math.max(want, got) }, (_, at) => [
    at < want ? at : undefined,
    at < got ? at : undefined,
  ]);
}

function alignByKey(want: readonly string[], got: readonly string[]): Pair[] {
  const waiting = new Map<string, number[]>();
  for (const [at, key] of got.entries()) waiting.set(key, [...(waiting.get(key) ?? []), at]);
  const pairs: Pair[] = want.map((key, at) => [at, waiting.get(key)?.shift()]);
  const left = [...waiting.values()].flat().sort((a, b) => a - b);
  return [...pairs, ...left.map((at): Pair => [undefined, at])];
}

/** The longest common subsequence of keys; what is outside of it is missing or too many. */
function alignBySequence(want: readonly string[], got: readonly string[]): Pair[] {
  const width = got.length + 1;
  const longest = new Uint32Array((want.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] as number;
  for (let row = want.length - 1; row >= 0; row--) {
    for (let column = got.length - 1; column >= 0; column--) {
      longest[row * width + column] =
        want[row] === got[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: Pair[] = [];
  let row = 0;
  let column = 0;
  while (row < want.length || column < got.length) {
    if (row < want.length && column < got.length && want[row] === got[column]) pairs.push([row++, column++]);
    else if (column >= got.length || (row < want.length && at(row + 1, column) >= at(row, column + 1)))
      pairs.push([row++, undefined]);
    else pairs.push([undefined, column++]);
  }
  return pairs;
}
