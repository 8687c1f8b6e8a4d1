import { pieces } from "../../chat/pieces.ts";
import type { ChatReply } from "../../chat/reply.ts";
import { PlainView } from "../../chat/view.ts";
import { badRequest } from "../api-error.ts";
import { encodeOpenAIError } from "../openai-chat/errors.ts";
import { OPENAI_RESPONSES } from "../openai-items/response.ts";
import { encodeResponsesStreamError } from "../openai-responses/errors.ts";
import { encodeResponse, type ResponseVariant, unfinished } from "../openai-responses/response.ts";
import { openaiResponsesRules } from "../openai-responses/rules.ts";
import { responseEvents } from "../openai-responses/stream.ts";
import {
  type Call,
  defineOperation,
  type EncodeContext,
  type HttpMethod,
  type Route,
  type WireEvent,
} from "../operation.ts";
import type { JsonObject, RawRequest } from "../raw-request.ts";
import { listPage, storedItems } from "./lists.ts";
import { deleteResponse, getResponse } from "./state.ts";

/** What is asked of something that is stored. */
export interface StoredRequest {
  id: string;
  stream: boolean;
  /** Only the events after this one. */
  after: number;
  /** So that it has the members that every call's request has. */
  messages: [];
}

/** Read from a tape, or as it is stored. */
type Stored = ChatReply | FromMemory;

interface FromMemory {
  response: JsonObject;
  /** Of its stream, which is taken up again by the number of an event. */
  chunkSize?: number | undefined;
}

interface StoredVariant extends ResponseVariant {
  after: number;
}

export const common = {
  dialect: OPENAI_RESPONSES,
  encodeError: encodeOpenAIError,
  encodeStreamError: encodeResponsesStreamError,
};

/** With and without the `/v1`, which some providers leave out. */
export function responseRoutes(method: HttpMethod, path = ""): Route[] {
  return [
    { method, path: `/v1/responses${path}` },
    { method, path: `/responses${path}` },
  ];
}

function decodeStoredRequest(raw: RawRequest): StoredRequest {
  const after = Number(raw.query.get("starting_after") ?? -1);
  if (!Number.isInteger(after)) throw badRequest("Invalid 'starting_after': expected an integer.", "starting_after");
  return { id: raw.params["id"] ?? "", stream: raw.query.get("stream") === "true", after, messages: [] };
}

function storedResponse(out: Stored, context: EncodeContext<StoredVariant>): JsonObject {
  return "response" in out ? out.response : encodeResponse(out, context);
}

function storedEvents(out: Stored, context: EncodeContext<StoredVariant>): WireEvent[] {
  const response = storedResponse(out, context);
  const size = "response" in out ? out.chunkSize : undefined;
  const cut = (text: string): string[] => (size === undefined ? context.pieces(text) : pieces(text, size));
  const events = responseEvents(response, cut, response["background"] === true);
  return events.slice(context.variant.after + 1);
}

/** One that runs in the background is a step further each time that it is asked for; who waits for its stream sees it all. */
function advance({ request, memory }: Call<StoredRequest>): FromMemory {
  const stored = getResponse(memory, request.id);
  const { body, progress, chunkSize } = stored;
  if (progress === "cancelled") return { response: unfinished(body, progress) };
  stored.progress = progress === "queued" && !request.stream ? "in_progress" : "ended";
  return { response: stored.progress === "in_progress" ? unfinished(body, "in_progress") : body, chunkSize };
}

function cancel({ request, memory }: Call<StoredRequest>): FromMemory {
  const stored = getResponse(memory, request.id);
  if (stored.body["background"] !== true) throw badRequest("Cannot cancel a synchronous response.");
  if (stored.progress === "ended") return { response: stored.body };
  stored.progress = "cancelled";
  return { response: unfinished(stored.body, "cancelled") };
}

/** An operation that is answered from memory alone. */
export function fromMemory<Req extends object>(
  name: string,
  routes: Route[],
  decode: (raw: RawRequest) => Req,
  answer: (call: Call<Req>) => JsonObject,
) {
  return defineOperation<Req, JsonObject, Record<string, never>>({
    ...common,
    name,
    endpoint: "chat",
    output: "none",
    routes,
    decode,
    view: (request) => new PlainView(request, ""),
    streamed: () => false,
    variant: () => ({}),
    encode: (body) => body,
    fallback: answer,
  });
}

function storedOperation(name: string, routes: Route[], answer: (call: Call<StoredRequest>) => FromMemory) {
  return defineOperation<StoredRequest, Stored, StoredVariant>({
    ...common,
    name,
    endpoint: "chat",
    output: "none",
    routes,
    decode: decodeStoredRequest,
    view: (request) => new PlainView(request, ""),
    streamed: (request) => request.stream,
    variant: ({ after }) => ({ encrypted: false, custom: "[]", background: false, after }),
    encode: storedResponse,
    encodeStream: storedEvents,
    framing: "sse",
    fallback: answer,
    rules: openaiResponsesRules,
  });
}

/** @see https://platform.openai.com/docs/api-reference/responses/get */
export const storedOperations = [
  storedOperation("openai-responses-get", responseRoutes("GET", "/:id"), advance),
  storedOperation("openai-responses-cancel", responseRoutes("POST", "/:id/cancel"), cancel),
  fromMemory(
    "openai-responses-delete",
    responseRoutes("DELETE", "/:id"),
    decodeStoredRequest,
    ({ request, memory }) => {
      deleteResponse(memory, request.id);
      return { id: request.id, object: "response", deleted: true };
    },
  ),
  fromMemory("openai-responses-items", responseRoutes("GET", "/:id/input_items"), decodeStoredRequest, (call) => {
    const { before, own } = getResponse(call.memory, call.request.id);
    return listPage(call.raw, storedItems([...before, ...own], call.request.id));
  }),
];
