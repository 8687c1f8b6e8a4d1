import type { Rules } from "../rules.ts";

/**
 * Reads replies of `/api/chat` and `/api/generate`, whole ones and lines of a stream.
 * @see https://docs.ollama.com/api/chat
 */
export const ollamaRules: Rules = {
  rules: [
    { when: { error: { exists: true } }, as: "error", fields: { message: "error", native: "" } },
    {
      when: { done: { exists: true } },
      rules: [
        {
          as: "envelope",
          fields: {
            model: "model",
            role: "message.role",
            "native.created_at": "created_at",
            "native.context": "context",
          },
        },
        { as: "reasoning", fields: { text: { take: ["message.thinking", "thinking"], op: "append" } } },
        { as: "text", fields: { text: { take: ["message.content", "response"], op: "append" } } },
        ...["message.tool_calls.*", "tool_calls.*"].map((each) => ({
          each,
          // Calls come whole, one after another.
          opens: "always" as const,
          as: "toolCall" as const,
          fields: {
            id: "id",
            name: "function.name",
            arguments: { take: "function.arguments", via: "json" as const, op: "append" as const },
            native: { take: "function", except: ["name", "arguments"], op: "merge" as const },
          },
        })),
        { as: "choice", fields: { "native.logprobs": { take: "logprobs", op: "append" } } },
      ],
    },
    {
      when: { done: true },
      rules: [
        {
          as: "usage",
          fields: {
            raw: {
              take: "",
              except: [
                "model",
                "created_at",
                "message",
                "response",
                "thinking",
                "tool_calls",
                "done",
                "done_reason",
                "context",
                "logprobs",
              ],
              op: "merge",
            },
          },
        },
        // Older versions give no reason.
        { as: "finish", fields: { reason: ["done_reason", "=stop"] } },
      ],
    },
  ],
  toolCallsFinish: true,
  usage: { promptTokens: "prompt_eval_count", completionTokens: "eval_count" },
};
