import {
  type ChatReply,
  type Choice,
  type MediaPart,
  type Native,
  nativeOf,
  type Part,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
} from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { estimateCompletionTokens, estimatePromptTokens } from "../../chat/tokens.ts";
import type { Call, EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const OPENAI_RESPONSES = "openai-responses";

export interface ResponseVariant extends Record<string, unknown> {
  /** Whether the request asks for encrypted reasoning. */
  encrypted: boolean;
  /** Names of the custom tools that the request offers, as JSON: their calls have an item of their own. */
  custom: string;
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
  const native = members(envelope?.native);
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

/** The request as it was sent; one that asks for a stored response has no body. */
function bodyOf({ raw }: Call): JsonObject {
  return raw.body.length > 0 && isObject(raw.json) ? raw.json : {};
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

function members(native: Native | undefined): JsonObject | undefined {
  const own = nativeOf(native, OPENAI_RESPONSES);
  return isObject(own) ? own : undefined;
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

function encodeItems(reply: ChatReply, context: EncodeContext<ResponseVariant>): JsonObject[] {
  const items: JsonObject[] = [];
  // The provider gives one choice; of a reply with several it is the first.
  const parts = reply.choices[0]?.parts ?? [];
  const status = reply.choices[0]?.finish.reason === "length" ? "incomplete" : "completed";
  let message: { own: JsonObject | undefined; content: JsonObject[] } | undefined;
  for (const part of parts) {
    const content = encodeContent(part);
    if (content === undefined) {
      message = undefined;
      items.push(...encodeItem(part, context));
      continue;
    }
    const own = "native" in part && part.type !== "media" ? members(part.native) : undefined;
    if (message !== undefined && (own === undefined || own["id"] === message.own?.["id"])) {
      message.content.push(content);
      continue;
    }
    message = { own, content: [content] };
    items.push({
      id: own?.["id"] ?? context.id("msg_"),
      type: "message",
      status: part === parts.at(-1) ? status : "completed",
      content: message.content,
      role: reply.envelope?.role ?? "assistant",
      ...own,
    });
  }
  return items;
}

/** What stands inside a message. */
function encodeContent(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
      return encodeText(part);
    case "refusal":
      return { type: "refusal", refusal: part.text };
    case "media":
      return part.mime.startsWith("audio/") ? encodeAudio(part) : undefined;
    default:
      return undefined;
  }
}

function encodeText(part: TextPart): JsonObject {
  const annotations = nativeOf(part.annotations, OPENAI_RESPONSES);
  const tokens = isObject(part.logprobs) ? part.logprobs["content"] : part.logprobs;
  return {
    type: "output_text",
    annotations: Array.isArray(annotations) ? annotations : [],
    logprobs: Array.isArray(tokens) ? tokens : [],
    text: part.text,
  };
}

function encodeAudio(part: MediaPart): JsonObject {
  return { type: "output_audio", data: part.data ?? "", transcript: part.transcript ?? "" };
}

/** What is an item of its own. */
function encodeItem(part: Part, context: EncodeContext<ResponseVariant>): JsonObject[] {
  switch (part.type) {
    case "reasoning":
      return encodeReasoning(part, context);
    case "toolCall":
      return [encodeToolCall(part, context)];
    case "webSearch": {
      const action = { type: "search", query: part.query, queries: [part.query] };
      return [{ id: context.id("ws_"), type: "web_search_call", status: "completed", action }];
    }
    case "media": {
      const id = context.id("ig_");
      return [
        { id, type: "image_generation_call", status: "completed", result: part.data ?? null, ...members(part.native) },
      ];
    }
    case "opaque":
      return part.dialect === OPENAI_RESPONSES && isObject(part.value) ? [part.value] : [];
    case "text":
    case "refusal":
      return [];
  }
}

/** Whoever writes a fixture gives a reasoning as one text, which here is what a summary is. */
function encodeReasoning(part: ReasoningPart, context: EncodeContext<ResponseVariant>): JsonObject[] {
  const { encrypted: wanted } = context.variant;
  // Of reasoning that another provider sent encrypted there is nothing else to show.
  if (part.redacted !== undefined && !wanted) return [];
  const summary = part.summary ?? (part.text === "" ? [] : [part.text]);
  const content = part.summary === undefined || part.text === "" ? [] : [{ type: "reasoning_text", text: part.text }];
  const own = members(part.native);
  const id = own?.["id"] ?? context.id("rs_");
  const encrypted = part.encrypted ?? (wanted ? (part.redacted ?? part.signature ?? context.id("gAAAAAB")) : undefined);
  return [
    {
      id,
      type: "reasoning",
      summary: summary.map((text) => ({ type: "summary_text", text })),
      ...(content.length > 0 && { content }),
      ...(encrypted !== undefined && { encrypted_content: encrypted }),
      ...own,
    },
  ];
}

function encodeToolCall(part: ToolCallPart, context: EncodeContext<ResponseVariant>): JsonObject {
  const own = members(part.native);
  const custom =
    own === undefined
      ? (JSON.parse(context.variant.custom) as string[]).includes(part.name)
      : own["type"] === "custom_tool_call";
  return {
    id: own?.["id"] ?? context.id(custom ? "ctc_" : "fc_"),
    type: custom ? "custom_tool_call" : "function_call",
    status: "completed",
    [custom ? "input" : "arguments"]: part.arguments,
    call_id: part.id ?? context.id("call_"),
    name: part.name,
    ...own,
  };
}

function encodeUsage(reply: ChatReply, context: EncodeContext): unknown {
  const { usage } = reply;
  const own = nativeOf(usage?.raw, OPENAI_RESPONSES);
  if (own !== undefined) return own;
  const output = usage?.completionTokens ?? estimateCompletionTokens(reply);
  const input = usage?.promptTokens;
  const estimate = (call: Call): number => estimatePromptTokens(call.request as ChatRequest);
  return {
    input_tokens: input ?? context.echo(estimate),
    input_tokens_details: {
      cached_tokens: usage?.cachedTokens ?? 0,
      ...(usage?.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
    total_tokens:
      usage?.totalTokens ?? (input === undefined ? context.echo((call) => estimate(call) + output) : input + output),
  };
}
