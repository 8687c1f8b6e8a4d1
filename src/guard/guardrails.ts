import { parsePointer } from "../wire/json-pointer.ts";
import type { Detector } from "./detector.ts";
import { DETECTORS } from "./detectors.ts";
import { Finder } from "./find.ts";
import { patternDetectors, wordDetector } from "./own-detectors.ts";
import { Redactor, SPLIT } from "./redact.ts";
import { ROLES, type Role, roleOf } from "./roles.ts";

export const GUARD_ACTIONS = ["report", "redact", "block"] as const;
export const GUARD_DIRECTIONS = ["request", "response"] as const;

/**
 * - `report`: noted in the journal and the metrics
 * - `redact`: replaced before it goes on
 * - `block`: the call is refused, or its stream is cut, before any of it is passed on
 */
export type GuardAction = (typeof GUARD_ACTIONS)[number];
export type GuardDirection = (typeof GUARD_DIRECTIONS)[number];

/** What must not pass, and what is done about it. Of what it names, any is enough. */
export interface GuardRule {
  /** Stands in messages, journal and metrics; `rule-1`, `rule-2` … unless given. */
  name?: string;
  action: GuardAction;
  /** Detectors by their names or their families; those that are on by default where the rule names nothing at all. */
  detectors?: readonly string[];
  /** Words or phrases, whatever their case. */
  words?: readonly string[];
  /** Patterns in RE2's syntax, which take linear time. */
  patterns?: readonly { name: string; pattern: string }[];
  /** JSON Pointers into bodies (`*` for every element or member); whatever stands there. */
  pointers?: readonly string[];
  /** Texts that may pass although a detector finds them. */
  allow?: readonly string[];
  /** Names of providers; all unless given. */
  providers?: readonly string[];
  /** Both unless given. */
  directions?: readonly GuardDirection[];
  /** Whose words are looked at: in a request those of messages, in a response all is the assistant's. Everything unless given. */
  roles?: readonly Role[];
}

/** The guard's options ask for what cannot be done. */
export class GuardError extends Error {
  override readonly name = "GuardError";
}

/** A rule, ready for use. */
export interface Screen {
  name: string;
  action: GuardAction;
  finder: Finder;
  pointers: readonly string[][];
  redactor: Redactor;
}

/** What a rule has found, never the text itself. */
export interface GuardHit {
  rule: string;
  action: GuardAction;
  detector: string;
  direction: GuardDirection;
}

const REMEMBERED = 8;
const LONGEST_REMEMBERED = 256 * 1024;

/** The rules for one direction and one provider. */
export class Screens {
  readonly all: readonly Screen[];
  /** Of all rules together, for streams. */
  readonly detectors: readonly Detector[];
  readonly #finder: Finder;
  readonly #named: boolean;
  /** The last that were clean: suites and agents that try again send the same over and over. */
  readonly #clean: string[] = [];
  #next = 0;

  constructor(screens: readonly Screen[]) {
    this.all = screens;
    this.detectors = [...new Set(screens.flatMap(({ finder }) => finder.detectors))];
    this.#finder = new Finder(this.detectors);
    this.#named = screens.some(({ pointers }) => pointers.length > 0);
  }

  /** Whether one cheap look says that no rule finds anything in a body. */
  isClean(text: string): boolean {
    // Texts of other lengths are told apart at once.
    for (const clean of this.#clean) if (clean === text) return true;
    if (this.#named || !this.#finder.isClean(text) || SPLIT.test(text)) return false;
    if (text.length <= LONGEST_REMEMBERED) this.#clean[this.#next++ % REMEMBERED] = text;
    return true;
  }
}

/** The rules of a guard. */
export class Guardrails {
  readonly #rules: readonly { rule: GuardRule; screen: Screen }[];
  readonly #byProvider: boolean;
  readonly #known = new Map<string, Screens | undefined>();

  private constructor(rules: readonly { rule: GuardRule; screen: Screen }[]) {
    this.#rules = rules;
    this.#byProvider = rules.some(({ rule }) => rule.providers !== undefined);
  }

  /** @throws {GuardError | RedactionOptionsError} with what is wrong with a rule */
  static async load(rules: readonly GuardRule[]): Promise<Guardrails> {
    const names = rules.map(({ name }, index) => name ?? `rule-${index + 1}`);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new GuardError(`There are two rules "${twice}": give each a name of its own.`);
    return new Guardrails(
      await Promise.all(rules.map(async (rule, index) => ({ rule, screen: await screenOf(rule, names[index]!) }))),
    );
  }

  /** Whether it makes a difference whose API a call is for. */
  get isByProvider(): boolean {
    return this.#byProvider;
  }

  /** Undefined where there are no rules. */
  of(direction: GuardDirection, provider: string): Screens | undefined {
    const key = this.#byProvider ? `${direction} ${provider}` : direction;
    if (!this.#known.has(key)) this.#known.set(key, this.#screens(direction, provider));
    return this.#known.get(key);
  }

  /** What the rules look for, to be taken out of what is written. */
  get secrets(): { detectors: readonly Detector[]; pointers: readonly string[][] } {
    return {
      detectors: this.#rules.flatMap(({ screen }) => screen.finder.detectors),
      pointers: this.#rules.flatMap(({ screen }) => screen.pointers),
    };
  }

  #screens(direction: GuardDirection, provider: string): Screens | undefined {
    const screens = this.#rules
      .filter(
        ({ rule: { directions, providers, roles } }) =>
          (directions?.includes(direction) ?? true) &&
          (providers?.includes(provider) ?? true) &&
          (direction === "request" || (roles?.includes("assistant") ?? true)),
      )
      .map(({ rule, screen }) =>
        direction === "request" && rule.roles !== undefined ? withRoles(screen, rule.roles) : screen,
      );
    return screens.length === 0 ? undefined : new Screens(screens);
  }
}

async function screenOf(rule: GuardRule, name: string): Promise<Screen> {
  const { action, detectors, words = [], patterns = [], pointers = [], allow = [] } = rule;
  checkWord(name, "action", action, GUARD_ACTIONS);
  for (const direction of rule.directions ?? []) checkWord(name, "directions", direction, GUARD_DIRECTIONS);
  for (const role of rule.roles ?? []) checkWord(name, "roles", role, ROLES);
  const namesNothing = words.length === 0 && patterns.length === 0 && pointers.length === 0;
  const chosen = [
    ...(await patternDetectors(patterns)),
    ...(words.length > 0 ? [wordDetector(words)] : []),
    ...(detectors === undefined
      ? namesNothing
        ? DETECTORS.filter(({ byDefault }) => byDefault)
        : []
      : detectors.flatMap((detector) => detectorsCalled(name, detector))),
  ];
  const finder = new Finder(chosen, allow);
  const parsed = pointers.map((pointer) => pointerOf(name, pointer));
  return { name, action, finder, pointers: parsed, redactor: new Redactor(finder, parsed) };
}

function withRoles(screen: Screen, roles: readonly Role[]): Screen {
  const scope = {
    leaf: (leaf: Parameters<typeof roleOf>[0]) => {
      const role = roleOf(leaf);
      return role !== undefined && roles.includes(role);
    },
    // A form's fields and plain texts are what a user asks for.
    text: roles.includes("user"),
  };
  return { ...screen, redactor: new Redactor(screen.finder, screen.pointers, scope) };
}

function detectorsCalled(rule: string, called: string): readonly Detector[] {
  const found = DETECTORS.filter(({ name, family }) => name === called || family === called);
  if (found.length > 0) return found;
  const known = [...new Set(DETECTORS.flatMap(({ name, family }) => [family, name]))];
  throw new GuardError(
    `Rule "${rule}": there is no detector and no family "${called}"; there are ${known.join(", ")}.`,
  );
}

function checkWord(rule: string, member: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return;
  throw new GuardError(`Rule "${rule}": ${member} has to be one of ${words.join(", ")}, but it is "${word}".`);
}

function pointerOf(rule: string, pointer: string): string[] {
  try {
    return parsePointer(pointer);
  } catch (error) {
    throw new GuardError(`Rule "${rule}": ${(error as Error).message}`);
  }
}

/** The words in which a call is refused; they never hold what was found. */
export function blockMessage({ rule, detector, direction }: GuardHit): string {
  return `Guardrail Block: the ${direction} holds what "${detector}" finds (rule "${rule}").`;
}
