import { CompiledMatch, firstMismatch } from "../fixtures/match.ts";
import type { FixtureMatch } from "../fixtures/types.ts";
import type { JournalCall, JournalEntry, JournalResponse } from "../state/journal.ts";
import type { Miss } from "../state/tally.ts";

/** What a call was: the fields of a fixture's match, and what the journal knows. All that are there must hold. */
export interface CallPattern extends Omit<FixtureMatch, "sequenceIndex" | "fingerprint" | "ignore"> {
  /** Equal to the path without its query, or its beginning when it ends with `*`. */
  path?: string;
  /** Of the answer. */
  status?: number;
  source?: JournalResponse["source"];
  /** Id of the fixture that answered. */
  fixture?: string;
}

export interface ExpectOptions {
  /** How many calls; at least one unless given. 0: none. */
  times?: number;
  /** Calls for the patterns of a list have come in its order. Others may have come between them. */
  inOrder?: boolean;
  /** Only the calls of this test id count. */
  testId?: string;
}

/** Calls were not as expected. */
export class ExpectationError extends Error {
  override readonly name = "ExpectationError";
}

/**
 * The calls that a pattern is about, for each pattern in turn.
 * @param forgotten calls that the journal does not have any more
 * @throws {ExpectationError} that shows the calls and what kept each from the pattern
 */
export function expectCalls(
  calls: readonly JournalCall[],
  patterns: readonly CallPattern[],
  { times, inOrder = false }: ExpectOptions,
  forgotten: number,
): JournalEntry[] {
  const matchers = patterns.map((pattern) => new CallMatcher(pattern));
  const found = matchers.map((matcher) => calls.filter((call) => matcher.mismatch(call) === undefined));
  for (const [index, matching] of found.entries()) {
    if (times === undefined ? matching.length > 0 : matching.length === times) continue;
    throw new ExpectationError(wrongCount(calls, matchers[index]!, matching.length, times, forgotten));
  }
  if (inOrder) {
    let next = 0;
    for (const [index, matcher] of matchers.entries()) {
      const place = calls.findIndex((call, at) => at >= next && matcher.mismatch(call) === undefined);
      if (place < 0) throw new ExpectationError(wrongOrder(calls, matchers, index));
      next = place + 1;
    }
  }
  return found.flat().map(({ entry }) => entry);
}

/** @throws {ExpectationError} that lists the misses, if there are any */
export function assertNoMisses(misses: readonly Miss[], count: number): void {
  if (misses.length === 0) return;
  const shown = misses.slice(-MOST_SHOWN).map(({ method, path, detail }) => `  ${method} ${path}: ${detail}`);
  const more = count > shown.length ? [`  … and ${count - shown.length} before`] : [];
  throw new ExpectationError([`${counted(count, "call")} had no tape to answer:`, ...more, ...shown].join("\n"));
}

const MOST_SHOWN = 10;

class CallMatcher {
  readonly #pattern: CallPattern;
  readonly #match: CompiledMatch | undefined;

  constructor(pattern: CallPattern) {
    this.#pattern = pattern;
    const { path: _, status: __, source: ___, fixture: ____, ...match } = pattern;
    // A response that is not known yet goes with every operation.
    if (Object.keys(match).length > 0) this.#match = new CompiledMatch({ match, response: () => ({ json: null }) });
  }

  get shown(): string {
    const plain = (_: string, value: unknown): unknown =>
      value instanceof RegExp || typeof value === "function" ? String(value) : value;
    return JSON.stringify(this.#pattern, plain);
  }

  /** What of the call is not as in the pattern; undefined when all is. */
  mismatch({ entry, subject }: JournalCall): string | undefined {
    const { path, status, source, fixture } = this.#pattern;
    const { response } = entry;
    const asked = entry.path.split("?", 1)[0]!;
    if (path !== undefined && !(path.endsWith("*") ? asked.startsWith(path.slice(0, -1)) : asked === path))
      return "path";
    if (status !== undefined && status !== response.status) return `status is ${response.status}`;
    if (source !== undefined && source !== response.source) return `source is ${response.source}`;
    if (fixture !== undefined && fixture !== response.fixture) return `fixture is ${response.fixture}`;
    if (this.#match === undefined) return undefined;
    if (subject === undefined) return "its request was not understood, or too long to be kept";
    const { view, context, operation } = subject;
    const field = firstMismatch(this.#match, subject, false);
    if (field === "context") return `context is ${JSON.stringify(context)}`;
    if (field === "endpoint") return `endpoint is ${operation.endpoint}`;
    if (field === "predicate") return "the predicate does not hold";
    if (field !== undefined)
      return `${field} is ${shownValue((view as unknown as Record<string, unknown>)[FIELDS[field] ?? field])}`;
    const { turnIndex } = this.#match;
    return turnIndex === undefined || turnIndex === view.turnIndex ? undefined : `turnIndex is ${view.turnIndex}`;
  }
}

/** Where a view has another name for what a match is about. */
const FIELDS: Partial<Record<string, string>> = { toolName: "toolNames", toolResultContains: "toolResult" };

function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "not there";
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

function wrongCount(
  calls: readonly JournalCall[],
  matcher: CallMatcher,
  count: number,
  times: number | undefined,
  forgotten: number,
): string {
  const wanted = times === undefined ? "at least one call" : counted(times, "call");
  const lines = [`Expected ${wanted} with ${matcher.shown}, but there were ${count} among ${calls.length}:`];
  if (calls.length === 0) lines[0] = `Expected ${wanted} with ${matcher.shown}, but there was no call.`;
  if (calls.length > MOST_SHOWN) lines.push(`  … ${calls.length - MOST_SHOWN} before`);
  for (const call of calls.slice(-MOST_SHOWN)) lines.push(callLine(call, matcher.mismatch(call) ?? "as expected"));
  if (forgotten > 0) lines.push(`  The journal has forgotten ${counted(forgotten, "call")}; see journalMaxEntries.`);
  return lines.join("\n");
}

function wrongOrder(calls: readonly JournalCall[], matchers: readonly CallMatcher[], index: number): string {
  const lines = [`Expected calls in another order: ${matchers[index]!.shown} did not come after the ones before it.`];
  for (const call of calls.slice(-MOST_SHOWN)) {
    const places = matchers.flatMap((matcher, place) => (matcher.mismatch(call) === undefined ? [place + 1] : []));
    lines.push(callLine(call, places.length === 0 ? "none of them" : `expected as number ${places.join(" or ")}`));
  }
  return lines.join("\n");
}

function callLine({ entry }: JournalCall, remark: string): string {
  return `  ${entry.method} ${entry.path} ${entry.response.status}: ${remark}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
