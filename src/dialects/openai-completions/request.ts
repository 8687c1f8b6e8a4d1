import type { ChatRequest } from "../../chat/request.ts";
import { checkChoices, checkString, checkType, invalid, invalidType, missing } from "../openai-chat/check.ts";
import { type JsonObject, jsonObject, type RawRequest } from "../raw-request.ts";

/** A short request could ask for so many that nobody else is answered while they are put together. */
const MOST_CHOICES = 2048;

/**
 * Decodes `POST /v1/completions`: the prompts are one user message, so that the same fixtures serve both
 * generations of the API. Tokens given as numbers have no text.
 * @see https://platform.openai.com/docs/api-reference/completions/create
 */
export function decodeCompletionRequest(raw: RawRequest): ChatRequest {
  const body = jsonObject(raw);
  checkString(body, "model", true);
  const prompts = promptsOf(body["prompt"]);
  for (const name of ["temperature", "top_p", "max_tokens", "seed"]) checkType(body, name, "number");
  const choices = choicesOf(body);
  if (choices > MOST_CHOICES) {
    throw invalid("n", `expected at most ${MOST_CHOICES} choices for all prompts`, choices, "integer_out_of_range");
  }
  for (const name of ["stream", "echo"]) checkType(body, name, "boolean");
  return { ...body, model: body["model"] as string, messages: [{ role: "user", content: prompts.join("\n") }] };
}

/** How many choices are answered: so many for each prompt. */
export function choicesOf(body: JsonObject): number {
  return promptsOf(body["prompt"]).length * checkChoices(body);
}

/** @throws {ApiError} when the prompt is neither text nor tokens */
export function promptsOf(prompt: unknown): string[] {
  if (typeof prompt === "string") return [prompt];
  if (prompt === undefined) throw missing("prompt");
  if (!Array.isArray(prompt)) throw invalidType("prompt", "a string or an array", prompt);
  if (prompt.every((item) => typeof item === "number")) return [""];
  return prompt.map((item, index) => {
    if (typeof item === "string") return item;
    if (Array.isArray(item)) return "";
    throw invalidType(`prompt[${index}]`, "a string or an array of tokens", item);
  });
}
