import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { writeWholeFileSync } from "../transport/whole-file.ts";
import { parseCassette } from "./damage.ts";
import { differences } from "./differences.ts";
import { cassetteFiles, occurrenceOf } from "./folder.ts";
import { CassetteError, type CassetteText, FORMAT_VERSION, formatCassette } from "./format.ts";
import { scenarioFolder } from "./names.ts";
import { timelineText } from "./timeline.ts";
import { type Cassette, MOST_TAKES, type Trace } from "./types.ts";

/** A cassette and where it is. */
export interface CassetteFile extends CassetteText {
  file: string;
}

/**
 * The cassettes of a file, or of all files below a folder.
 * @throws {CassetteError} when there is none, or one is damaged
 */
export function openCassettes(path: string): CassetteFile[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new CassetteError(`${path}: there is no such file or folder.`);
  const files = stats.isDirectory() ? cassetteFiles(path) : [path];
  if (files.length === 0) throw new CassetteError(`${path}: there is no cassette in it.`);
  return files.map((file) => {
    const text = readFileSync(file, "utf8");
    return { file, text, cassette: parseCassette(text, file) };
  });
}

/**
 * A take of a cassette, by the beginning of its id.
 * @throws {CassetteError} when none or several have it
 */
export function takeNamed({ file, cassette }: CassetteFile, id: string): Trace {
  const found = Object.keys(cassette.traces).filter((key) => key.startsWith(id));
  if (found.length === 1) return cassette.traces[found[0]!]!;
  const what = found.length === 0 ? "no take" : "more than one take";
  throw new CassetteError(`${file}: ${what} begins with ${id}; there are ${Object.keys(cassette.traces).join(", ")}.`);
}

/** What two takes say differently, a line each: text, tools, usage, timing, error. Timing alone is no difference. */
export function takeDifferences(before: Trace, after: Trace): { lines: string[]; same: boolean } {
  const said = (trace: Trace) => ({
    text: timelineText(trace.response_timeline),
    tool_calls: trace.response_timeline.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function)),
    finish_reason: trace.response_timeline.at(-1)?.finish_reason,
    usage: trace.usage,
    exception_boundary: trace.exception_boundary,
  });
  const found = differences(said(before), said(after));
  const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";
  const lines = found.map(({ pointer, want, got }) => `${pointer.slice(1)}: ${shown(want)} -> ${shown(got)}`);
  const timing = differences(before.network_metrics, after.network_metrics);
  lines.push(...timing.map(({ pointer, want, got }) => `${pointer.slice(1)}: ${shown(want)} -> ${shown(got)}`));
  return { lines, same: found.length === 0 };
}

/**
 * Puts the takes of one folder into another. Cassettes of the same call become one, with the newest five takes.
 * @returns the files that were written
 */
export function merge(from: string, into: string): string[] {
  const there = cassetteFiles(into).length > 0 ? openCassettes(into) : [];
  return openCassettes(from).map(({ file, text, cassette }) => {
    const same = there.find(
      (other) => identityOf(other.cassette) === identityOf(cassette) && identityOf(cassette) !== "",
    );
    if (same !== undefined) {
      writeWholeFileSync(same.file, formatCassette(joined(same.cassette, cassette), same));
      return same.file;
    }
    let target = join(into, relative(from, file) || basename(file));
    for (let copy = 2; statSync(target, { throwIfNoEntry: false }) !== undefined; copy++) {
      target = join(dirname(target), `${basename(file, ".json")}-${copy}.json`);
    }
    mkdirSync(dirname(target), { recursive: true });
    writeWholeFileSync(target, text);
    return target;
  });
}

/** Empty where nothing tells a cassette from others. */
function identityOf({ scenario, stuntdouble: identity }: Cassette): string {
  if (identity?.fingerprint === undefined) return "";
  const { invoker, filename, fingerprint, occurrence } = identity;
  return JSON.stringify([scenario, invoker, filename, fingerprint, occurrence]);
}

function joined(one: Cassette, other: Cassette): Cassette {
  const traces = { ...one.traces, ...other.traces };
  const at = (id: string): string => traces[id]?.stuntdouble?.recorded_at ?? "";
  const ids = [...new Set([...one.history_keys, ...other.history_keys])].filter((id) => traces[id] !== undefined);
  // Takes that do not say when they were made stay in their order, before those that do.
  const history = ids
    .sort((left, right) => (at(left) < at(right) ? -1 : at(left) > at(right) ? 1 : 0))
    .slice(-MOST_TAKES);
  return {
    ...one,
    latest_trace_id: history.at(-1)!,
    history_keys: history,
    traces: Object.fromEntries(history.map((id) => [id, traces[id]!])),
  };
}

/**
 * Gives a scenario another name, in its cassettes and in their folder.
 * @returns how many cassettes there were
 * @throws {CassetteError} when there is none, or the new name is taken
 */
export function rename(root: string, from: string, to: string): number {
  const all = openCassettes(root);
  const mine = all.filter(({ cassette }) => cassette.scenario === from);
  const names = [...new Set(all.map(({ cassette }) => cassette.scenario))];
  if (mine.length === 0)
    throw new CassetteError(`${root}: there is no scenario ${from}; there are ${names.join(", ")}.`);
  if (names.includes(to))
    throw new CassetteError(`${root}: there is a scenario ${to} already; merge would join the two.`);
  for (const opened of mine) {
    const inFolder = basename(dirname(opened.file)) === scenarioFolder(from);
    const target = inFolder
      ? join(dirname(dirname(opened.file)), scenarioFolder(to), basename(opened.file))
      : opened.file;
    mkdirSync(dirname(target), { recursive: true });
    writeWholeFileSync(target, formatCassette({ ...opened.cassette, scenario: to }, opened));
    if (target !== opened.file) rmSync(opened.file);
  }
  return mine.length;
}

/**
 * Brings cassettes into the form that is written today: takes that no history names are dropped, at most five are kept,
 * and the version is said.
 * @returns the files that were changed
 */
export function migrate(path: string): string[] {
  return openCassettes(path).flatMap((opened) => {
    const { cassette } = opened;
    const history = [...new Set(cassette.history_keys)].filter((id) => cassette.traces[id] !== undefined);
    if (!history.includes(cassette.latest_trace_id)) history.push(cassette.latest_trace_id);
    const kept = history.slice(-MOST_TAKES);
    const latest = kept.includes(cassette.latest_trace_id) ? cassette.latest_trace_id : kept.at(-1)!;
    const after: Cassette = {
      ...cassette,
      latest_trace_id: latest,
      history_keys: kept,
      traces: Object.fromEntries(kept.map((id) => [id, cassette.traces[id]!])),
      stuntdouble: { ...cassette.stuntdouble, format_version: FORMAT_VERSION },
    };
    const text = formatCassette(after, opened);
    if (text === opened.text) return [];
    writeWholeFileSync(opened.file, text);
    return [opened.file];
  });
}

/** For lists: which call of which scenario, and how many takes. */
export function listLine(root: string, { file, cassette }: CassetteFile): string[] {
  const trace = cassette.traces[cassette.latest_trace_id]!;
  const { model, provider } = trace.request_context;
  const occurrence = occurrenceOf(cassette);
  return [
    relative(root, file) || file,
    cassette.scenario,
    `${provider} ${model}`,
    `${cassette.history_keys.length} ${cassette.history_keys.length === 1 ? "take" : "takes"}`,
    trace.stuntdouble?.recorded_at ?? "",
    trace.exception_boundary.occurred
      ? (trace.exception_boundary.error_type ?? "error")
      : occurrence > 1
        ? `call ${occurrence}`
        : "",
  ];
}

const BAR = 40;

/** A take as lines for a terminal: each frame with its time, and a bar that shows it. */
export function showLines(trace: Trace): string[] {
  const { request_context: context, network_metrics: metrics, usage, exception_boundary: boundary } = trace;
  const total = Math.max(metrics.total_duration_ms, 1);
  const lines = [
    `take ${trace.trace_id}`,
    `${context.provider} ${context.model}, ${context.parameters.stream ? "streamed" : "unary"}, first byte ${metrics.ttfb_ms} ms, all of it ${metrics.total_duration_ms} ms`,
    ...context.messages.map(
      ({ role, content }) => `  ${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
    ),
  ];
  let at = 0;
  for (const { delta_ms: delta, chunk, tool_calls: calls = [], finish_reason: finish } of trace.response_timeline) {
    at += delta;
    const place = Math.min(BAR, Math.round((at / total) * BAR));
    const bar = `${"─".repeat(place)}●${" ".repeat(BAR - place)}`;
    const called = calls.map(({ function: { name, arguments: input } }) => ` ${name}(${input})`).join("");
    lines.push(
      `${at.toFixed(1).padStart(9)} ms ${bar} ${JSON.stringify(chunk)}${called}${finish === undefined ? "" : ` [${finish}]`}`,
    );
  }
  if (boundary.occurred) lines.push(`  ends with ${boundary.error_type ?? "an error"}: ${boundary.message ?? ""}`);
  lines.push(
    `${usage.prompt_tokens} + ${usage.completion_tokens} = ${usage.total_tokens} tokens${trace.raw_payload === undefined ? ", no raw payload" : ""}`,
  );
  return lines;
}
