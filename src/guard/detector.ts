/** Where a secret stands: `text.slice(start, end)`. */
export interface Place {
  start: number;
  end: number;
}

export type DetectorFamily = "provider key" | "token" | "credential" | "organisation" | "personal" | "machine" | "own";

/** One kind of secret and how it is found. Used by redaction, by guardrails and by `scan`. */
export interface Detector {
  /** Lower case with dashes; stands in replacements, reports and options. */
  name: string;
  family: DetectorFamily;
  /** What it finds, for the documentation. */
  finds: string;
  byDefault: boolean;
  /**
   * Literals of which one is in every text that holds such a secret; a text without is passed over after one cheap
   * look. No spaces, quotes, backslashes or line breaks in them: JSON writes those differently.
   */
  hints?: readonly string[];
  /** Hints are met in any case; needs `holds`. */
  anyCase?: boolean;
  /**
   * For what has no literal: neighbours of which one is in every such text, each one character of both sets. What has
   * neither hints nor pairs looks at every text.
   */
  pairs?: readonly (readonly [string, string])[];
  /** A cheaper look than `find`, whose every place holds it; right for JSON as text, too. May be shared by several. */
  holds?: RegExp;
  /** Backslashes are part of it. */
  backslashes?: boolean;
  /**
   * A pattern (with the flags `g` and `d`), of which a group called `secret…` is the secret, else all of it; or a function
   * that gives all places. Either has to take time linear in the text: the text may come from an attacker.
   */
  find: RegExp | ((text: string) => Place[]);
  /**
   * Where a match may still grow at the end of a text that is not over; for those that are found by a function: a pattern
   * of all that they may find, or a function. A pattern to find with says it by itself.
   */
  growing?: RegExp | Growth;
  /** What is found stays found, whatever follows. */
  stays?: true;
  /** Whether what the pattern found is one, by its checksum or by the text before it. */
  check?: (secret: string, before: string) => boolean;
  /** One spelling for all that are the same secret. */
  normal?: (secret: string) => string;
}

/**
 * Where the earliest match begins that more text may complete, lengthen or undo; the text's length where there is none.
 * @param from nothing before it is looked at but by lookbehind
 */
export type Growth = (text: string, from: number) => number;

/** Every place in a text that one detector finds. */
export function placesOf({ find, check }: Detector, text: string): Place[] {
  return find instanceof RegExp ? matches(find, text, check) : find(text);
}

const NONE: Place[] = [];

/**
 * All places that a pattern finds and the check takes. Not by `matchAll`, which compiles the pattern anew each time.
 * What the check refuses may hold the beginning of another one, so the search goes on inside it.
 */
export function matches(pattern: RegExp, text: string, check?: Detector["check"]): Place[] {
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (match === null) return NONE;
  const places: Place[] = [];
  for (; match !== null; match = pattern.exec(text)) {
    const [start, end] = secretGroup(match) ?? match.indices![0]!;
    if (end > start && (check === undefined || check(text.slice(start, end), text.slice(0, start))))
      places.push({ start, end });
    else pattern.lastIndex = match.index + 1;
  }
  return places;
}

/** Of the groups whose name begins with `secret` the one that took part. */
function secretGroup(match: RegExpExecArray): [number, number] | undefined {
  const groups = match.indices?.groups;
  return (
    groups && Object.entries(groups).find(([name, place]) => name.startsWith("secret") && place !== undefined)?.[1]
  );
}
