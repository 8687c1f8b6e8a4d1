import { isDeepStrictEqual } from "node:util";
import type { Frame } from "../chat/frames.ts";
import { type ChatReply, type Choice, choiceText, type Part } from "../chat/reply.ts";
import type { TimelineFrame, TimelineToolCall, Trace, TraceUsage } from "./types.ts";

/** Text deltas within so many milliseconds become one frame, unless said otherwise. */
export const DEFAULT_TICK_MS = 100;

/**
 * The first choice of a streamed reply as frames of a timeline. Texts that come within a tick of the frame before are
 * joined; the first one never waits, and the end waits for nothing.
 * @param tickMs 0 keeps every delta
 */
export function streamTimeline(frames: readonly Frame[], reply: ChatReply, tickMs: number): TimelineFrame[] {
  const parts = reply.choices[0]?.parts ?? [];
  const timeline: TimelineFrame[] = [];
  let heldText = "";
  let framedAtMs = 0;
  let emittedAtMs = 0;
  let endedAtMs: number | undefined;
  let lastAtMs = 0;
  const emit = (atMs: number, end: Partial<TimelineFrame> = {}): void => {
    const at = rounded(atMs);
    timeline.push({ delta_ms: rounded(at - framedAtMs), chunk: heldText, ...end });
    framedAtMs = at;
    emittedAtMs = atMs;
    heldText = "";
  };
  for (const { atMs, choice, part, event } of frames) {
    lastAtMs = atMs;
    if (choice !== 0) continue;
    // Of a stream that was cut, the end is ours and not the provider's.
    if (event.type === "finish" && event.finish.native !== undefined) endedAtMs ??= atMs;
    const text = parts[part]?.type === "text" ? textOf(event) : "";
    if (text === "") continue;
    heldText += text;
    if (timeline.length === 0 || atMs - emittedAtMs >= tickMs) emit(atMs);
  }
  const end = endOf(reply.choices[0], endedAtMs !== undefined);
  if (Object.keys(end).length > 0 || heldText !== "") emit(endedAtMs ?? lastAtMs, end);
  return timeline;
}

function textOf(event: Frame["event"]): string {
  if (event.type === "start" && event.part.type === "text") return event.part.text;
  return event.type === "delta" && event.field === "text" ? event.value : "";
}

/** A reply that is not streamed as the one frame of a timeline. */
export function unaryTimeline(reply: ChatReply): TimelineFrame[] {
  const [choice] = reply.choices;
  const finished = choice?.finish.native !== undefined;
  return [{ delta_ms: 0, chunk: choice === undefined ? "" : choiceText(choice), ...endOf(choice, finished) }];
}

/** @param finished whether the provider had said why it stopped */
function endOf(choice: Choice | undefined, finished: boolean): Partial<TimelineFrame> {
  if (choice === undefined) return {};
  const calls = toolCallsOf(choice);
  return {
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(finished && { finish_reason: finishWord(choice, calls.length > 0) }),
  };
}

/** The provider's own word, but for tool calls: the format has one for those. */
export function finishWord({ finish }: Choice, calls: boolean): string {
  return calls ? "tool_calls" : (finish.native?.value ?? finish.reason);
}

export function toolCallsOf(choice: Choice): TimelineToolCall[] {
  return choice.parts
    .filter((part) => part.type === "toolCall")
    .map((part, index) => ({
      id: part.id ?? `call_${index}`,
      type: "function" as const,
      function: { name: part.name, arguments: part.arguments },
    }));
}

/** Unknown counts are 0; the total is the sum, whatever else the provider counts into its own. */
export function usageOf({ usage }: Pick<ChatReply, "usage">): TraceUsage {
  const { promptTokens: prompt = 0, completionTokens: completion = 0 } = usage ?? {};
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** All text of a timeline. */
export function timelineText(timeline: readonly TimelineFrame[]): string {
  return timeline.map(({ chunk }) => chunk).join("");
}

/**
 * The reply that a take says: what the timeline says, and beside it what the timeline has no place for, as long as
 * nobody has edited the timeline since.
 * @param words the providers' words for why they stopped, and ours
 */
export function replyOf(trace: Trace, words: Readonly<Record<string, string>>): ChatReply {
  const plain = plainReply(trace, words);
  const { reply } = trace.stuntdouble ?? {};
  return reply !== undefined && saysTheSame(reply, plain)
    ? { ...reply, usage: { ...reply.usage, ...plain.usage } }
    : plain;
}

function plainReply({ response_timeline: timeline, usage }: Trace, words: Readonly<Record<string, string>>): ChatReply {
  const text = timelineText(timeline);
  const calls = timeline.flatMap(({ tool_calls: called = [] }) => called);
  const word = timeline.at(-1)?.finish_reason ?? (calls.length > 0 ? "tool_calls" : "stop");
  const parts: Part[] = [
    ...(text !== "" || calls.length === 0 ? [{ type: "text" as const, text }] : []),
    ...calls.map(
      ({ id, function: { name, arguments: input } }): Part => ({ type: "toolCall", id, name, arguments: input }),
    ),
  ];
  return {
    choices: [{ parts, finish: { reason: Object.hasOwn(words, word) ? words[word]! : word } }],
    usage: {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      totalTokens: usage.total_tokens,
    },
  };
}

/** Whether a timeline holds all of a reply. */
export function isPlain(reply: ChatReply): boolean {
  const [choice, ...others] = reply.choices;
  if (choice === undefined || others.length > 0) return false;
  const texts = choice.parts.filter(({ type }) => type === "text");
  const firstCall = choice.parts.findIndex(({ type }) => type === "toolCall");
  return (
    texts.length <= 1 &&
    (texts.length === 0 || firstCall < 0 || choice.parts.indexOf(texts[0]!) < firstCall) &&
    choice.parts.every(
      (part) =>
        (part.type === "text" && Object.keys(part).length === 2) ||
        (part.type === "toolCall" &&
          Object.keys(part).every((name) => ["type", "id", "name", "arguments"].includes(name))),
    )
  );
}

function saysTheSame(reply: ChatReply, plain: ChatReply): boolean {
  const [own] = reply.choices;
  const [other] = plain.choices;
  return (
    own !== undefined &&
    choiceText(own) === choiceText(other!) &&
    isDeepStrictEqual(toolCallsOf(own), toolCallsOf(other!))
  );
}

/** To a tenth of a millisecond: more digits are noise of the machine. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
