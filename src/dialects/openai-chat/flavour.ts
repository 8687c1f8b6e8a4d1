import type { ChatReply, Choice } from "../../chat/reply.ts";
import type { EncodeContext } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

export const OPENAI_CHAT = "openai-chat";

/** In what a provider of chat completions differs from OpenAI. */
export interface ChatFlavour {
  /** Whose the native members are. */
  dialect: string;
  /** What the ids of its replies begin with. */
  idPrefix: string;
  /** Where it says what was thought: in a member of the message, or in parts of its content. */
  reasoning: "reasoning_content" | "reasoning" | "thinking parts";
  /** Members of a message that are there although they hold nothing; `refusal` only where there is a place for one. */
  emptyMessage: JsonObject;
  /** Those that the first piece of a message has, beside its role and content. */
  emptyDelta: JsonObject;
  /** Members that every piece of a choice has, in a stream and whole. */
  emptyChoice: JsonObject;
  /**
   * Where a stream tells its usage: in a chunk of its own if the request asks for it, always in that with the
   * finish reason, in one that repeats that, or in Groq's own member and, if it is asked for, in a chunk of its own.
   */
  streamUsage: "asked" | "finish" | "repeated" | "x_groq";
  /** Streams have tool calls in one piece each, and clients read no other. */
  wholeCalls?: boolean;
  /** A comment that streams may have before their first event. */
  keepAlive?: string;
  /** Further members of every object. */
  members?(reply: ChatReply, context: EncodeContext, streamed: boolean): JsonObject;
  /** Further members of a choice that ends, beside those that were recorded. */
  ending?(choice: Choice, finishReason: string): JsonObject;
  /**
   * The usage, where it is not simply that which was given or that made of counts.
   * @param usage made of counts
   * @param own what was written or recorded for this provider
   */
  usage?(usage: JsonObject, own: JsonObject | undefined): JsonObject;
}

export const OPENAI: ChatFlavour = {
  dialect: OPENAI_CHAT,
  idPrefix: "chatcmpl-",
  reasoning: "reasoning_content",
  emptyMessage: { refusal: null },
  emptyDelta: { refusal: null },
  emptyChoice: { logprobs: null },
  streamUsage: "asked",
};
