import { stemOf } from "../ids.ts";
import { once } from "../once.ts";
import type { Memory } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { notFound, storedItems } from "./lists.ts";

/** How far a response that runs in the background has come; it moves on each time that it is asked for. */
type Progress = "queued" | "in_progress" | "cancelled" | "ended";

/** A response that later calls may ask for or go on from. */
export class StoredResponse {
  /** What was said before it, and what its own request added. */
  readonly before: readonly JsonObject[];
  readonly own: readonly JsonObject[];
  progress: Progress;
  readonly chunkSize: number | undefined;
  readonly #body: () => JsonObject;

  /**
   * @param body made when it is first asked for
   * @param chunkSize of its texts when they are streamed
   */
  constructor(
    body: () => JsonObject,
    before: readonly JsonObject[],
    own: readonly JsonObject[],
    progress: Progress,
    chunkSize?: number,
  ) {
    this.#body = once(body);
    this.before = before;
    this.own = own;
    this.progress = progress;
    this.chunkSize = chunkSize;
  }

  /** As it is when it has run. */
  get body(): JsonObject {
    return this.#body();
  }

  get output(): JsonObject[] {
    const { output } = this.body;
    return Array.isArray(output) ? output.filter(isObject) : [];
  }
}

const responseKey = (id: string): string => `openai-response:${id}`;
const itemKey = (id: string): string => `openai-response-item:${id}`;
const conversationKey = (id: string): string => `openai-conversation:${id}`;

/**
 * @param stem of the ids that were made for its items
 * @param itemIds those that its items had before
 */
export function storeResponse(
  memory: Memory,
  id: string,
  stem: string,
  itemIds: readonly string[],
  response: StoredResponse,
): void {
  memory.set(responseKey(id), response);
  for (const item of [stem, ...itemIds]) memory.set(itemKey(item), response);
}

/** @throws {ApiError} 404 */
export function getResponse(memory: Memory, id: string): StoredResponse {
  const stored = memory.get(responseKey(id)) as StoredResponse | undefined;
  if (stored === undefined) throw notFound("Response", id);
  return stored;
}

/** @throws {ApiError} 404 */
export function deleteResponse(memory: Memory, id: string): void {
  const ids = getResponse(memory, id).output.map((item) => String(item["id"]));
  for (const item of [...ids, ...ids.map(stemOf)]) memory.delete(itemKey(item));
  memory.delete(responseKey(id));
}

/** Everything that has been said up to a response, the response itself included; nothing where it is not remembered. */
export function responseItems(memory: Memory, id: string): JsonObject[] {
  const stored = memory.get(responseKey(id)) as StoredResponse | undefined;
  return stored === undefined ? [] : [...stored.before, ...stored.own, ...stored.output.filter(isSaid)];
}

/** Outputs that a response itself holds are of what the provider ran. */
function isSaid({ type }: JsonObject): boolean {
  return !String(type).endsWith("_output");
}

/** Finds the items of remembered responses by their ids. */
export function itemFinder(memory: Memory): (id: string) => JsonObject | undefined {
  return (id) => {
    const stored = memory.get(itemKey(id)) ?? memory.get(itemKey(stemOf(id)));
    return (stored as StoredResponse | undefined)?.output.find((item) => item["id"] === id);
  };
}

/** A conversation, which many responses add to. */
export class StoredConversation {
  readonly id: string;
  body: JsonObject;
  #items: JsonObject[] = [];
  /** How many items there have been: ids of new ones are made of it. */
  #count = 0;
  /** What has been added since somebody has looked. */
  #added: (() => readonly JsonObject[])[] = [];

  constructor(id: string, body: JsonObject = { id, object: "conversation", created_at: 0, metadata: {} }) {
    this.id = id;
    this.body = body;
  }

  get items(): readonly JsonObject[] {
    for (const added of this.#added.splice(0)) this.#keep(added());
    return this.#items;
  }

  /** @returns the items as they are kept, each with an id */
  add(items: readonly JsonObject[]): JsonObject[] {
    const before = this.items.length;
    this.#keep(items);
    return this.#items.slice(before);
  }

  /** The same, when somebody looks. */
  addLater(items: () => readonly JsonObject[]): void {
    this.#added.push(items);
  }

  remove(item: JsonObject): void {
    this.#items = this.items.filter((other) => other !== item);
  }

  #keep(items: readonly JsonObject[]): void {
    this.#items.push(...storedItems(items, this.id, this.#count));
    this.#count += items.length;
  }
}

export function storeConversation(memory: Memory, conversation: StoredConversation): void {
  memory.set(conversationKey(conversation.id), conversation);
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

/** One that was begun elsewhere begins here with what is added to it. */
export function knownConversation(memory: Memory, id: string): StoredConversation {
  const conversation = findConversation(memory, id) ?? new StoredConversation(id);
  storeConversation(memory, conversation);
  return conversation;
}
