import type { ChatReply, Choice } from "../chat/reply.ts";
import type { ApiError } from "./api-error.ts";
import { renderStream, type Stamp, streamErrorText } from "./encode.ts";
import type { Call } from "./operation.ts";

/** A name that nobody calls a tool by. */
const MARK = "_where_the_reply_would_have_ended_";

/** The same reply with other ends, by which the place where its end begins is found. */
interface Probes {
  stopped: ChatReply;
  cutShort: ChatReply;
  continued: ChatReply;
}

const probes = new WeakMap<ChatReply, Probes>();

/**
 * The chunks of a stream that fails when all is said but before the reply ends, as its provider tells of it. A
 * provider without an event for that just breaks off.
 * @param requestId as in the operation's `encodeStreamError`
 */
export function renderFailing(
  reply: ChatReply,
  error: ApiError,
  call: Call,
  stamp: Stamp,
  requestId: string,
  chunkSize?: number,
): string[] {
  const chunks = unfinished(reply, call, stamp, chunkSize);
  const event = streamErrorText(call, error, requestId, chunks.length);
  return event === undefined ? chunks : [...chunks, event];
}

/**
 * Dialects do not say which of their events belong to the end. Those from the first one on that differs when the
 * reply ends for another reason do; but where that one holds content too (Gemini), the chunk is taken as it is
 * when one more call follows it.
 */
function unfinished(reply: ChatReply, call: Call, stamp: Stamp, chunkSize: number | undefined): string[] {
  let probe = probes.get(reply);
  if (probe === undefined) {
    probe = {
      stopped: withLast(reply, ({ parts }) => ({ parts, finish: { reason: "stop" } })),
      cutShort: withLast(reply, ({ parts }) => ({ parts, finish: { reason: "length" } })),
      continued: withLast(reply, ({ parts, finish }) => ({
        parts: [...parts, { type: "toolCall", id: MARK, name: MARK, arguments: "{}" }],
        finish,
      })),
    };
    probes.set(reply, probe);
  }
  const render = (out: ChatReply): string[] => renderStream(out, call, stamp, chunkSize);
  const stopped = render(probe.stopped);
  const cutShort = render(probe.cutShort);
  const continued = render(probe.continued);
  const end = stopped.findIndex((chunk, index) => chunk !== cutShort[index]);
  const mark = continued.findIndex((chunk) => chunk.includes(MARK));
  return mark > end ? continued.slice(0, mark) : stopped.slice(0, Math.max(0, end));
}

function withLast(reply: ChatReply, change: (choice: Choice) => Choice): ChatReply {
  const choices = reply.choices.length > 0 ? reply.choices : [{ parts: [], finish: { reason: "stop" } }];
  return { ...reply, choices: [...choices.slice(0, -1), change(choices.at(-1)!)] };
}
