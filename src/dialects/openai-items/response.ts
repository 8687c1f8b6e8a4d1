import {
  type ChatReply,
  type MediaPart,
  nativeMembers,
  nativeOf,
  type Part,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
} from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export const OPENAI_RESPONSES = "openai-responses";

export interface ItemsVariant extends Record<string, unknown> {
  /** Whether the request asks for encrypted reasoning. */
  encrypted: boolean;
  /** Names of the custom tools that the request offers, as JSON: their calls have an item of their own. */
  custom: string;
  /** Whether reasoning has a status, as every other item has. OpenAI's has none. */
  reasoningStatus?: boolean;
}

/** The output items of a reply. */
export function encodeItems(reply: ChatReply, context: EncodeContext<ItemsVariant>): JsonObject[] {
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
    const own = "native" in part && part.type !== "media" ? nativeMembers(part.native, OPENAI_RESPONSES) : undefined;
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
function encodeItem(part: Part, context: EncodeContext<ItemsVariant>): JsonObject[] {
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
        {
          id,
          type: "image_generation_call",
          status: "completed",
          result: part.data ?? null,
          ...nativeMembers(part.native, OPENAI_RESPONSES),
        },
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
function encodeReasoning(part: ReasoningPart, context: EncodeContext<ItemsVariant>): JsonObject[] {
  const { encrypted: wanted } = context.variant;
  // Of reasoning that another provider sent encrypted there is nothing else to show.
  if (part.redacted !== undefined && !wanted) return [];
  const summary = part.summary ?? (part.text === "" ? [] : [part.text]);
  const content = part.summary === undefined || part.text === "" ? [] : [{ type: "reasoning_text", text: part.text }];
  const own = nativeMembers(part.native, OPENAI_RESPONSES);
  const id = own?.["id"] ?? context.id("rs_");
  const encrypted = part.encrypted ?? (wanted ? (part.redacted ?? part.signature ?? context.id("gAAAAAB")) : undefined);
  return [
    {
      id,
      type: "reasoning",
      summary: summary.map((text) => ({ type: "summary_text", text })),
      ...(content.length > 0 && { content }),
      ...(context.variant.reasoningStatus && { status: "completed" }),
      ...(encrypted !== undefined && { encrypted_content: encrypted }),
      ...own,
    },
  ];
}

function encodeToolCall(part: ToolCallPart, context: EncodeContext<ItemsVariant>): JsonObject {
  const own = nativeMembers(part.native, OPENAI_RESPONSES);
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

/** The ids that items of a reply have from where they were recorded, or written. */
export function ownItemIds(reply: ChatReply): string[] {
  const ids = (reply.choices[0]?.parts ?? []).map((part) => {
    if (part.type === "opaque")
      return part.dialect === OPENAI_RESPONSES && isObject(part.value) ? part.value["id"] : undefined;
    return "native" in part ? nativeMembers(part.native, OPENAI_RESPONSES)?.["id"] : undefined;
  });
  return ids.filter((id) => typeof id === "string");
}
