import { PlainView } from "../../chat/view.ts";
import { invalidType, missing } from "../openai-chat/check.ts";
import { checkItems } from "../openai-items/request.ts";
import { type Call, defineOperation } from "../operation.ts";
import { isObject, type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";
import { listOf, listPage, notFound } from "./lists.ts";
import { common, fromMemory } from "./responses.ts";
import { deleteConversation, getConversation, StoredConversation, storeConversation } from "./state.ts";

interface ConversationRequest {
  id: string;
  item: string;
  items: JsonObject[];
  metadata: JsonObject | undefined;
}

const PATH = "/v1/conversations";

function decodeConversation(raw: RawRequest): ConversationRequest {
  const body = raw.body.length === 0 ? {} : jsonObject(raw);
  const { items, metadata } = body;
  if (items !== undefined && items !== null && !Array.isArray(items)) throw invalidType("items", "an array", items);
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw invalidType("metadata", "an object", metadata);
  }
  return {
    id: raw.params["id"] ?? "",
    item: raw.params["item"] ?? "",
    items: Array.isArray(items) ? checkItems(items, "items") : [],
    metadata: metadata ?? undefined,
  };
}

function decodeNewItems(raw: RawRequest): ConversationRequest {
  const request = decodeConversation(raw);
  if (request.items.length === 0) throw missing("items");
  return request;
}

/** Its id is of the call's making, so it is made by an encoder and remembered from what that wrote. */
const create = defineOperation<ConversationRequest, JsonObject, Record<string, never>>({
  ...common,
  name: "openai-conversations-create",
  endpoint: "chat",
  output: "none",
  routes: [{ method: "POST", path: PATH }],
  decode: decodeConversation,
  view: (request) => new PlainView(request, ""),
  streamed: () => false,
  variant: () => ({}),
  encode: (_, context) => ({
    id: context.id("conv_"),
    object: "conversation",
    created_at: context.created,
    metadata: context.echo((call) => (call.request as ConversationRequest).metadata ?? {}),
  }),
  fallback: () => NEW,
  remember: (_, { request, memory }, sent) => {
    const conversation = new StoredConversation(sent.firstId("conv_"), JSON.parse(sent.unary()));
    conversation.add(request.items);
    storeConversation(memory, conversation);
  },
});

const NEW: JsonObject = {};

type Answer = (conversation: StoredConversation, call: Call<ConversationRequest>) => JsonObject;

/** Answers with the conversation that the path names. */
const known =
  (answer: Answer) =>
  (call: Call<ConversationRequest>): JsonObject =>
    answer(getConversation(call.memory, call.request.id), call);

function itemOf({ items }: StoredConversation, id: string): JsonObject {
  const found = items.find((item) => item["id"] === id);
  if (found === undefined) throw notFound("Item", id);
  return found;
}

/** @see https://platform.openai.com/docs/api-reference/conversations */
export const conversationOperations = [
  create,
  fromMemory(
    "openai-conversations-get",
    [{ method: "GET", path: `${PATH}/:id` }],
    decodeConversation,
    known(({ body }) => body),
  ),
  fromMemory(
    "openai-conversations-update",
    [{ method: "POST", path: `${PATH}/:id` }],
    decodeConversation,
    known((conversation, { request }) => {
      conversation.body = { ...conversation.body, metadata: request.metadata ?? {} };
      return conversation.body;
    }),
  ),
  fromMemory(
    "openai-conversations-delete",
    [{ method: "DELETE", path: `${PATH}/:id` }],
    decodeConversation,
    ({ request, memory }) => {
      deleteConversation(memory, request.id);
      return { id: request.id, object: "conversation.deleted", deleted: true };
    },
  ),
  fromMemory(
    "openai-conversations-items",
    [{ method: "GET", path: `${PATH}/:id/items` }],
    decodeConversation,
    known(({ items }, { raw }) => listPage(raw, items)),
  ),
  fromMemory(
    "openai-conversations-items-create",
    [{ method: "POST", path: `${PATH}/:id/items` }],
    decodeNewItems,
    known((conversation, { request }) => listOf(conversation.add(request.items))),
  ),
  fromMemory(
    "openai-conversations-items-get",
    [{ method: "GET", path: `${PATH}/:id/items/:item` }],
    decodeConversation,
    known((conversation, { request }) => itemOf(conversation, request.item)),
  ),
  fromMemory(
    "openai-conversations-items-delete",
    [{ method: "DELETE", path: `${PATH}/:id/items/:item` }],
    decodeConversation,
    known((conversation, { request }) => {
      conversation.remove(itemOf(conversation, request.item));
      return conversation.body;
    }),
  ),
];
