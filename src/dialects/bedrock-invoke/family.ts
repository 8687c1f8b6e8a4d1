import { isObject, type JsonObject } from "../raw-request.ts";

/** Whose form a body of InvokeModel has: each maker of models has its own. */
export type Family = "anthropic" | "nova" | "llama" | "mistral" | "titan" | "openai" | "titan-embed" | "cohere-embed";

const BY_NAME: [RegExp, Family][] = [
  [/titan-embed/, "titan-embed"],
  [/cohere\.embed/, "cohere-embed"],
  [/anthropic|claude/, "anthropic"],
  [/nova/, "nova"],
  [/titan/, "titan"],
  [/llama/, "llama"],
];

/**
 * By the model's name, or by the body where an ARN does not tell it, or where a maker has two forms.
 * @param body asked for when the name is not enough; undefined if it is no object
 */
export function familyOf(model: string, body: () => JsonObject | undefined): Family {
  const name = model.toLowerCase();
  for (const [pattern, family] of BY_NAME) if (pattern.test(name)) return family;
  const given = body() ?? {};
  if (/mi[sx]tral/.test(name) && typeof given["prompt"] === "string") return "mistral";
  if ("anthropic_version" in given) return "anthropic";
  if ("texts" in given) return "cohere-embed";
  if ("inputText" in given) return "titan";
  if ("prompt" in given) return "max_gen_len" in given ? "llama" : "mistral";
  if ("inferenceConfig" in given || "toolConfig" in given || hasBlocksOfConverse(given["messages"])) return "nova";
  return "openai";
}

/** The text of others stands in a string, or in a part with a type. */
function hasBlocksOfConverse(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false;
  return messages.some(
    (message) =>
      isObject(message) &&
      Array.isArray(message["content"]) &&
      message["content"].some((block) => isObject(block) && !("type" in block)),
  );
}
