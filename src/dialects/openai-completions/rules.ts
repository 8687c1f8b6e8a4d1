import { chatRules } from "../openai-chat/rules.ts";

/**
 * Reads OpenAI's completions from before chat, whole and streamed.
 * @see https://platform.openai.com/docs/api-reference/completions/object
 */
export const completionRules = chatRules({}, [
  { as: "text", fields: { text: { take: "text", op: "append" } } },
  { as: "finish", fields: { reason: "finish_reason" } },
]);
