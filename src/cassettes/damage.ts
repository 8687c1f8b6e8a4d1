import { isDeeperThan, isObject, MAX_DEPTH } from "../dialects/raw-request.ts";
import { describe as inWords } from "../fixtures/faults.ts";
import { pointerSegment } from "../wire/json-pointer.ts";
import { CassetteError, LARGEST_CASSETTE_BYTES } from "./format.ts";
import { validate } from "./generated/validate-cassette.js";
import { type Cassette, MOST_TAKES, type TimelineFrame, type Trace } from "./types.ts";

/** One thing that is wrong with a cassette. */
export interface Damage {
  /** JSON Pointer; empty for the file as a whole. */
  pointer: string;
  /** What is wrong, what was expected, what to do. */
  message: string;
}

/**
 * The cassette that a text is, if it can be replayed: its form is right, and the take that is to be replayed is there.
 * @throws {CassetteError} with every reason why it cannot
 */
export function parseCassette(text: string, name: string): Cassette {
  const { cassette, damages } = readForm(text);
  if (cassette !== undefined) return cassette;
  throw new CassetteError(
    `${name} is no cassette that can be replayed:\n${damages.map(({ pointer, message }) => `  ${pointer === "" ? "" : `${pointer}: `}${message}`).join("\n")}`,
  );
}

/** All that is wrong with a cassette's text, and the cassette if its form is right. */
export function inspect(text: string): { cassette?: Cassette; damages: Damage[] } {
  const { cassette, damages } = readForm(text);
  return cassette === undefined ? { damages } : { cassette, damages: damagesOf(cassette) };
}

/** What is told of a file that is too large to be read. */
export function tooLarge(bytes: number): Damage {
  const megabytes = (count: number): string => `${Math.round(count / 1024 / 1024)} MB`;
  return {
    pointer: "",
    message: `the file has ${megabytes(bytes)}, and more than ${megabytes(LARGEST_CASSETTE_BYTES)} are not read; record it anew without raw payload (--no-raw), or split its scenario`,
  };
}

function readForm(text: string): { cassette?: Cassette; damages: Damage[] } {
  const fault = (message: string, pointer = ""): { damages: Damage[] } => ({ damages: [{ pointer, message }] });
  if (text.trim() === "") return fault("the file is empty; record it anew");
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const cut = /end of JSON input|Unterminated/i.test((error as Error).message);
    return fault(
      cut
        ? `the JSON breaks off at the end of the file (${text.length} characters); restore it from version control, or record it anew`
        : `it is not JSON: ${(error as Error).message}`,
    );
  }
  if (!isObject(value)) return fault("expected an object with scenario, latest_trace_id, history_keys and traces");
  if (isDeeperThan(value, MAX_DEPTH)) return fault(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (!validate(value)) {
    return { damages: (validate.errors ?? []).map((error) => inWords(error, value)) };
  }
  const cassette = value as unknown as Cassette;
  if (Object.keys(cassette.traces).length === 0) return fault("there is no take in it; record it anew", "/traces");
  if (!Object.hasOwn(cassette.traces, cassette.latest_trace_id)) {
    return fault(
      `it names ${shown(cassette.latest_trace_id)}, and there is no such take; there are ${Object.keys(cassette.traces).join(", ")}`,
      "/latest_trace_id",
    );
  }
  return { cassette, damages: [] };
}

function damagesOf(cassette: Cassette): Damage[] {
  const damages: Damage[] = [];
  const add = (pointer: string, message: string): void => void damages.push({ pointer, message });
  const { history_keys: history, traces, latest_trace_id: latest } = cassette;
  history.forEach((key, index) => {
    if (!Object.hasOwn(traces, key)) add(`/history_keys/${index}`, `it names ${shown(key)}, and there is no such take`);
    if (history.indexOf(key) < index) add(`/history_keys/${index}`, `${shown(key)} stands here for the second time`);
  });
  if (history.length > MOST_TAKES) {
    add("/history_keys", `${history.length} takes; at most ${MOST_TAKES} are kept, and the oldest leaves first`);
  }
  if (!history.includes(latest)) add("/latest_trace_id", `${shown(latest)} is not in history_keys`);
  for (const [key, trace] of Object.entries(traces)) {
    const pointer = `/traces${pointerSegment(key)}`;
    if (!history.includes(key)) add(pointer, "this take is not in history_keys, so nothing would ever evict it");
    if (!/^[0-9a-f]{32}$/.test(key)) add(pointer, "a trace id has 32 hexadecimal digits in lower case");
    if (trace.trace_id !== key)
      add(`${pointer}/trace_id`, `expected ${shown(key)}, but it is ${shown(trace.trace_id)}`);
    for (const damage of traceDamages(trace)) add(pointer + damage.pointer, damage.message);
  }
  return damages;
}

function traceDamages(trace: Trace): Damage[] {
  const damages: Damage[] = [];
  const add = (pointer: string, message: string): void => void damages.push({ pointer, message });
  const { response_timeline: timeline, network_metrics: metrics, usage, exception_boundary: boundary } = trace;
  const { stream } = trace.request_context.parameters;
  if (metrics.ttfb_ms > metrics.total_duration_ms) {
    add(
      "/network_metrics/ttfb_ms",
      `${metrics.ttfb_ms} ms is more than the whole call took (${metrics.total_duration_ms} ms)`,
    );
  }
  const sum = usage.prompt_tokens + usage.completion_tokens;
  if (usage.total_tokens !== sum) {
    add(
      "/usage/total_tokens",
      `expected ${sum}, the sum of prompt_tokens and completion_tokens, but it is ${usage.total_tokens}`,
    );
  }
  const finish = timeline.findIndex((frame) => frame.finish_reason !== undefined);
  if (finish >= 0 && finish < timeline.length - 1) {
    add(
      `/response_timeline/${finish}/finish_reason`,
      `only the last frame carries it, but ${timeline.length - 1 - finish} more follow`,
    );
  }
  timeline.forEach((frame, index) => {
    for (const damage of callDamages(frame, index === timeline.length - 1)) {
      add(`/response_timeline/${index}${damage.pointer}`, damage.message);
    }
  });
  const [first] = timeline;
  if (!boundary.occurred && timeline.length === 0) add("/response_timeline", "expected at least one frame");
  if (!stream && timeline.length > 1) {
    add("/response_timeline", `a reply that is not streamed is one frame, but there are ${timeline.length}`);
  }
  if (first !== undefined) {
    const expected = stream ? metrics.ttfb_ms : 0;
    if (first.delta_ms !== expected) {
      add(
        "/response_timeline/0/delta_ms",
        `expected ${expected}${stream ? ", as ttfb_ms has it" : " in a reply that is not streamed"}, but it is ${first.delta_ms}`,
      );
    }
  }
  if (!boundary.occurred) {
    for (const name of ["error_type", "message"] as const) {
      if (boundary[name] !== undefined) add(`/exception_boundary/${name}`, "there is one although nothing occurred");
    }
  }
  const raw = trace.raw_payload;
  if (raw !== undefined) {
    if (stream && raw.sync_response !== undefined && !boundary.occurred) {
      add("/raw_payload/sync_response", "the call was streamed; expected stream_chunks");
    }
    if (!stream && raw.stream_chunks !== undefined) {
      add("/raw_payload/stream_chunks", "the call was not streamed; expected sync_response");
    }
  }
  return damages;
}

function callDamages(frame: TimelineFrame, isLast: boolean): Damage[] {
  const damages: Damage[] = [];
  const { tool_calls: calls } = frame;
  if (calls === undefined) return damages;
  if (!isLast) damages.push({ pointer: "/tool_calls", message: "tool calls stand in the last frame" });
  else if (calls.length > 0 && frame.finish_reason !== undefined && frame.finish_reason !== "tool_calls") {
    damages.push({
      pointer: "/finish_reason",
      message: `expected "tool_calls", but it is ${shown(frame.finish_reason)}`,
    });
  }
  return damages;
}

function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
