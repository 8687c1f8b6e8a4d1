import type { Place } from "./detector.ts";
import { isSecretName } from "./detectors/credentials.ts";
import { type Finder, type Found, isReplaced, maskedText } from "./find.ts";
import type { Screen, Screens } from "./guardrails.ts";
import { openFrom } from "./open-end.ts";

/** What a rule has found in a growing text, for good. */
export interface TextHit extends Place {
  screen: Screen;
  found: Found;
}

/** As much of what has left is kept, for patterns that look at what stands before them. */
const CONTEXT = 256;
const LONGEST_KEPT = 4096;

/** A text of a stream that comes in pieces: places count from its beginning. */
export class GrowingText {
  readonly #screens: Screens;
  /** The value of a member of this name may be a secret whatever it looks like. */
  readonly #secretName: boolean;
  #text = "";
  /** Where the text that is kept begins. */
  #start = 0;
  #open = 0;
  #over = false;
  /** Of each rule, the beginnings of what has been found already. */
  readonly #known = new Map<Screen, Set<number>>();

  /** @param name of the member that the pieces are values of */
  constructor(screens: Screens, name: string | number) {
    this.#screens = screens;
    this.#secretName = isSecretName(String(name));
  }

  get length(): number {
    return this.#start + this.#text.length;
  }

  /** What is before may leave. */
  get open(): number {
    return this.#over ? this.length : this.#open;
  }

  /** @returns what is found for good by now */
  push(piece: string): TextHit[] {
    this.#over = false;
    this.#text += piece;
    return this.#look();
  }

  /** Nothing more is expected. */
  end(): TextHit[] {
    if (this.#over) return [];
    this.#over = true;
    return this.#look();
  }

  #look(): TextHit[] {
    const { all, detectors } = this.#screens;
    const text = this.#text;
    const from = this.#open - this.#start;
    let open = this.#over ? text.length : openFrom(detectors, text, from);
    const found = all.map((screen) => ({ screen, places: this.#find(screen.finder, text) }));
    // What has been found may be the border that something else needs.
    for (const { places } of found) {
      if (places.length > 0 && !this.#over) open = Math.min(open, openFrom(detectors, maskedText(text, places), from));
    }
    const hits: TextHit[] = [];
    for (const { screen, places } of found) {
      let known = this.#known.get(screen);
      for (const place of places) {
        // What has left was judged when more of what stands before it was there.
        if (place.end <= from) continue;
        const start = place.start + this.#start;
        const isNew = known?.has(start) !== true;
        const lasts = place.start < open || place.detector.stays === true || this.#secretName;
        // What a later piece has lengthened is known, and its end is another one.
        if (!lasts || (!isNew && screen.action !== "redact")) continue;
        if (known === undefined) {
          known = new Set();
          this.#known.set(screen, known);
        }
        known.add(start);
        hits.push({ screen, found: place, start, end: place.end + this.#start });
      }
    }
    this.#open = Math.max(this.#open, open + this.#start);
    this.#forget();
    return hits;
  }

  #find(finder: Finder, text: string): Found[] {
    if (text === "") return [];
    if (this.#secretName && finder.has("secret") && !isReplaced(text)) {
      const detector = finder.detectors.find(({ name }) => name === "secret")!;
      return [{ start: 0, end: text.length, secret: text, detector }];
    }
    return finder.find(text);
  }

  /** Lets go of the beginning, but never inside a run of backslashes, where it would read as another one. */
  #forget(): void {
    if (this.#text.length < LONGEST_KEPT || this.#secretName) return;
    let at = this.#open - this.#start - CONTEXT;
    while (at > 0 && (this.#text[at] === "\\" || this.#text[at - 1] === "\\")) at--;
    if (at < CONTEXT) return;
    this.#text = this.#text.slice(at);
    this.#start += at;
  }
}
