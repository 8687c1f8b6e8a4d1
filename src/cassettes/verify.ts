import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { choiceText } from "../chat/reply.ts";
import type { Operation } from "../dialects/operation.ts";
import { isObject } from "../dialects/raw-request.ts";
import { Traverser } from "../dialects/traverser.ts";
import { cutAroundDifference, type Difference } from "../report/difference.ts";
import type { Verdict } from "../report/verdict.ts";
import { pointerSegment } from "../wire/json-pointer.ts";
import { inspect, tooLarge } from "./damage.ts";
import { differences } from "./differences.ts";
import { cassetteFiles } from "./folder.ts";
import { LARGEST_CASSETTE_BYTES } from "./format.ts";
import { finishWord, timelineText, toolCallsOf, usageOf } from "./timeline.ts";
import type { TimelineFrame, Trace } from "./types.ts";
import type { UserRules } from "./user-rules.ts";

export interface VerifyOptions {
  operations: readonly Operation[];
  /** Of providers that users have added. */
  rules: UserRules;
}

/** The files that a path holds: itself, or all below it. */
export function verifiableFiles(path: string): string[] {
  return statSync(path).isDirectory() ? cassetteFiles(path) : [path];
}

/**
 * Holds the takes of a file to what their provider sent. One verdict for the file where it is damaged, else one for
 * each take; a take without a raw layer is skipped, since nothing speaks for it.
 */
export async function verifyFile(file: string, root: string, options: VerifyOptions): Promise<Verdict[]> {
  const startedAt = performance.now();
  const name = relative(root, file) || file;
  const verdict = (status: Verdict["status"], rest: Partial<Verdict> = {}): Verdict => ({
    case: name,
    status,
    durationMs: performance.now() - startedAt,
    differences: [],
    notes: [],
    stderr: "",
    file,
    ...rest,
  });
  const { size } = statSync(file);
  if (size > LARGEST_CASSETTE_BYTES) return [verdict("failed", { differences: [damage(name, tooLarge(size))] })];
  const { cassette, damages } = inspect(await readFile(file, "utf8"));
  if (cassette === undefined || damages.length > 0) {
    return [verdict("failed", { differences: damages.map((found) => damage(name, found)) })];
  }
  const ids = cassette.history_keys;
  return ids.map((id) => {
    const label = ids.length === 1 ? name : `${name} ${id.slice(0, 8)}`;
    const checked = verifyTrace(cassette.traces[id]!, options);
    if (typeof checked === "string") return verdict("skipped", { case: label, notes: [`unverified: ${checked}`] });
    const pointer = `/traces${pointerSegment(id)}`;
    const found = checked.map((difference) => ({ ...difference, case: label, pointer: pointer + difference.pointer }));
    return verdict(found.length === 0 ? "passed" : "failed", { case: label, differences: found });
  });
}

function damage(name: string, { pointer, message }: { pointer: string; message: string }): Difference {
  return {
    case: name,
    response: 0,
    pointer,
    want: "",
    got: "",
    detail: pointer === "" ? message : `${pointer}: ${message}`,
  };
}

/** @returns why nothing could be said, or what differs */
function verifyTrace(trace: Trace, options: VerifyOptions): Difference[] | string {
  const { raw_payload: payload, exception_boundary: boundary } = trace;
  const messages = payload?.stream_chunks ?? (payload?.sync_response === undefined ? [] : [payload.sync_response]);
  if (messages.length === 0) return "there is no raw payload";
  if (boundary.occurred && trace.response_timeline.length === 0) return verifyError(trace, messages[0]);
  const traverser = traverserFor(trace, messages, options);
  if (traverser === undefined) {
    const { operation } = trace.stuntdouble ?? {};
    return operation === undefined
      ? `nothing is known of how ${trace.request_context.provider} answers; add it with --rules`
      : `${operation} is no conversation, and has no timeline to hold to its raw payload`;
  }
  for (const message of messages) traverser.push(message, 0);
  const { finished } = traverser;
  const reply = traverser.finish();
  const [choice = { parts: [], finish: { reason: "stop" } }] = reply.choices;
  const timeline = trace.response_timeline;
  const found: Difference[] = [];
  const add = (pointer: string, want: unknown, got: unknown): void => void found.push(differing(pointer, want, got));
  const text = choiceText(choice);
  const recorded = timelineText(timeline);
  if (text !== recorded) add(`/response_timeline/${frameOf(timeline, recorded, text)}/chunk`, recorded, text);
  const calls = toolCallsOf(choice);
  const recordedCalls = timeline.flatMap(({ tool_calls: called = [] }) => called);
  const last = Math.max(0, timeline.length - 1);
  // An id that the provider did not give was made up.
  const comparable = calls.map((call, index) =>
    choice.parts.filter((part) => part.type === "toolCall")[index]?.id === undefined
      ? { ...call, id: recordedCalls[index]?.id ?? call.id }
      : call,
  );
  for (const { pointer, want, got } of differences(recordedCalls, comparable)) {
    add(`/response_timeline/${last}/tool_calls${pointer}`, want, got);
  }
  const word = timeline.at(-1)?.finish_reason;
  if (
    word !== undefined &&
    !(finished && [finishWord(choice, calls.length > 0), choice.finish.reason].includes(word))
  ) {
    add(`/response_timeline/${last}/finish_reason`, word, finished ? finishWord(choice, calls.length > 0) : undefined);
  }
  for (const { pointer, want, got } of differences({ ...trace.usage }, { ...trace.usage, ...usageOf(reply) })) {
    add(`/usage${pointer}`, want, got);
  }
  return found;
}

function verifyError(trace: Trace, body: unknown): Difference[] | string {
  const { message } = trace.exception_boundary;
  if (message === undefined) return "the error has no message to hold to the raw payload";
  return JSON.stringify(body).includes(JSON.stringify(message).slice(1, -1))
    ? []
    : [differing("/exception_boundary/message", message, body)];
}

/** The rules that the take was recorded with, those of its provider that a user gave, or those that fit. */
function traverserFor(trace: Trace, messages: readonly unknown[], options: VerifyOptions): Traverser | undefined {
  const { provider } = trace.request_context;
  const own = options.rules.of(provider);
  if (own !== undefined) return new Traverser(own, provider);
  const named = options.operations.find(({ name }) => name === trace.stuntdouble?.operation);
  // Only conversations were read into a timeline when they were recorded.
  if (named?.rules !== undefined && named.output === "chat") return new Traverser(named.rules, named.dialect);
  if (named !== undefined) return undefined;
  const candidates = options.operations.filter(({ rules, output }) => rules !== undefined && output === "chat");
  candidates.sort((one, other) => Number(belongs(other, provider)) - Number(belongs(one, provider)));
  for (const { rules, dialect } of candidates) {
    const probe = new Traverser(rules!, dialect);
    for (const message of messages) probe.push(message, 0);
    const { unknown, finished } = probe;
    if (unknown === 0 && (finished || isObject(messages[0])) && probe.finish().choices.length > 0) {
      return new Traverser(rules!, dialect);
    }
  }
  return undefined;
}

function belongs({ dialect, name }: Operation, provider: string): boolean {
  return dialect.startsWith(provider) || name.startsWith(provider);
}

/** The frame in which two texts part. */
function frameOf(timeline: readonly TimelineFrame[], recorded: string, text: string): number {
  let same = 0;
  while (same < recorded.length && recorded[same] === text[same]) same++;
  let end = 0;
  const frame = timeline.findIndex(({ chunk }) => {
    end += chunk.length;
    return same < end;
  });
  return frame < 0 ? Math.max(0, timeline.length - 1) : frame;
}

function differing(pointer: string, want: unknown, got: unknown): Difference {
  const [shownWant, shownGot] = cutAroundDifference(
    JSON.stringify(want) ?? "nothing",
    JSON.stringify(got) ?? "nothing",
  );
  return {
    case: "",
    response: 0,
    pointer,
    want: shownWant,
    got: shownGot,
    detail: `${pointer}: the raw payload says something else`,
  };
}
