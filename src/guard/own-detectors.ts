import type { Detector } from "./detector.ts";
import { DETECTORS } from "./detectors.ts";
import { RedactionOptionsError } from "./finding.ts";
import { beginningsOf } from "./growth.ts";

const NAME = /^[a-z][a-z0-9-]*$/;

/** Detectors by name, turned on or off against the default. */
export function chosenDetectors(chosen: Readonly<Record<string, boolean>> = {}): Detector[] {
  for (const name of Object.keys(chosen)) {
    if (DETECTORS.some((detector) => detector.name === name)) continue;
    const names = DETECTORS.map((detector) => detector.name).join(", ");
    throw new RedactionOptionsError(`There is no detector "${name}"; there are ${names}.`);
  }
  return DETECTORS.filter(({ name, byDefault }) => (Object.hasOwn(chosen, name) ? chosen[name] : byDefault));
}

/** A detector of words, whatever their case. */
export function wordDetector(words: readonly string[]): Detector {
  for (const word of words)
    if (word.trim().length < 2)
      throw new RedactionOptionsError(`The word ${JSON.stringify(word)} is too short: nearly every text holds it.`);
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  return {
    name: "word",
    family: "own",
    finds: "your words",
    byDefault: true,
    find: new RegExp(longestFirst.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "dgiu"),
    normal: (secret) => secret.toLowerCase(),
  };
}

/** Detectors of patterns. The engine takes linear time whatever the pattern, and loads only here. */
export async function patternDetectors(patterns: readonly { name: string; pattern: string }[]): Promise<Detector[]> {
  const { RE2JS } = await import("re2js");
  return patterns.map(({ name, pattern }) => {
    if (!NAME.test(name))
      throw new RedactionOptionsError(
        `A pattern's name stands in replacements and has to be lower case with digits and dashes; "${name}" is not.`,
      );
    const compiled = compile(name, () => RE2JS.compile(pattern));
    let beginnings: typeof compiled | undefined;
    return {
      name,
      family: "own",
      finds: "your pattern",
      byDefault: true,
      growing: (text, from) => {
        beginnings ??= RE2JS.compile(`(?:${beginningsOf(pattern, "\\z")})\\z`);
        const matcher = beginnings.matcher(text);
        return matcher.find(from) ? matcher.start() : text.length;
      },
      find: (text) => {
        const places = [];
        const matcher = compiled.matcher(text);
        while (matcher.find()) {
          const group = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? 1 : 0;
          const place = { start: matcher.start(group), end: matcher.end(group) };
          if (place.end > place.start) places.push(place);
        }
        return places;
      },
    };
  });
}

function compile<Compiled>(name: string, make: () => Compiled): Compiled {
  try {
    return make();
  } catch (error) {
    throw new RedactionOptionsError(
      `The pattern "${name}" is none in RE2's syntax (https://github.com/google/re2/wiki/Syntax): ${(error as Error).message}.`,
    );
  }
}
