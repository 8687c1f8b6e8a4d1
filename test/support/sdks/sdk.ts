/** What an SDK hands its user of a reply. */
export interface Told {
  text: string;
  reasoning: string;
  refusal: string;
  calls: { name: string; arguments: unknown }[];
  /** What the provider itself has searched for. */
  searches: string[];
  /** What comes after what, neighbours of one kind told once. */
  order: PartKind[];
  /** In the SDK's own word. */
  finish: string | null | undefined;
  tokens: Tokens;
  id: string | undefined;
  model: string | undefined;
}

export type PartKind = "text" | "reasoning" | "refusal" | "call" | "search";

/** Zero is nothing: some tell it of each reply. */
export interface Tokens {
  input: number | undefined;
  output: number | undefined;
  cached: number | undefined;
  reasoning: number | undefined;
}

/** What an SDK may keep from its user, or its provider have no place for: in both forms, or in one of them. */
export type Hidden = Hideable | `${Hideable}, ${"whole" | "streamed"}`;
type Hideable = "reasoning" | "refusal" | "searches" | "order" | "id" | "model" | "cached" | "reasoning tokens";

export function hides({ hides: hidden = [] }: Sdk, what: Hideable, streamed: boolean): boolean {
  return hidden.includes(what) || hidden.includes(`${what}, ${streamed ? "streamed" : "whole"}`);
}

/** Whether the newest releases are asked (`npm run test:newest`), of which some tell their users other things. */
export const NEWEST = process.env["STUNTDOUBLE_NEWEST_SDKS"] === "true";

export interface Sdk {
  name: string;
  /** Asks a double at a URL, and waits until all is told; what the client itself would try again it tries once. */
  ask(url: string, prompt: string, streamed: boolean): Promise<Told>;
  /** Takes a double through the call of a tool and the answer to its result, and gives that. */
  loop?(url: string, prompt: string, streamed: boolean): Promise<string>;
  /** The one finish reason of a fixture after which it runs tools, where any will not do. */
  loopsAfter?: "stop";
  finish: FinishWords;
  hides?: readonly Hidden[];
  /** A refusal is a text like any other. */
  refusesInText?: true;
  /** Replies that it makes errors of, and what those say. */
  fails?: { refused?: Failure; filtered?: Failure; length?: Failure };
  /** How it tells of an error in mid-stream, where that is not by the error's message. */
  brokenOff?: RegExp;
  /** How it tells of an error at once, where that is not by the error's message. */
  turnedDown?: RegExp;
  /** It opens its connections itself, past `fetch`. */
  opensSockets?: true;
  /** It passes over errors in mid-stream, and this is then its word for how the reply ended. */
  passesOverErrors?: string;
}

/** In both forms, or in one of them. */
export type Failure = RegExp | { whole?: RegExp; streamed?: RegExp };
/** For both forms, or one for each. */
export type Word = string | undefined | { whole: string; streamed: string };

/** What holds of a reply in one of its two forms. */
export function inForm<T extends string | RegExp>(
  given: T | { whole?: T; streamed?: T } | undefined,
  streamed: boolean,
): T | undefined {
  if (typeof given !== "object" || given instanceof RegExp) return given as T | undefined;
  return streamed ? given.streamed : given.whole;
}

/** An SDK's words for a reply that is complete, that calls tools, that was cut at its length, and that was filtered. */
export interface FinishWords {
  stop: string | undefined;
  calls: string | undefined;
  length: Word;
  filtered: Word;
  /** Of a refusal, where that is not `stop`. */
  refused?: string;
}

/** Puts together what is told, in the order in which it is. */
export class Telling {
  readonly told: Told = {
    text: "",
    reasoning: "",
    refusal: "",
    calls: [],
    searches: [],
    order: [],
    finish: undefined,
    tokens: { input: undefined, output: undefined, cached: undefined, reasoning: undefined },
    id: undefined,
    model: undefined,
  };
  readonly #calls = new Map<unknown, { name: string; text: string }>();

  say(kind: "text" | "reasoning" | "refusal", piece: string | null | undefined): void {
    if (!piece) return;
    this.told[kind] += piece;
    this.#at(kind);
  }

  call(name: string, input: unknown): void {
    this.told.calls.push({ name, arguments: input });
    this.#at("call");
  }

  /** A piece of a call. The first one of a key begins it. */
  callPiece(key: unknown, name: string | null | undefined, piece: string | null | undefined): void {
    const call = this.#calls.get(key) ?? { name: "", text: "" };
    if (!this.#calls.has(key)) this.#at("call");
    this.#calls.set(key, { name: call.name + (name ?? ""), text: call.text + (piece ?? "") });
  }

  search(query: string | undefined): void {
    if (query === undefined) return;
    this.told.searches.push(query);
    this.#at("search");
  }

  end(finish: string | null | undefined): void {
    this.told.finish = finish ?? this.told.finish;
  }

  name(id: string | null | undefined, model: string | null | undefined): void {
    this.told.id ??= id ?? undefined;
    this.told.model ??= model ?? undefined;
  }

  count(counts: { [Name in keyof Tokens]?: number | null | undefined }): void {
    for (const [name, count] of Object.entries(counts)) {
      if (count) this.told.tokens[name as keyof Tokens] = count;
    }
  }

  done(): Told {
    for (const { name, text } of this.#calls.values()) {
      this.told.calls.push({ name, arguments: JSON.parse(text || "{}") });
    }
    return this.told;
  }

  #at(kind: PartKind): void {
    if (this.told.order.at(-1) !== kind) this.told.order.push(kind);
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export const user = (content: string) => [{ role: "user" as const, content }];
export const key = { apiKey: "x" };
/** Of clients that are generated from one specification. */
export const once = { maxRetries: 0 };
