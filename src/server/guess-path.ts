import { isObject } from "../dialects/raw-request.ts";

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
