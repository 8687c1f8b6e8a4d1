import type { ChatReply } from "../../chat/reply.ts";
import type { ChatMessage, ChatRequest } from "../../chat/request.ts";
import { ApiError } from "../api-error.ts";
import { addStep, type Step } from "../gemini-steps/request.ts";
import { once } from "../once.ts";
import type { Call, Memory, Sent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

/** An interaction that was created with `store`, which is how they are created unless it is said otherwise. */
interface StoredInteraction {
  /** As it is fetched, once it has ended. */
  body(): JsonObject;
  /** The conversation up to its end, without the system instruction, which holds for one interaction only. */
  messages(): ChatMessage[];
  input: unknown;
  /** In the background, and nobody has asked for it since. */
  running: boolean;
  chunkSize: number;
}

/** An interaction that is fetched, and the pieces in which its texts were streamed. */
export interface Fetched {
  body: JsonObject;
  chunkSize: number;
}

/** Keeps an interaction for those who fetch it, or go on from it. */
export function rememberInteraction(
  { envelope }: ChatReply,
  { request, memory }: Call<ChatRequest>,
  sent: Sent<ChatRequest>,
): void {
  if (request["store"] === false) return;
  const body = once((): JsonObject => JSON.parse(sent.unary({ ...request, background: false })));
  const messages = once(() => {
    const said = request.messages.filter(({ role }) => role !== "system").map((message) => ({ ...message }));
    for (const step of body()["steps"] as Step[]) addStep(step, "steps", said);
    return said;
  });
  const stored: StoredInteraction = {
    body,
    messages,
    input: request["input"],
    running: request["background"] === true,
    chunkSize: sent.chunkSize,
  };
  memory.set(keyOf(envelope?.id ?? sent.firstId("v1_")), stored);
}

/** @throws {ApiError} 404 */
export function conversationOf(memory: Memory, id: string): ChatMessage[] {
  return find(memory, id).messages();
}

/**
 * The interaction as it is by now. One in the background has ended when it is first asked for.
 * @throws {ApiError} 404
 */
export function fetchInteraction(memory: Memory, id: string, withInput: boolean): Fetched {
  const stored = find(memory, id);
  stored.running = false;
  const { chunkSize, input } = stored;
  return { body: withInput ? { ...stored.body(), input } : stored.body(), chunkSize };
}

/** @throws {ApiError} 404 */
export function deleteInteraction(memory: Memory, id: string): JsonObject {
  find(memory, id);
  memory.delete(keyOf(id));
  return {};
}

/**
 * Ends an interaction that runs in the background.
 * @throws {ApiError} 404, or 400 when it has ended
 */
export function cancelInteraction(memory: Memory, id: string): JsonObject {
  const stored = find(memory, id);
  if (!stored.running) {
    throw new ApiError({ status: 400, message: `Interaction '${id}' does not run in the background, or has ended.` });
  }
  stored.running = false;
  const cancelled = { ...stored.body(), status: "cancelled", steps: [] };
  stored.body = () => cancelled;
  return cancelled;
}

const keyOf = (id: string): string => `interaction:${id}`;

function find(memory: Memory, id: string): StoredInteraction {
  const stored = memory.get(keyOf(id)) as StoredInteraction | undefined;
  if (stored !== undefined) return stored;
  throw new ApiError({
    status: 404,
    message: `Interaction '${id}' not found: it was not created here, not with 'store', or has been deleted since.`,
  });
}
