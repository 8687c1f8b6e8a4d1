import { openaiResponses } from "../openai-responses/index.ts";
import type { Operation, WireEvent } from "../operation.ts";
import { isObject } from "../raw-request.ts";
import { encodeCompatibleError } from "./errors.ts";

const [create] = operations("openai-responses");

/**
 * OpenAI's Responses as xAI has them: reasoning has a status like every other item, which xAI's clients insist on,
 * and errors have a form of their own. What is stored can be asked for and deleted.
 * @see https://docs.x.ai/docs/api-reference#create-new-response
 */
export const xaiResponses: readonly Operation[] = [
  {
    ...create!,
    name: "xai-responses",
    variant: (request) => ({ ...create!.variant(request), reasoningStatus: true }),
    encodeStream: (out, context) => create!.encodeStream!(out, context).map(withFlatError),
    encodeError: (error) => encodeCompatibleError("xai", error),
    encodeStreamError: (...failure) => withFlatError(create!.encodeStreamError!(...failure)),
  },
  ...operations("openai-responses-get", "openai-responses-delete").map(
    (stored): Operation => ({
      ...stored,
      name: stored.name.replace("openai", "xai"),
      encodeError: (error) => encodeCompatibleError("xai", error),
    }),
  ),
];

function operations(...names: string[]): Operation[] {
  return openaiResponses.operations.filter(({ name }) => names.includes(name));
}

/** OpenAI puts an `error` around what its event for one tells, xAI does not. */
function withFlatError(event: WireEvent): WireEvent {
  const { data } = event;
  if (!isObject(data) || data["type"] !== "error" || !isObject(data["error"])) return event;
  const { error, ...place } = data;
  const { type, code, message, param } = data["error"];
  return { ...event, data: { ...place, code: code ?? type, message, param } };
}
