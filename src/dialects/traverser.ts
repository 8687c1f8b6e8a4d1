import { isDeepStrictEqual } from "node:util";
import { Fold } from "../chat/fold.ts";
import type { Frame, FrameEvent } from "../chat/frames.ts";
import type { ChatReply, Envelope, Finish, Native, Part, Usage } from "../chat/reply.ts";
import { assignedJson } from "./partial-args.ts";
import { type Item, read, readFirst } from "./paths.ts";
import { isDeeperThan, MAX_DEPTH } from "./raw-request.ts";
import type { Condition, PartKind, Rule, Rules } from "./rules.ts";
import { type Fields, fieldAfter, type Reading, readFields } from "./take.ts";

export type { Rules } from "./rules.ts";

/** What the rules around a rule have said of the item. */
interface Place {
  choice: number;
  key: string;
}

interface PartState {
  readonly choice: number;
  readonly part: number;
  readonly kind: PartKind;
  readonly keyed: boolean;
  stopped: boolean;
  /** What is used if nothing else comes, and pieces of JSON texts: decided when the part ends. */
  pending: Reading[];
}

interface ChoiceState {
  readonly parts: PartState[];
  readonly keyed: Map<string, PartState>;
  readonly fields: { reason?: string; stopSequence?: string; native?: Native };
  sent?: FrameEvent;
}

/**
 * Reads what a provider sent by rules that are data. Nothing that a message may hold makes it throw: a step that
 * is missing, or whose value has not the field's type, gives nothing.
 */
export class Traverser {
  /** In the order of arrival. They fold to the reply (`chat/fold.ts`). */
  readonly frames: Frame[] = [];
  /** How many messages no rule had anything to take from. */
  unknown = 0;
  readonly #rules: Rules;
  readonly #dialect: string;
  readonly #fold = new Fold();
  readonly #choices = new Map<number, ChoiceState>();
  readonly #usage: { raw?: Native } = {};
  readonly #envelope: Envelope = {};
  #envelopeSent = false;
  #failed = false;
  #atMs = 0;

  /** @param dialect whose the `native` fields and opaque parts are */
  constructor(rules: Rules, dialect: string) {
    this.#rules = rules;
    this.#dialect = dialect;
  }

  /**
   * Reads the next message.
   * @param message an event's JSON value, or a whole unary body
   * @param atMs since the request was sent
   */
  push(message: unknown, atMs: number): void {
    this.#atMs = atMs;
    const item = { value: message, position: 0 };
    if (isDeeperThan(message, MAX_DEPTH) || !this.#all(this.#rules.rules, item, { choice: 0, key: "" })) this.unknown++;
  }

  /** Whether the provider has said why it stopped. A stream that was cut has not. */
  get finished(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ fields }) => fields.reason !== undefined);
  }

  /** Ends what is still open. @returns the whole reply */
  finish(): ChatReply {
    for (const [number, choice] of this.#choices) this.#sendFinish(number, choice);
    this.#sendEnvelope();
    return this.#fold.reply;
  }

  #all(rules: Rule[], item: Item, place: Place): boolean {
    let known = false;
    for (const rule of rules) if (this.#apply(rule, item, place)) known = true;
    return known;
  }

  #apply(rule: Rule, outer: Item, place: Place): boolean {
    let known = false;
    for (const item of itemsOf(rule, outer)) {
      const here = { choice: choiceOf(rule, item) ?? place.choice, key: place.key + keyOf(rule, item) };
      if (rule.as !== undefined && this.#read(rule, item, here)) known = true;
      if (rule.rules !== undefined && this.#all(rule.rules, item, here)) known = true;
      const chosen = rule.oneOf?.find((candidate) => itemsOf(candidate, item).length > 0);
      if (chosen !== undefined && this.#apply(chosen, item, here)) known = true;
    }
    return known;
  }

  /** @returns whether there was anything to read */
  #read(rule: Rule, item: Item, place: Place): boolean {
    const readings = readFields(rule.fields, item);
    if (rule.fields !== undefined && readings.length === 0) return false;
    switch (rule.as) {
      case "finish":
        this.#update(this.#choice(place.choice).fields, readings);
        this.#sendFinish(place.choice, this.#choice(place.choice));
        return true;
      case "choice":
        this.#update(this.#choice(place.choice).fields, readings);
        return true;
      case "usage":
        this.#update(this.#usage, readings);
        this.#sendUsage();
        return true;
      case "envelope":
        this.#update(this.#envelope, readings);
        if (!this.#envelopeSent) this.#sendEnvelope();
        return true;
      case "error":
        this.#sendError(readings);
        return true;
      case "keepalive":
        this.#emit(-1, -1, { type: "keepalive" });
        return true;
      case "stop": {
        const part = this.#choices.get(place.choice)?.keyed.get(place.key);
        if (part !== undefined) this.#stop(part);
        return part !== undefined;
      }
      case "nothing":
      case undefined:
        return true;
      default:
        return this.#readPart(rule, rule.as, readings, place);
    }
  }

  #readPart(rule: Rule, kind: PartKind, readings: Reading[], place: Place): boolean {
    const choice = this.#choices.get(place.choice);
    const keyed = place.key !== "";
    const found = keyed ? choice?.keyed.get(place.key) : choice?.parts.at(-1);
    if (found !== undefined && found.kind === kind && rule.opens !== "always") {
      for (const reading of readings) this.#grow(found, reading);
      return true;
    }
    if (rule.opens === "never" || (keyed && found !== undefined && rule.opens !== "always")) return false;
    // Providers end their streams with empty pieces, which are no parts of their own.
    if (!keyed && rule.opens !== "always" && readings.every(isEmpty)) return true;
    this.#open(kind, readings, place);
    return true;
  }

  #open(kind: PartKind, readings: Reading[], place: Place): void {
    const choice = this.#choice(place.choice);
    const keyed = place.key !== "";
    const state: PartState = {
      choice: place.choice,
      part: choice.parts.length,
      kind,
      keyed,
      stopped: false,
      pending: [],
    };
    const part = emptyPart(kind, this.#dialect);
    const pieces = readings.filter((reading) => isText(part, reading));
    const whole = readings.filter((reading) => !isText(part, reading));
    this.#update(part, whole);
    // A part without a key has ended when another begins; one with a key may still go on.
    const last = choice.parts.at(-1);
    if (last?.keyed === false) this.#stop(last);
    if (keyed) choice.keyed.set(place.key, state);
    choice.parts.push(state);
    this.#emit(state.choice, state.part, { type: "start", part: part as unknown as Part });
    state.pending.push(...whole.filter(isPending));
    for (const reading of pieces) this.#grow(state, reading);
  }

  #grow(state: PartState, reading: Reading): void {
    const { choice, part } = state;
    if (isPending(reading)) {
      state.pending.push(reading);
      state.stopped = false;
      return;
    }
    const fields = this.#fold.part(choice, part) as unknown as Fields;
    if (isText(fields, reading)) {
      for (const value of reading.values) {
        const { field, at } = reading;
        if (value === "") continue;
        this.#emit(choice, part, { type: "delta", field, value: value as string, ...(at !== undefined && { at }) });
      }
      return;
    }
    const value = fieldAfter(fields, reading, this.#dialect);
    if (value === undefined || isDeepStrictEqual(value, fields[reading.field])) return;
    this.#emit(choice, part, { type: "set", field: reading.field, value });
  }

  #stop(state: PartState): void {
    if (state.stopped) return;
    state.stopped = true;
    const { pending } = state;
    state.pending = [];
    for (const reading of [...joinedJson(pending), ...assigned(pending)]) this.#grow(state, reading);
    for (const reading of pending.filter(({ op }) => op === "fallback")) {
      const fields = this.#fold.part(state.choice, state.part) as unknown as Fields;
      if (!fields[reading.field])
        this.#grow(state, { ...reading, op: typeof fields[reading.field] === "string" ? "append" : "replace" });
    }
    this.#emit(state.choice, state.part, { type: "stop" });
  }

  #sendFinish(number: number, choice: ChoiceState): void {
    for (const part of choice.parts) this.#stop(part);
    const { native } = choice.fields;
    const event: FrameEvent = {
      type: "finish",
      finish: this.#finishOf(choice),
      ...(native !== undefined && { native }),
    };
    if (isDeepStrictEqual(event, choice.sent)) return;
    choice.sent = event;
    this.#emit(number, -1, event);
  }

  #finishOf(choice: ChoiceState): Finish {
    const { reason: word, stopSequence } = choice.fields;
    const { finishReasons, toolCallsFinish } = this.#rules;
    if (word === undefined) return { reason: this.#failed ? "error" : "stop" };
    let reason = finishReasons !== undefined && Object.hasOwn(finishReasons, word) ? finishReasons[word]! : word;
    if (toolCallsFinish && reason === "stop" && choice.parts.some(({ kind }) => kind === "toolCall")) {
      reason = "tool_calls";
    }
    const finish: Finish = { reason, native: { dialect: this.#dialect, value: word } };
    if (stopSequence !== undefined) finish.stopSequence = stopSequence;
    return finish;
  }

  #sendUsage(): void {
    const { raw } = this.#usage;
    const usage: Usage = {};
    if (raw !== undefined) usage.raw = raw;
    const item = { value: raw?.value, position: 0 };
    for (const [name, paths] of Object.entries(this.#rules.usage ?? {})) {
      const counts = [paths]
        .flat()
        .map((path) => readFirst(path, item))
        .filter((count) => typeof count === "number");
      if (counts.length > 0) usage[name as Exclude<keyof Usage, "raw">] = counts.reduce((sum, count) => sum + count);
    }
    this.#emit(-1, -1, { type: "usage", usage });
  }

  #sendEnvelope(): void {
    if (Object.keys(this.#envelope).length === 0 || isDeepStrictEqual(this.#envelope, this.#fold.reply.envelope))
      return;
    this.#envelopeSent = true;
    this.#emit(-1, -1, { type: "envelope", envelope: { ...this.#envelope } });
  }

  #sendError(readings: Reading[]): void {
    const fields: { message?: string; native?: Native } = {};
    this.#update(fields, readings);
    this.#failed = true;
    const { message = "The provider sent an error without a message.", native } = fields;
    this.#emit(-1, -1, { type: "error", message, ...(native !== undefined && { native }) });
  }

  #update(fields: object, readings: Reading[]): void {
    for (const reading of readings) {
      const value = fieldAfter(fields as Fields, reading, this.#dialect);
      if (value !== undefined) (fields as Fields)[reading.field] = value;
    }
  }

  #choice(number: number): ChoiceState {
    let choice = this.#choices.get(number);
    if (choice === undefined) {
      choice = { parts: [], keyed: new Map(), fields: {} };
      this.#choices.set(number, choice);
    }
    return choice;
  }

  #emit(choice: number, part: number, event: FrameEvent): void {
    const frame = { atMs: this.#atMs, choice, part, event };
    this.frames.push(frame);
    this.#fold.apply(frame);
  }
}

function itemsOf(rule: Rule, outer: Item): Item[] {
  const items = rule.each === undefined ? [outer] : read(rule.each, outer).map((item) => ({ ...item, outer }));
  return items.filter((item) => item.value !== null && item.value !== undefined && holds(rule.when, item));
}

function holds(condition: Condition | undefined, item: Item): boolean {
  for (const path in condition) {
    const expected = condition[path]!;
    const value = readFirst(path, item);
    if (Array.isArray(expected)) {
      if (!expected.some((candidate) => candidate === (value ?? null))) return false;
    } else if (typeof expected === "object" && expected !== null) {
      if (expected.exists !== (value !== undefined)) return false;
    } else if (expected !== (value ?? null)) {
      return false;
    }
  }
  return true;
}

function choiceOf(rule: Rule, item: Item): number | undefined {
  if (rule.choice === undefined) return undefined;
  const number = readFirst(rule.choice, item);
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

function keyOf(rule: Rule, item: Item): string {
  let key = "";
  for (const paths of rule.key ?? []) key += `${JSON.stringify(readFirst(paths, item)) ?? ""},`;
  return key;
}

/** A part before anything is known of it. */
function emptyPart(kind: PartKind, dialect: string): Fields {
  switch (kind) {
    case "text":
    case "reasoning":
    case "refusal":
      return { type: kind, text: "" };
    case "toolCall":
      return { type: kind, name: "", arguments: "" };
    case "webSearch":
      return { type: kind, query: "" };
    case "media":
      return { type: kind, mime: "" };
    case "opaque":
      return { type: kind, dialect, value: null };
  }
}

/** Whether a reading adds to a text, and so is streamed. */
function isText(fields: Fields, { field, inside, op, values, at }: Reading): boolean {
  if (op !== "append" || inside !== "") return false;
  if (at !== undefined) return true;
  return (
    (fields[field] === undefined || typeof fields[field] === "string") &&
    values.every((value) => typeof value === "string")
  );
}

function isPending({ op }: Reading): boolean {
  return op === "fallback" || op === "json" || op === "assign";
}

function isEmpty({ values }: Reading): boolean {
  return values.every((value) => value === "");
}

/** The pieces of each JSON text put together to the value that they are; what is no JSON stays a text. */
function joinedJson(pending: Reading[]): Reading[] {
  const texts = new Map<string, { reading: Reading; text: string }>();
  for (const reading of pending) {
    if (reading.op !== "json") continue;
    const name = `${reading.field}.${reading.inside}`;
    const before = texts.get(name)?.text ?? "";
    const pieces = reading.values.filter((value) => typeof value === "string");
    texts.set(name, { reading, text: before + pieces.join("") });
  }
  const joined: Reading[] = [];
  for (const { reading, text } of texts.values()) {
    if (text !== "") joined.push({ ...reading, op: "replace", values: [parsed(text)] });
  }
  return joined;
}

/** The assignments of each field put together to the JSON text that they build. */
function assigned(pending: Reading[]): Reading[] {
  const readings = pending.filter(({ op }) => op === "assign");
  return [...new Set(readings.map(({ field }) => field))].flatMap((field): Reading[] => {
    const json = assignedJson(readings.filter((reading) => reading.field === field).flatMap(({ values }) => values));
    return json === "" ? [] : [{ field, inside: "", op: "append", values: [json] }];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
