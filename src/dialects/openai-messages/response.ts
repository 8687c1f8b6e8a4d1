import { type Choice, choiceText, joinedText, nativeMembers, nativeOf, type Part } from "../../chat/reply.ts";
import type { ChatFlavour } from "../openai-chat/flavour.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

/** The message of a choice, whole. */
export function encodeMessage(choice: Choice, role: string, context: EncodeContext, flavour: ChatFlavour): JsonObject {
  const refusal = joinedText(choice.parts, "refusal");
  const reasoning = joinedText(choice.parts, "reasoning");
  const calls = choice.parts.flatMap((part) => encodeToolCall(part, context, flavour) ?? []);
  const message: JsonObject = {
    role,
    content: joinedText(choice.parts, "text") ?? null,
    ...flavour.emptyMessage,
  };
  if (refusal !== undefined) message["refusal"] = refusal;
  if (reasoning !== undefined) {
    if (flavour.reasoning === "thinking parts") message["content"] = contentParts(choice);
    else message[flavour.reasoning] = reasoning;
  }
  if (calls.length > 0) message["tool_calls"] = calls;
  const audio = encodeAudio(choice, context, flavour);
  if (audio !== undefined) message["audio"] = audio;
  const annotations = annotationsOf(choice, flavour);
  if (annotations !== undefined) message["annotations"] = annotations;
  return { ...message, ...nativeChoice(choice, flavour).message };
}

/** Text and thoughts as parts of one content. */
function contentParts(choice: Choice): JsonObject[] {
  return choice.parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "reasoning" ? [thinkingPart(part.text)] : [];
  });
}

export function thinkingPart(text: string): JsonObject {
  return { type: "thinking", thinking: [{ type: "text", text }] };
}

/** A call, or undefined for what is none: of tools that are no functions it is carried as it came. */
export function encodeToolCall(part: Part, context: EncodeContext, { dialect }: ChatFlavour): JsonObject | undefined {
  switch (part.type) {
    case "opaque":
      if (part.dialect !== dialect) return undefined;
      return isObject(part.value) ? part.value : {};
    case "toolCall":
      return {
        id: part.id ?? context.id("call_"),
        type: "function",
        function: { name: part.name, arguments: part.arguments },
        ...nativeMembers(part.native, dialect),
      };
    default:
      return undefined;
  }
}

/** @see https://platform.openai.com/docs/guides/audio */
export function encodeAudio(choice: Choice, context: EncodeContext, { dialect }: ChatFlavour): JsonObject | undefined {
  const part = choice.parts.find((candidate) => candidate.type === "media" && candidate.mime.startsWith("audio/"));
  if (part?.type !== "media") return undefined;
  return {
    id: context.id("audio_"),
    data: part.data ?? "",
    expires_at: context.created,
    transcript: part.transcript ?? choiceText(choice),
    ...nativeMembers(part.native, dialect),
  };
}

export function annotationsOf({ parts }: Choice, { dialect }: ChatFlavour): unknown {
  const found = parts.map((part) => (part.type === "text" ? nativeOf(part.annotations, dialect) : undefined));
  return found.find((annotations) => annotations !== undefined);
}

export function logprobsOf(choice: Choice): unknown {
  for (const part of choice.parts) if (part.type === "text" && part.logprobs !== undefined) return part.logprobs;
  return undefined;
}

/** Members that were recorded beside those that have a place: `{ choice: {…}, message: {…} }`. */
export function nativeChoice(choice: Choice, { dialect }: ChatFlavour): { choice?: JsonObject; message?: JsonObject } {
  const { choice: ofChoice, message } = nativeMembers(choice.native, dialect) ?? {};
  return { ...(isObject(ofChoice) && { choice: ofChoice }), ...(isObject(message) && { message }) };
}
