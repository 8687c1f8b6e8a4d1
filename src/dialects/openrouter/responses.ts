import { type ChatReply, nativeOf } from "../../chat/reply.ts";
import { openaiResponses } from "../openai-responses/index.ts";
import type { ResponsesRequest } from "../openai-responses/request.ts";
import type { EncodeContext, Operation, WireEvent } from "../operation.ts";
import { isObject, type JsonObject } from "../raw-request.ts";
import { encodeOpenRouterError } from "./errors.ts";
import { OPENROUTER, openRouterFlavour } from "./flavour.ts";
import { candidates, withModel } from "./request.ts";

const base = openaiResponses.operations[0]!;

/**
 * OpenAI's Responses with the ids, costs and models of OpenRouter.
 * @see https://openrouter.ai/docs/api/reference/responses/overview
 */
export const openRouterResponses: Operation = {
  ...base,
  name: "openrouter-responses",
  routes: [{ method: "POST", path: "/api/v1/responses" }],
  decode: (raw, memory) => base.decode(withModel(raw), memory),
  candidates: (request) => candidates(request as ResponsesRequest),
  encode: (out, context) => withCosts(base.encode(out, withIds(context)), out as ChatReply),
  encodeStream(out, context) {
    const reply = out as ChatReply;
    const events = (base.encodeStream?.(out, withIds(context)) ?? []).map((event): WireEvent => {
      const { data } = event;
      // Whatever ends it has the usage: completed, incomplete, failed.
      if (!isObject(data) || data["response"] === undefined) return event;
      return { ...event, data: { ...data, response: withCosts(data["response"], reply) } };
    });
    const comment = reply.envelope?.keepAlive ? openRouterFlavour.keepAlive : undefined;
    return comment === undefined ? events : [{ comment, data: undefined }, ...events];
  },
  encodeError: encodeOpenRouterError,
};

function withIds(context: EncodeContext<Record<string, unknown>>): EncodeContext<Record<string, unknown>> {
  const { variant, created, createdIso, model } = context;
  return {
    variant,
    created,
    createdIso,
    model,
    id: (prefix) => context.id(prefix === "resp_" ? "gen-" : prefix),
    echo: (compute) => context.echo(compute),
    pieces: (text) => context.pieces(text),
  };
}

function withCosts(response: unknown, { usage }: ChatReply): unknown {
  const own = nativeOf(usage?.raw, OPENROUTER);
  if (!isObject(response) || !isObject(response["usage"]) || !isObject(own)) return response;
  const { cost, is_byok, cost_details } = own;
  const costs: JsonObject = { ...(is_byok !== undefined && { is_byok }) };
  if (cost !== undefined && cost !== null) {
    costs["cost"] = cost;
    costs["cost_details"] = { ...NO_COSTS, ...(isObject(cost_details) && cost_details) };
  }
  return { ...response, usage: { ...response["usage"], ...costs } };
}

const NO_COSTS = { upstream_inference_cost: null, upstream_inference_input_cost: 0, upstream_inference_output_cost: 0 };
