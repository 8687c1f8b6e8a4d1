import type { FinishReason, Usage } from "../chat/reply.ts";

/**
 * How to read what a provider sent: data, not code. The same rules read a unary body, which is one message, and
 * a stream, which is many. Users add a provider with a JSON file of this form, so whatever a rule can say is a
 * string, a number, a list or an object here, and what has to be computed is a word of a closed list.
 */
export interface Rules {
  /** All of them are tried on every message, in this order: it is the order of the parts within one message. */
  rules: Rule[];
  /** The provider's words for why it stopped, and ours. A word that is not here is taken as it is. */
  finishReasons?: Record<string, FinishReason>;
  /** A reply that stopped and calls tools has stopped for them: for providers with one word for both. */
  toolCallsFinish?: boolean;
  /**
   * Where in the usage object each count is. Of a list, what is there is added up; a list inside it gives
   * alternatives, of which the first that is there counts.
   */
  usage?: Partial<Record<Exclude<keyof Usage, "raw">, Path | (Path | Path[])[]>>;
}

/**
 * Steps joined by dots, from the item at hand: a member's name, an element's number, or `*` for every element.
 * An empty path is the item itself, `#` its position in its list, `^` the item in which it was found by `each`,
 * and `=word` (in keys) the word as it stands. A step that is not there gives nothing.
 */
export type Path = string;

/** Paths and what must be there: a value, one of several, or whether anything is. Null is there where nothing is. */
export type Condition = Record<Path, Scalar | Scalar[] | { exists: boolean }>;

export type Scalar = string | number | boolean | null;

/** One step of reading. It says where to look (`each`, `when`) and then what is there (`as`) or who looks on. */
export interface Rule {
  /** The items that the rule is about, from the item of the rule around it; that item itself if absent. */
  each?: Path;
  /** Only items of which all this is true. What is to be true of the item around them belongs into a rule around. */
  when?: Condition;
  /** Number of the choice that the items belong to; else that of the rule around it, or 0. */
  choice?: Path;
  /**
   * What tells the reply's parts apart, added to the key of the rule around it. A list inside it gives
   * alternatives: the first that is there. Parts without a key go by kind: a piece belongs to the part before
   * it if that is of the same kind.
   */
  key?: (Path | Path[])[];
  /** Rules for each item, all of them. */
  rules?: Rule[];
  /** Rules for each item, of which only the first that applies is used. */
  oneOf?: Rule[];
  /** What the item is about. */
  as?: Target;
  /**
   * What to take from it, by the names of `chat/reply.ts`: `text`, `id`, `native.logprobs`. A `native`,
   * `annotations` or `raw` field belongs to the dialect.
   */
  fields?: Record<string, Path | Path[] | Take>;
  /** A new part each time, or none ever: then only a part that is there grows. Else one where it is missing. */
  opens?: "always" | "never";
}

export type Target =
  | PartKind
  /** The part has ended. */
  | "stop"
  /** `reason` and `stopSequence`. */
  | "finish"
  /** `raw`: the provider's own object. */
  | "usage"
  | "envelope"
  /** `native`, of the choice. */
  | "choice"
  /** `message` and `native`. */
  | "error"
  | "keepalive"
  /** Known, and nothing to take from it. */
  | "nothing";

export type PartKind = "text" | "reasoning" | "toolCall" | "webSearch" | "refusal" | "media" | "opaque";

export interface Take {
  /** Of several, the first that gives something. */
  take: Path | Path[];
  /** The object without these members, or nothing if none is left. */
  except?: string[];
  via?: Transform;
  /** `replace` if absent. */
  op?: Op;
  /** The field is a list of texts, and here is the number of the one that grows. */
  at?: Path;
}

/**
 * - `json`: the value as JSON text
 * - `list`: the value as the only element of a list
 * - `texts`: of a list of objects, the `text` of each
 */
export type Transform = "json" | "list" | "texts";

/**
 * - `append`: texts are joined, lists too
 * - `replace`: the last one wins; null replaces nothing, nor does an empty text
 * - `merge`: the members of an object, each by `replace`
 * - `fallback`: used if nothing else has come when the part ends
 * - `json`: pieces of a JSON text, which becomes the value when the part ends
 * - `assign`: values and their places (`partial-args.ts`), whose JSON text becomes the value when the part ends
 */
export type Op = "append" | "replace" | "merge" | "fallback" | "json" | "assign";
