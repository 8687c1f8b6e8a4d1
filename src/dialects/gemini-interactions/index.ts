import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { ChatView, PlainView } from "../../chat/view.ts";
import { GEMINI_INTERACTIONS } from "../gemini-steps/response.ts";
import { type Dialect, defineOperation, type HttpMethod, type Route } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";
import { encodeInteractionError, encodeInteractionStreamError } from "./errors.ts";
import { decodeInteractionRequest } from "./request.ts";
import { encodeInteraction, type InteractionVariant } from "./response.ts";
import { interactionRules } from "./rules.ts";
import { cancelInteraction, deleteInteraction, type Fetched, fetchInteraction, rememberInteraction } from "./store.ts";
import { encodeInteractionStream, encodeStoredStream, placeAfter } from "./stream.ts";

const VERSIONS = ["v1beta", "v1", "v1alpha"];

function routes(method: HttpMethod, rest: string): Route[] {
  return VERSIONS.map((version) => ({ method, path: `/${version}/interactions${rest}` }));
}

const common = {
  dialect: GEMINI_INTERACTIONS,
  framing: "sse" as const,
  encodeError: encodeInteractionError,
  encodeStreamError: encodeInteractionStreamError,
};

const create = defineOperation<ChatRequest, ChatReply, InteractionVariant>({
  ...common,
  name: GEMINI_INTERACTIONS,
  endpoint: "chat",
  output: "chat",
  routes: routes("POST", ""),
  decode: decodeInteractionRequest,
  view: (request) => new ChatView(request),
  streamed: (request) => request.stream === true,
  variant: (request) => ({
    agent: request["agent"] !== undefined && request["agent"] !== null,
    stored: request["store"] !== false,
    continues: typeof request["previous_interaction_id"] === "string",
    background: request["background"] === true && request.stream !== true,
    resumable: request["background"] === true && request["store"] !== false,
  }),
  encode: encodeInteraction,
  encodeStream: encodeInteractionStream,
  remember: rememberInteraction,
  rules: interactionRules,
});

interface IdRequest {
  id: string;
  streamed: boolean;
  withInput: boolean;
  /** The first event that is wanted of its stream. */
  from: number;
}

type ById = InteractionVariant & { from: number };

/** What is asked of an interaction that is there. */
const byId = {
  ...common,
  endpoint: "chat" as const,
  output: "none",
  view: (request: IdRequest) => new PlainView(request, ""),
  streamed: (request: IdRequest) => request.streamed,
  variant: ({ from }: IdRequest): ById => ({
    agent: false,
    stored: true,
    continues: false,
    background: false,
    resumable: true,
    from,
  }),
  encode: (body: JsonObject) => body,
};

const fetch = defineOperation<IdRequest, Fetched, ById>({
  ...byId,
  name: "gemini-interactions-get",
  routes: routes("GET", "/:id"),
  decode: ({ params, query }) => ({
    id: params["id"] ?? "",
    streamed: query.get("stream") === "true",
    withInput: query.get("include_input") === "true",
    from: placeAfter(query.get("last_event_id")),
  }),
  encode: ({ body }) => body,
  encodeStream: encodeStoredStream,
  fallback: ({ memory, request }) => fetchInteraction(memory, request.id, request.withInput),
});

const remove = defineOperation<IdRequest, JsonObject, ById>({
  ...byId,
  name: "gemini-interactions-delete",
  routes: routes("DELETE", "/:id"),
  decode: ({ params }) => ({ id: params["id"] ?? "", streamed: false, withInput: false, from: 0 }),
  fallback: ({ memory, request }) => deleteInteraction(memory, request.id),
});

const cancel = defineOperation<IdRequest, JsonObject, ById>({
  ...byId,
  name: "gemini-interactions-cancel",
  routes: routes("POST", "/:id/cancel"),
  decode: ({ params }) => ({ id: params["id"] ?? "", streamed: false, withInput: false, from: 0 }),
  fallback: ({ memory, request }) => cancelInteraction(memory, request.id),
});

/**
 * Gemini's Interactions: conversations of which the provider keeps the state.
 * @see https://ai.google.dev/gemini-api/docs/interactions
 */
export const geminiInteractions: Dialect = {
  name: GEMINI_INTERACTIONS,
  providers: ["gemini"],
  operations: [create, fetch, remove, cancel],
};
