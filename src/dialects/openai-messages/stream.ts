import type { Choice } from "../../chat/reply.ts";
import type { ChatFlavour } from "../openai-chat/flavour.ts";
import type { EncodeContext } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { annotationsOf, encodeAudio, encodeToolCall, logprobsOf, nativeChoice, thinkingPart } from "./response.ts";

/** Sends a piece of a message, and members of the choice that it belongs to. */
type Delta = (value: JsonObject, members?: JsonObject) => void;

/** The message of a choice in pieces: its role, the parts in their order, and what is told of it whole. */
export function streamMessage(
  choice: Choice,
  role: string,
  context: EncodeContext,
  flavour: ChatFlavour,
  delta: Delta,
): void {
  delta({ role, content: firstContent(choice), ...flavour.emptyDelta });
  streamParts(choice, context, flavour, delta);
  const audio = encodeAudio(choice, context, flavour);
  if (audio !== undefined) delta({ audio });
  const annotations = annotationsOf(choice, flavour);
  if (annotations !== undefined) delta({ annotations });
  const native = nativeChoice(choice, flavour).message;
  if (native !== undefined) delta(native);
}

/** A reply that has no text says so in its first chunk, as the provider does. */
function firstContent(choice: Choice): string | null {
  return choice.parts.some((part) => part.type === "text") || choice.parts.length === 0 ? "" : null;
}

function streamParts(choice: Choice, context: EncodeContext, flavour: ChatFlavour, delta: Delta): void {
  const logprobs = logprobsOf(choice);
  let calls = 0;
  for (const part of choice.parts) {
    switch (part.type) {
      case "text":
        streamText(part.text, part.logprobs === logprobs ? logprobs : undefined, context, delta);
        break;
      case "refusal":
        for (const piece of context.pieces(part.text)) delta({ refusal: piece });
        break;
      case "reasoning":
        for (const piece of context.pieces(part.text)) {
          delta(
            flavour.reasoning === "thinking parts"
              ? { content: [thinkingPart(piece)] }
              : { [flavour.reasoning]: piece },
          );
        }
        break;
      case "opaque":
      case "toolCall": {
        const call = encodeToolCall(part, context, flavour);
        if (call === undefined) break;
        const index = calls++;
        if (part.type === "opaque" || flavour.wholeCalls) {
          delta({ tool_calls: [{ index, ...call }] });
          break;
        }
        delta({ tool_calls: [{ index, ...call, function: { name: part.name, arguments: "" } }] });
        for (const piece of context.pieces(part.arguments)) {
          delta({ tool_calls: [{ index, function: { arguments: piece } }] });
        }
        break;
      }
      case "media":
      case "webSearch":
        break;
    }
  }
}

/** With log probabilities a chunk holds one token, as long as the tokens are the text. */
function streamText(text: string, logprobs: unknown, context: EncodeContext, delta: Delta): void {
  const tokens = isObject(logprobs) && Array.isArray(logprobs["content"]) ? logprobs["content"] : undefined;
  if (
    tokens?.every((token) => isObject(token) && typeof token["token"] === "string") &&
    tokens.map((token) => token.token).join("") === text
  ) {
    for (const token of tokens) delta({ content: token.token }, { logprobs: { content: [token], refusal: null } });
    return;
  }
  let first = true;
  for (const piece of context.pieces(text)) {
    delta({ content: piece }, first && logprobs !== undefined ? { logprobs } : undefined);
    first = false;
  }
}
