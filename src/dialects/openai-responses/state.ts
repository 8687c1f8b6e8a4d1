import { ApiError } from "../api-error.ts";
import type { Memory } from "../operation.ts";
import { isObject, type JsonObject, type RawRequest } from "../raw-request.ts";

/** A response that later calls may ask for or go on from. */
export interface StoredResponse {
  /** As it is when it has run. */
  body: JsonObject;
  /** What was said before it, and what its own request added. */
  before: JsonObject[];
  own: JsonObject[];
  /** How far one that runs in the background has come; it moves on each time that it is asked for. */
  progress: "queued" | "in_progress" | "cancelled" | "ended";
}

export interface StoredConversation {
  body: JsonObject;
  items: JsonObject[];
  /** How many items there have been: ids of new ones are made of it. */
  count: number;
}

const responseKey = (id: string): string => `openai-response:${id}`;
const itemKey = (id: string): string => `openai-response-item:${id}`;
const conversationKey = (id: string): string => `openai-conversation:${id}`;

export function storeResponse(memory: Memory, response: StoredResponse): void {
  const id = String(response.body["id"]);
  memory.set(responseKey(id), response);
  for (const item of outputOf(response.body)) {
    if (typeof item["id"] === "string") memory.set(itemKey(item["id"]), item);
  }
}

export function findResponse(memory: Memory, id: string): StoredResponse | undefined {
  return memory.get(responseKey(id)) as StoredResponse | undefined;
}

/** @throws {ApiError} 404 */
export function getResponse(memory: Memory, id: string): StoredResponse {
  const stored = findResponse(memory, id);
  if (stored === undefined) throw notFound("Response", id);
  return stored;
}

/** @throws {ApiError} 404 */
export function deleteResponse(memory: Memory, id: string): void {
  for (const item of outputOf(getResponse(memory, id).body)) memory.delete(itemKey(String(item["id"])));
  memory.delete(responseKey(id));
}

/** Everything that has been said up to a response, the response itself included. */
export function responseItems(memory: Memory, id: string): JsonObject[] | undefined {
  const stored = findResponse(memory, id);
  return stored && [...stored.before, ...stored.own, ...outputOf(stored.body).filter(isSaid)];
}

/** Outputs that a response itself holds are of what the provider ran. */
function isSaid({ type }: JsonObject): boolean {
  return !String(type).endsWith("_output");
}

/** Finds the items of remembered responses by their ids. */
export function itemFinder(memory: Memory): (id: string) => JsonObject | undefined {
  return (id) => memory.get(itemKey(id)) as JsonObject | undefined;
}

export function outputOf(body: JsonObject): JsonObject[] {
  return Array.isArray(body["output"]) ? body["output"].filter(isObject) : [];
}

export function storeConversation(memory: Memory, id: string, conversation: StoredConversation): void {
  memory.set(conversationKey(id), conversation);
}

/** @throws {ApiError} 404 */
export function getConversation(memory: Memory, id: string): StoredConversation {
  const stored = findConversation(memory, id);
  if (stored === undefined) throw notFound("Conversation", id);
  return stored;
}

export function findConversation(memory: Memory, id: string): StoredConversation | undefined {
  return memory.get(conversationKey(id)) as StoredConversation | undefined;
}

/** @throws {ApiError} 404 */
export function deleteConversation(memory: Memory, id: string): void {
  if (!memory.delete(conversationKey(id))) throw notFound("Conversation", id);
}

export function conversationItems(memory: Memory, id: string): JsonObject[] | undefined {
  return findConversation(memory, id)?.items;
}

/** @returns the items as they are kept, each with an id */
export function addItems(memory: Memory, id: string, items: readonly JsonObject[]): JsonObject[] {
  const { body, items: before, count } = findConversation(memory, id) ?? emptyConversation(id);
  const added = storedItems(items, id, count);
  storeConversation(memory, id, { body, items: [...before, ...added], count: count + added.length });
  return added;
}

/** Of a conversation that was begun elsewhere. */
function emptyConversation(id: string): StoredConversation {
  return { body: { id, object: "conversation", created_at: 0, metadata: {} }, items: [], count: 0 };
}

/**
 * Input items as the provider gives them back: with an id, and texts as parts.
 * @param owner the id of the response or conversation that they belong to: theirs are made of it
 */
export function storedItems(items: readonly JsonObject[], owner: string, from = 0): JsonObject[] {
  return items.map((item, index) => {
    const type = item["type"] ?? "message";
    const { id = `${PREFIXES.get(String(type)) ?? "item"}_${owner.replace(/^[a-z]+_/, "")}i${from + index}` } = item;
    if (type !== "message") return { ...item, id };
    const { role, content } = item;
    const kind = role === "assistant" ? "output_text" : "input_text";
    const parts = typeof content === "string" ? [{ type: kind, text: content }] : content;
    return { ...item, id, type, status: item["status"] ?? "completed", role, content: parts };
  });
}

const PREFIXES = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["function_call_output", "fco"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctco"],
]);

/**
 * A page of a list, by `order`, `after` and `limit` of the query.
 * @throws {ApiError} 400 when `limit` is not from 1 to 100
 */
export function listPage(raw: RawRequest, items: readonly JsonObject[]): JsonObject {
  const limit = Number(raw.query.get("limit") ?? 20);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= 100)) {
    throw new ApiError({
      status: 400,
      message: "Invalid 'limit': expected an integer from 1 to 100.",
      param: "limit",
      code: "integer_out_of_range",
    });
  }
  const ordered = raw.query.get("order") === "asc" ? items : items.toReversed();
  const after = raw.query.get("after");
  const start = after === null ? 0 : ordered.findIndex((item) => item["id"] === after) + 1;
  return listOf(ordered.slice(start, start + limit), start + limit < ordered.length);
}

export function listOf(data: readonly JsonObject[], more = false): JsonObject {
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: more,
  };
}

export function notFound(kind: string, id: string): ApiError {
  return new ApiError({ status: 404, message: `${kind} with id '${id}' not found.` });
}
