import { type ChatReply, type Choice, nativeMembers, nativeOf } from "../../chat/reply.ts";
import { encodeItems, type ItemsVariant, OPENAI_RESPONSES } from "../openai-items/response.ts";
import type { Call, EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export interface ResponseVariant extends ItemsVariant {
  /** Whether it is queued first, and runs after it has been answered. */
  background: boolean;
}

/**
 * Encodes the unary reply.
 * @see https://platform.openai.com/docs/api-reference/responses/object
 */
export function encodeResponse(reply: ChatReply, context: EncodeContext<ResponseVariant>): JsonObject {
  const response = encodeFinishedResponse(reply, context);
  return context.variant.background ? unfinished(response, "queued") : response;
}

/** The response as it is once it has run, or as far as it has when it was recorded. */
export function encodeFinishedResponse(reply: ChatReply, context: EncodeContext<ResponseVariant>): JsonObject {
  const { envelope } = reply;
  const head = { id: envelope?.id ?? context.id("resp_"), object: "response" };
  const native = nativeMembers(envelope?.native, OPENAI_RESPONSES);
  const status = statusOf(reply.choices[0], native);
  const output = encodeItems(reply, context);
  const response = {
    ...head,
    created_at: envelope?.created ?? context.created,
    status,
    background: echoed(context, "background", false),
    completed_at: status === "completed" ? context.created : null,
    error: status === "failed" ? errorOf(reply.choices[0]) : null,
    frequency_penalty: echoed(context, "frequency_penalty", 0),
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: echoed(context, "instructions"),
    max_output_tokens: echoed(context, "max_output_tokens"),
    max_tool_calls: echoed(context, "max_tool_calls"),
    model: envelope?.model ?? context.model,
    output,
    parallel_tool_calls: echoed(context, "parallel_tool_calls", true),
    presence_penalty: echoed(context, "presence_penalty", 0),
    previous_response_id: echoed(context, "previous_response_id"),
    prompt_cache_key: echoed(context, "prompt_cache_key"),
    prompt_cache_retention: echoed(context, "prompt_cache_retention"),
    reasoning: context.echo((call) => ({ effort: null, summary: null, ...asked(call, "reasoning") })),
    safety_identifier: echoed(context, "safety_identifier"),
    service_tier: envelope?.serviceTier ?? "default",
    store: echoed(context, "store", true),
    temperature: echoed(context, "temperature", 1),
    text: context.echo((call) => ({ format: { type: "text" }, verbosity: "medium", ...asked(call, "text") })),
    tool_choice: context.echo((call) => bodyOf(call)["tool_choice"] ?? "auto"),
    tools: context.echo((call) => bodyOf(call)["tools"] ?? []),
    top_logprobs: echoed(context, "top_logprobs", 0),
    top_p: echoed(context, "top_p", 1),
    truncation: echoed(context, "truncation", "disabled"),
    usage: status === "failed" && reply.usage === undefined ? null : encodeUsage(reply, context),
    user: echoed(context, "user"),
    metadata: echoed(context, "metadata", {}),
    conversation: context.echo((call) => conversationOf(bodyOf(call))),
    ...native,
  };
  return isUnfinished(status) ? unfinished(response, status) : response;
}

type Unfinished = "queued" | "in_progress" | "cancelled";

function isUnfinished(status: string): status is Unfinished {
  return status === "queued" || status === "in_progress" || status === "cancelled";
}

/** A response that has not run to its end: nothing of its end is told yet. */
export function unfinished(response: JsonObject, status: Unfinished): JsonObject {
  return {
    ...response,
    status,
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
}

/** The request as it was sent; one that asks for a stored response has none. */
function bodyOf({ raw }: Call): JsonObject {
  return isObject(raw.parsed) ? raw.parsed : {};
}

function asked(call: Call, name: string): JsonObject {
  const value = bodyOf(call)[name];
  return isObject(value) ? value : {};
}

function echoed(context: EncodeContext, name: string, otherwise: unknown = null): unknown {
  return context.echo((call) => bodyOf(call)[name] ?? otherwise);
}

function conversationOf({ conversation }: JsonObject): { id: unknown } | null {
  if (typeof conversation === "string") return { id: conversation };
  return isObject(conversation) ? { id: conversation["id"] } : null;
}

/** What was recorded as the reason is that of an incomplete response, or the status itself. */
function statusOf(choice: Choice | undefined, recorded: JsonObject | undefined): string {
  if (choice === undefined) return "completed";
  const { reason, native } = choice.finish;
  if (native?.dialect === OPENAI_RESPONSES) {
    return isObject(recorded?.["incomplete_details"]) ? "incomplete" : native.value;
  }
  switch (reason) {
    case "length":
      return "incomplete";
    case "content_filter":
    case "error":
      return "failed";
    default:
      return "completed";
  }
}

function errorOf(choice: Choice | undefined): JsonObject {
  return choice?.finish.reason === "content_filter"
    ? { code: "content_filter", message: "The response was filtered due to the content management policy." }
    : { code: "server_error", message: "The model failed to generate a response." };
}

function encodeUsage(reply: ChatReply, context: EncodeContext): unknown {
  const { usage } = reply;
  const own = nativeOf(usage?.raw, OPENAI_RESPONSES);
  if (own !== undefined) return own;
  const { prompt, completion, total } = tokenCounts(reply, context);
  return {
    input_tokens: prompt,
    input_tokens_details: {
      cached_tokens: usage?.cachedTokens ?? 0,
      ...(usage?.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
    total_tokens: total,
  };
}
