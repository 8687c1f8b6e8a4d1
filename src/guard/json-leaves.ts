import type { Place } from "./detector.ts";

/** An object or array of a JSON text, and what it says about the strings in it. */
export interface Holder {
  parent: Holder | undefined;
  /** Its key or number in the parent. */
  step: string | number;
  isArray: boolean;
  /** Where it begins in the text. */
  start: number;
  /** Members that are strings (decoded up to 100 characters), numbers or booleans, by name. */
  scalars: Record<string, string | number | boolean>;
}

/** A key, string or number of a JSON text. */
export interface Leaf extends Place {
  kind: "key" | "string" | "number";
  holder: Holder;
  step: string | number;
}

const BACKSLASH = 92;
const SCALAR = /[^\s,\]}]+/y;

/**
 * Every key, string and number of a JSON text in order; strings without their quotes, undecoded. Reads the text itself:
 * there are thousands of tokens in a long conversation, and a pattern makes an object of each.
 * @param text what `JSON.parse` accepts
 */
export function leavesOf(text: string): Leaf[] {
  const leaves: Leaf[] = [];
  const root: Holder = { parent: undefined, step: "", isArray: true, start: 0, scalars: {} };
  let holder = root;
  let step: string | number = 0;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    switch (character) {
      case "{":
      case "[":
        holder = { parent: holder, step, isArray: character === "[", start: at, scalars: Object.create(null) };
        step = 0;
        isKey = character === "{";
        break;
      case "}":
      case "]":
        step = holder.step;
        holder = holder.parent!;
        isKey = false;
        break;
      case ",":
        if (holder.isArray) step = (step as number) + 1;
        isKey = !holder.isArray;
        break;
      case ":":
        isKey = false;
        break;
      case '"': {
        const start = at + 1;
        const end = endOfString(text, start);
        const decoded = isKey || end - start < 98 ? decodedString(text, start, end) : undefined;
        if (isKey) step = decoded!;
        else if (!holder.isArray && decoded !== undefined) holder.scalars[step] = decoded;
        leaves.push({ start, end, kind: isKey ? "key" : "string", holder, step });
        at = end;
        break;
      }
      case " ":
      case "\n":
      case "\r":
      case "\t":
        break;
      default: {
        SCALAR.lastIndex = at;
        const token = SCALAR.exec(text)![0];
        const value = JSON.parse(token) as number | boolean | null;
        if (!holder.isArray && value !== null) holder.scalars[step] = value;
        if (typeof value === "number") leaves.push({ start: at, end: at + token.length, kind: "number", holder, step });
        at += token.length - 1;
      }
    }
  }
  return leaves;
}

/** Where the quote is that ends a string; the text's end where there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end - 1;
    while (escapes >= start && text.charCodeAt(escapes) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 1) return end;
  }
  return text.length;
}

function decodedString(text: string, start: number, end: number): string {
  const source = text.slice(start, end);
  return source.includes("\\") ? (JSON.parse(`"${source}"`) as string) : source;
}

/** A text that is no JSON, as if it were a document's string. */
export function bareLeaf(text: string): Leaf {
  const holder: Holder = { parent: undefined, step: "", isArray: true, start: 0, scalars: {} };
  return { start: 0, end: text.length, kind: "string", holder, step: "" };
}

/** The steps from the document's root to a leaf; for a key, those to its value. */
export function stepsTo(leaf: Leaf): (string | number)[] {
  return holdersOf(leaf)
    .slice(1)
    .map((holder) => holder.step)
    .concat(leaf.holder.parent === undefined ? [] : [leaf.step]);
}

/** From the document's root value to what holds the leaf. */
export function holdersOf(leaf: Leaf): Holder[] {
  const holders: Holder[] = [];
  for (let holder: Holder | undefined = leaf.holder; holder?.parent; holder = holder.parent) holders.unshift(holder);
  return holders;
}

const WHOLE_MEMBERS: ReadonlySet<string> = new Set([
  "signature",
  "reasoningSignature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
  "encryptedContent",
  "encrypted_index",
  "encrypted_stdout",
  "redactedContent",
  "redactedThinking",
]);
const WHOLE_DATA: ReadonlySet<unknown> = new Set(["redacted_thinking", "reasoning.encrypted"]);

/**
 * Whether providers check that the value comes back as they made it: signatures of reasoning, encrypted reasoning and
 * search results.
 */
export function isWhole({ kind, holder, step }: Leaf): boolean {
  if (kind !== "string") return false;
  const name = holder.isArray ? holder.step : step;
  return WHOLE_MEMBERS.has(String(name)) || (step === "data" && WHOLE_DATA.has(holder.scalars["type"]));
}

/** Whether it is a token with its probability: a list of them spells a text. */
export function isToken({ scalars }: Holder): boolean {
  return "logprob" in scalars || "logProbability" in scalars;
}

/** Members that tell one growing text of a stream from another: of an event, and of whatever is in it. */
const EVENT_MEMBERS = ["type", "item_id", "itemId", "messageId", "message_id", "toolCallId", "tool_call_id"];
const NUMBERS = ["index", "output_index", "content_index", "summary_index", "contentBlockIndex"];
/** Members that hold no piece of a text; joined with their like in other events they would only look like one. */
const NO_PIECES: ReadonlySet<unknown> = new Set([
  ...["id", "item_id", "object", "type", "role", "model", "obfuscation", "status", "event_id", "response_id"],
  ...["modelVersion", "responseId", "system_fingerprint", "finish_reason", "created_at", "call_id"],
]);

/** Names of the growing text that a string of an event is a piece of. */
export interface Channel {
  /** The same place in events that agree in what tells texts apart. */
  exact: string;
  /** The same place, whatever the numbers say: some providers number each event. */
  unnumbered: string;
}

/** Members whose strings grow from event to event; of others, what every event repeats is no growing text. */
const GROWING: ReadonlySet<string | number> = new Set([
  // What is no JSON.
  "",
  ...["content", "text", "delta", "arguments", "partial_json", "thinking", "reasoning", "reasoning_content", "refusal"],
  ...["transcript", "response", "input", "output", "plan", "tool_plan", "completion", "generation", "outputText"],
  ...["data", "bytes", "value", "summary", "token", "thought", "arguments_delta", "input_json", "inputTextDelta"],
]);

export function mayGrow({ step }: Leaf): boolean {
  return typeof step === "number" || GROWING.has(step);
}

const ENDED = /(?:^|[-_.])(?:stop|done|end|ended|complete|completed)$/;

/**
 * The numbers of what an event ends (`content_block_stop` with its `index`), by their members; undefined for an event
 * that ends nothing.
 */
export function endedBy(leaves: readonly Leaf[]): Readonly<Record<string, unknown>> | undefined {
  let ends = false;
  const numbers: Record<string, unknown> = {};
  for (const leaf of leaves) {
    if (leaf.kind === "key") {
      if (leaf.holder.parent?.parent === undefined && /Stop$/.test(String(leaf.step))) ends = true;
      continue;
    }
    const { type, event_type: eventType, done } = leaf.holder.scalars;
    if (leaf.holder.parent?.parent === undefined) ends ||= done === true || ENDED.test(String(type ?? eventType ?? ""));
    Object.assign(numbers, numbersOf(leaf));
  }
  return ends ? numbers : undefined;
}

/** The numbers that tell texts apart, of all that is around a leaf. */
export function numbersOf(leaf: Leaf): Record<string, unknown> {
  const numbers: Record<string, unknown> = {};
  for (const { scalars } of holdersOf(leaf)) {
    for (const member of NUMBERS) if (scalars[member] !== undefined) numbers[member] = scalars[member];
  }
  return numbers;
}

/** Undefined where a string stands for itself. */
export function channelOf(leaf: Leaf): Channel | undefined {
  const { kind, step, holder } = leaf;
  if (kind !== "string" || NO_PIECES.has(step)) return undefined;
  const path: unknown[] = [];
  const numbers: unknown[] = [];
  for (const around of holdersOf(leaf)) {
    const parent = around.parent!;
    // The root is the only value of its document, or one event of a stream that is written as an array.
    const isEvent = parent.parent === undefined || (parent.isArray && parent.parent.parent === undefined);
    // Gemini's parts are numbered anew in each event, and tokens are the pieces of their list.
    const isPiece = parent.isArray && (parent.step === "parts" || isToken(around));
    path.push(isEvent || isPiece ? "*" : parent.isArray ? (around.scalars["index"] ?? around.step) : around.step);
    path.push(around.scalars["thought"]);
    if (around.isArray) continue;
    for (const member of NUMBERS) numbers.push(around.scalars[member]);
    if (!isEvent) continue;
    for (const member of EVENT_MEMBERS) path.push(around.scalars[member]);
    // AI SDK's events call a text's id `id`; in other APIs it is the response's, and may differ from event to event.
    if (/-(?:start|delta|end)$/.test(String(around.scalars["type"]))) path.push(around.scalars["id"]);
  }
  path.push(holder.isArray && holder.parent?.parent === undefined ? "*" : step);
  return { exact: JSON.stringify([path, numbers]), unnumbered: JSON.stringify(path) };
}
