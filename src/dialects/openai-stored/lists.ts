import { ApiError } from "../api-error.ts";
import type { JsonObject, RawRequest } from "../raw-request.ts";

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
  return new ApiError({ status: 404, message: `${kind} with id '${id}' not found.`, type: "invalid_request_error" });
}
