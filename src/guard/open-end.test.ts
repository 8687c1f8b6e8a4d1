import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENCODINGS, encoding, IN_CONTEXT, plain, SECRETS } from "../../test/support/secrets.ts";
import type { Detector } from "./detector.ts";
import { DETECTORS } from "./detectors.ts";
import { Finder } from "./find.ts";
import { beginningsOf, growthOf } from "./growth.ts";
import { openFrom } from "./open-end.ts";
import { patternDetectors, wordDetector } from "./own-detectors.ts";

const finders = new Map<Detector, Finder>();
function finderOf(detector: Detector): Finder {
  if (!finders.has(detector)) finders.set(detector, new Finder([detector]));
  return finders.get(detector)!;
}

/** Every end of the text before a match is over at which the beginning of the match is said to be no part of one. */
function letGo(detector: Detector, text: string): string[] {
  return finderOf(detector)
    .find(text)
    .flatMap(({ start, end }) =>
      Array.from({ length: end - start - 1 }, (_, at) => start + 1 + at)
        .filter((cut) => openFrom([detector], text.slice(0, cut), 0) > start)
        .map((cut) => text.slice(0, cut)),
    );
}

const contexts = {
  ...IN_CONTEXT,
  ...Object.fromEntries(Object.entries(SECRETS).map(([name, text]) => [name, [text]])),
};

describe("the open end of a text", () => {
  it.each(DETECTORS)("holds on to the beginning of a match: $name", (detector) => {
    const [text] = contexts[detector.name]!;
    expect(finderOf(detector).find(` ${text} `)).not.toEqual([]);
    expect(letGo(detector, ` ${text} `)).toEqual([]);
  });

  it("holds on to it behind every encoding, whatever is around it", () => {
    fc.assert(
      fc.property(fc.constantFrom(...DETECTORS), encoding, plain, plain, (detector, name, before, after) => {
        const [text] = contexts[detector.name]!;
        expect(letGo(detector, ` ${ENCODINGS[name]!(before + text + after)} `)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("lets go of a text that cannot become one", () => {
    const all = DETECTORS.filter(({ byDefault }) => byDefault);
    for (const text of [
      "The weather is fine. ",
      '{"city": "San Francisco", ',
      "1 2 3 4, ",
      "éàü 日本 🎭 ",
      "x = y + z; ",
    ]) {
      expect(openFrom(all, text, 0)).toBe(text.length);
    }
  });

  it("holds a word back, which may be part of an address", () => {
    const all = DETECTORS.filter(({ byDefault }) => byDefault);
    expect(openFrom(all, "The weather", 0)).toBe(4);
    expect(openFrom(all, "Write to ada@exam", 0)).toBe(9);
    expect(openFrom(all, "Card 4111 1111 ", 0)).toBe(5);
  });

  it("holds on to words and patterns of one's own", async () => {
    const word = wordDetector(["Project Falcon"]);
    expect(openFrom([word], "about PROJECT f", 0)).toBe(6);
    expect(openFrom([word], "about project, ", 0)).toBe(15);
    const [ticket] = await patternDetectors([
      { name: "ticket", pattern: "(?i)ticket-(\\d{3,})|[[:upper:]]{2}\\Q.?\\E" },
    ]);
    expect(openFrom([ticket!], "see Ticket-12", 0)).toBe(4);
    expect(openFrom([ticket!], "see Ticket, ", 0)).toBe(12);
    expect(openFrom([ticket!], "see AB.", 0)).toBe(4);
  });

  it("holds on to an escape that is not over", () => {
    const email = DETECTORS.find(({ name }) => name === "email")!;
    for (const end of ["\\", "\\u", "\\u00", "%", "%4", "\\\\u004"]) {
      expect(openFrom([email], `to ada${end}`, 0)).toBe(3);
    }
    // One backslash, which at the next depth begins an escape.
    expect(openFrom([email], "to ada. \\\\", 0)).toBe(8);
    expect(openFrom([email], "to ada. \\n ", 0)).toBe(11);
  });
});

describe("the beginnings of a pattern", () => {
  const cases: [pattern: string, texts: string[]][] = [
    ["abc", ["a", "ab", "abc"]],
    ["a{3}b?(?:cd|e)+", ["a", "aa", "aaa", "aaab", "aaac", "aaacde"]],
    ["(?<name>x)[\\]a-c]{2,}\\.", ["x", "x]", "xab", "xab."]],
    ["1(?=.*z)[a-z]+", ["1", "1a", "1abc", "1az"]],
    ["\\u{41}[^]\\p{L}", ["A", "A1", "A1x"]],
    ["a(?!bc)", ["a", "ab"]],
  ];
  it.each(cases)("%s", (pattern, texts) => {
    const beginning = new RegExp(`^(?:${beginningsOf(pattern, "$")})$`, "u");
    expect(texts.filter((text) => !beginning.test(text))).toEqual([]);
    expect(["q", `${texts.at(-1)}q!`].filter((text) => beginning.test(text))).toEqual([]);
  });

  it("says how every detector's matches grow", () => {
    expect(() => DETECTORS.map(growthOf)).not.toThrow();
    const silent: Detector = { ...DETECTORS[0]!, find: () => [] };
    expect(() => growthOf(silent)).toThrow(/does not say how its matches grow/);
  });
});
