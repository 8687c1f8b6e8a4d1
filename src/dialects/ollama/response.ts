import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Choice,
  type Finish,
  joinedText,
  nativeMembers,
  partsOf,
  type ToolCallPart,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const OLLAMA = "ollama";

/** How a reply's text stands: in a message, or by itself as `/api/generate` has it. */
export type Form = (content: string, thinking: string | undefined, calls: JsonObject[], role?: string) => JsonObject;

export const chatForm: Form = (content, thinking, calls, role = "assistant") => ({
  message: {
    role,
    content,
    ...(thinking !== undefined && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  },
});

export const generateForm: Form = (response, thinking, calls) => ({
  response,
  ...(thinking !== undefined && { thinking }),
  ...(calls.length > 0 && { tool_calls: calls }),
});

/**
 * Encodes the unary reply.
 * @see https://docs.ollama.com/api/chat
 */
export function encodeOllama(form: Form, reply: ChatReply, context: EncodeContext): JsonObject {
  const parts = partsOf(reply);
  const calls = parts
    .filter((part) => part.type === "toolCall")
    .map((call, index) => encodeToolCall(call, index, context));
  return {
    ...head(reply, context),
    ...form(joinedText(parts, "text", "refusal") ?? "", joinedText(parts, "reasoning"), calls, reply.envelope?.role),
    ...end(reply, context),
  };
}

/** What begins each line. */
export function head({ envelope }: ChatReply, context: EncodeContext): JsonObject {
  const recorded = members(envelope?.native)["created_at"];
  const created =
    envelope?.created === undefined ? context.createdIso : new Date(envelope.created * 1000).toISOString();
  return { model: envelope?.model ?? context.model, created_at: recorded ?? created };
}

/** How the reply ended, and what it took. */
export function end(reply: ChatReply, context: EncodeContext): JsonObject {
  const { created_at: _, ...others } = members(reply.envelope?.native);
  return {
    done: true,
    done_reason: doneReason(reply.choices[0]?.finish),
    ...encodeUsage(reply, context),
    ...members(reply.choices[0]?.native),
    ...others,
  };
}

function members(native: Choice["native"]): JsonObject {
  return nativeMembers(native, OLLAMA) ?? {};
}

export function encodeToolCall(call: ToolCallPart, index: number, context: EncodeContext): JsonObject {
  return {
    id: call.id ?? context.id("call_"),
    function: { index, name: call.name, arguments: parseArguments(call.arguments), ...members(call.native) },
  };
}

/** Models that call tools have stopped, here. */
function doneReason(finish: Finish | undefined): string {
  if (finish?.native?.dialect === OLLAMA) return finish.native.value;
  return finish?.reason === "length" ? "length" : "stop";
}

// Of a model, in nanoseconds: an answer is the same bytes each time.
const LOAD_DURATION = 1_000_000;
const PROMPT_DURATION = 10_000_000;
const DURATION_OF_TOKEN = 10_000_000;

function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = nativeMembers(usage?.raw, OLLAMA);
  if (own !== undefined) return own;
  const { prompt, completion } = tokenCounts(reply, context);
  const duration = completion * DURATION_OF_TOKEN;
  return {
    total_duration: LOAD_DURATION + PROMPT_DURATION + duration,
    load_duration: LOAD_DURATION,
    prompt_eval_count: prompt,
    prompt_eval_duration: PROMPT_DURATION,
    eval_count: completion,
    eval_duration: duration,
  };
}
