import { parseArguments } from "../../chat/arguments.ts";
import {
  type ChatReply,
  type Finish,
  type MediaPart,
  type Native,
  nativeMembers,
  nativeOf,
  type Part,
  type ReasoningPart,
  reasoningText,
} from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { tokenCounts } from "../token-counts.ts";

export const GEMINI_INTERACTIONS = "gemini-interactions";

export interface InteractionVariant extends Record<string, unknown> {
  /** An agent was asked, not a model. */
  agent: boolean;
  /** Only what is stored has an id. */
  stored: boolean;
  /** It goes on from an interaction before. */
  continues: boolean;
  /** It has been started, and is fetched later. */
  background: boolean;
}

/**
 * Encodes the unary reply.
 * @see https://ai.google.dev/api/interactions-api
 */
export function encodeInteraction(reply: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const { background } = context.variant;
  const id = interactionId(reply, context);
  const steps = background ? undefined : encodeSteps(reply, context).map((step) => step.value);
  return {
    id,
    status: background ? "in_progress" : statusOf(reply),
    ...(!background && { usage: encodeUsage(reply, context) }),
    ...tail(reply, context),
    ...(steps && { steps }),
    ...identity(reply, context),
  };
}

export function interactionId({ envelope }: ChatReply, context: EncodeContext<InteractionVariant>): string {
  return context.variant.stored ? (envelope?.id ?? context.id("v1_")) : "";
}

/** What every interaction says of itself. */
export function identity({ envelope }: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const name = envelope?.model ?? context.model;
  const agent = members(envelope?.native)?.["agent"] ?? (context.variant.agent ? name : undefined);
  return { object: "interaction", ...(agent === undefined ? { model: name } : { agent }) };
}

/** What is told once, when the interaction is there. */
export function tail({ envelope, choices }: ChatReply, context: EncodeContext<InteractionVariant>): JsonObject {
  const created =
    envelope?.created === undefined ? context.createdIso : new Date(envelope.created * 1000).toISOString();
  return {
    created,
    updated: created,
    service_tier: envelope?.serviceTier ?? "standard",
    ...members(envelope?.native),
    ...members(choices[0]?.native),
    ...(context.variant.continues && {
      previous_interaction_id: context.echo((call) => (call.request as ChatRequest)["previous_interaction_id"]),
    }),
  };
}

function members(native: Native | undefined): JsonObject | undefined {
  return nativeMembers(native, GEMINI_INTERACTIONS);
}

/** One step of an interaction, and how it is spread over the events of a stream. */
export interface EncodedStep {
  value: JsonObject;
  /** As it begins in a stream. */
  start: JsonObject;
  /** The text that grows in pieces, and the events that hold one. */
  text?: { whole: string; delta(piece: string): JsonObject };
  /** What follows whole. */
  deltas: JsonObject[];
}

/** The provider gives one choice; of a reply with several it is the first. */
export function encodeSteps(reply: ChatReply, context: EncodeContext): EncodedStep[] {
  return (reply.choices[0]?.parts ?? []).flatMap((part) => encodePart(part, context));
}

function encodePart(part: Part, context: EncodeContext): EncodedStep[] {
  switch (part.type) {
    case "text":
      return [encodeText(part.text, nativeOf(part.annotations, GEMINI_INTERACTIONS))];
    // A refusal is an answer like any other here.
    case "refusal":
      return [encodeText(part.text, undefined)];
    case "reasoning":
      return encodeThought(part);
    case "toolCall": {
      const { name, signature } = part;
      const call = {
        type: "function_call",
        id: part.id ?? context.id("call_"),
        ...(signature !== undefined && { signature }),
        name,
        ...members(part.native),
      };
      return [
        {
          value: { ...call, arguments: parseArguments(part.arguments) },
          start: { ...call, arguments: {} },
          text: { whole: part.arguments, delta: (piece) => ({ type: "arguments_delta", arguments: piece }) },
          deltas: [],
        },
      ];
    }
    case "webSearch": {
      const id = context.id("search_");
      return [
        whole({ type: "google_search_call", id, arguments: { queries: [part.query] }, search_type: "web_search" }),
        whole({ type: "google_search_result", call_id: id, result: [] }),
      ];
    }
    case "media": {
      const content = encodeMedia(part);
      return [{ value: modelOutput([content]), start: { type: "model_output" }, deltas: [content] }];
    }
    case "opaque":
      return part.dialect === GEMINI_INTERACTIONS && isObject(part.value) ? [whole(part.value)] : [];
  }
}

function whole(value: JsonObject): EncodedStep {
  return { value, start: value, deltas: [] };
}

function modelOutput(content: JsonObject[]): JsonObject {
  return { type: "model_output", content };
}

function encodeText(text: string, annotations: unknown): EncodedStep {
  const given = annotations !== undefined;
  return {
    value: modelOutput([{ type: "text", text, ...(given && { annotations }) }]),
    start: { type: "model_output" },
    text: { whole: text, delta: (piece) => ({ type: "text", text: piece }) },
    deltas: given ? [{ type: "text_annotation_delta", annotations }] : [],
  };
}

function encodeThought(part: ReasoningPart): EncodedStep[] {
  const { signature } = part;
  const text = reasoningText(part);
  if (text === undefined) return [];
  const content = (piece: string): JsonObject => ({ type: "text", text: piece });
  return [
    {
      value: {
        type: "thought",
        ...(signature !== undefined && { signature }),
        ...(text !== "" && { summary: [content(text)] }),
        ...members(part.native),
      },
      start: { type: "thought", ...members(part.native) },
      text: { whole: text, delta: (piece) => ({ type: "thought_summary", content: content(piece) }) },
      deltas: signature === undefined ? [] : [{ type: "thought_signature", signature }],
    },
  ];
}

function encodeMedia({ mime, data, url, native }: MediaPart): JsonObject {
  const [kind] = mime.split("/", 1);
  return {
    type: kind === "image" || kind === "audio" || kind === "video" ? kind : "document",
    mime_type: mime,
    ...(data !== undefined && { data }),
    ...(url !== undefined && { uri: url }),
    ...members(native),
  };
}

export function statusOf({ choices }: ChatReply): string {
  return choices[0] === undefined ? "completed" : statusWord(choices[0].finish);
}

function statusWord({ native, reason }: Finish): string {
  if (native?.dialect === GEMINI_INTERACTIONS) return native.value;
  switch (reason) {
    case "stop":
    case "refusal":
      return "completed";
    case "tool_calls":
      return "requires_action";
    case "length":
      return "incomplete";
    case "pause":
      return "requires_continuation";
    case "content_filter":
    case "error":
      return "failed";
    default:
      return reason;
  }
}

/** Thoughts and what tools have read are counted beside the input and the output. */
export function encodeUsage(reply: ChatReply, context: EncodeContext): JsonObject {
  const { usage } = reply;
  const own = members(usage?.raw);
  if (own !== undefined) return own;
  const { prompt, completion, total } = tokenCounts(reply, context);
  const thought = usage?.reasoningTokens ?? 0;
  return {
    total_tokens: total,
    total_input_tokens: prompt,
    input_tokens_by_modality: [{ modality: "text", tokens: prompt }],
    total_cached_tokens: usage?.cachedTokens ?? 0,
    total_output_tokens: Math.max(0, completion - thought),
    total_tool_use_tokens: 0,
    total_thought_tokens: thought,
  };
}
