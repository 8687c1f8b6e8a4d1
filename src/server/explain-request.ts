import { badRequest } from "../dialects/api-error.ts";
import { isObject } from "../dialects/raw-request.ts";

/** A request to explain: what its client would send. */
export interface ExplainRequest {
  /** POST unless given. */
  method?: string;
  /** Guessed from the body unless given. */
  path?: string;
  headers?: Record<string, string>;
  body: unknown;
}

/**
 * Reads what somebody wrote as a request: `{method, path, headers, body}`, or the body alone.
 * @throws {ApiError} when it is neither
 */
export function explainRequest(value: unknown): ExplainRequest {
  if (!isObject(value))
    throw badRequest("Expected a JSON object: the body of a request, or {method, path, headers, body}.");
  if (value["body"] === undefined && value["path"] === undefined) return { body: value };
  const { method, path, headers, body = {} } = value;
  for (const [name, member] of Object.entries({ method, path })) {
    if (member !== undefined && typeof member !== "string") throw badRequest(`"${name}" has to be a string.`);
  }
  if (headers !== undefined && !isObject(headers)) throw badRequest('"headers" has to be an object.');
  return {
    ...(method !== undefined && { method: (method as string).toUpperCase() }),
    ...(path !== undefined && { path: path as string }),
    ...(headers !== undefined && { headers: headers as Record<string, string> }),
    body,
  };
}

/** The path that a body was most likely sent to, where nobody says. */
export function guessPath(body: unknown): string {
  if (!isObject(body)) return "/v1/chat/completions";
  if (Array.isArray(body["contents"]))
    return `/v1beta/models/${encodeURIComponent(modelOf(body, "gemini"))}:generateContent`;
  if (body["inferenceConfig"] !== undefined || body["toolConfig"] !== undefined) {
    return `/model/${encodeURIComponent(modelOf(body, "model"))}/converse`;
  }
  if (Array.isArray(body["messages"])) return isAnthropic(body) ? "/v1/messages" : "/v1/chat/completions";
  if (body["input"] !== undefined) return /embed/i.test(modelOf(body, "")) ? "/v1/embeddings" : "/v1/responses";
  return body["prompt"] === undefined ? "/v1/chat/completions" : "/v1/completions";
}

function modelOf(body: Record<string, unknown>, otherwise: string): string {
  return typeof body["model"] === "string" ? body["model"] : otherwise;
}

function isAnthropic(body: Record<string, unknown>): boolean {
  const { tools, model } = body;
  if (body["system"] !== undefined || body["anthropic_version"] !== undefined) return true;
  if (Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool["input_schema"] !== undefined)) return true;
  return typeof model === "string" && model.startsWith("claude");
}
