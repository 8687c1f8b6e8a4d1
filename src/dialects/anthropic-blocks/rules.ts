import type { Rule } from "../rules.ts";

/**
 * A content block, whole or as it begins. What is none of the provider-independent kinds (server tools and their
 * results, MCP, compaction, whatever comes next) is carried as it is.
 */
export const block: Rule[] = [
  {
    when: { type: "text" },
    as: "text",
    fields: { text: { take: "text", op: "append" }, annotations: { take: "citations", op: "append" } },
  },
  {
    when: { type: "thinking" },
    as: "reasoning",
    fields: {
      text: { take: "thinking", op: "append" },
      signature: "signature",
      native: { take: "", except: ["type", "thinking", "signature"], op: "merge" },
    },
  },
  { when: { type: "redacted_thinking" }, as: "reasoning", fields: { redacted: "data" } },
  {
    when: { type: "tool_use" },
    as: "toolCall",
    fields: {
      id: "id",
      name: "name",
      // A stream begins with `{}` and sends the input in pieces, or has it whole here and sends no piece.
      arguments: { take: "input", via: "json", op: "fallback" },
      native: { take: "", except: ["type", "id", "name", "input"], op: "merge" },
    },
  },
  { as: "opaque", fields: { value: "" } },
];

/** A piece of one. */
export const delta: Rule[] = [
  { when: { type: "text_delta" }, as: "text", fields: { text: { take: "text", op: "append" } } },
  {
    when: { type: "citations_delta" },
    as: "text",
    fields: { annotations: { take: "citation", via: "list", op: "append" } },
  },
  { when: { type: "thinking_delta" }, as: "reasoning", fields: { text: { take: "thinking", op: "append" } } },
  { when: { type: "signature_delta" }, as: "reasoning", fields: { signature: "signature" } },
  {
    when: { type: "input_json_delta" },
    rules: [
      { as: "toolCall", opens: "never", fields: { arguments: { take: "partial_json", op: "append" } } },
      { as: "opaque", opens: "never", fields: { "value.input": { take: "partial_json", op: "json" } } },
    ],
  },
  {
    when: { type: "compaction_delta" },
    as: "opaque",
    opens: "never",
    fields: {
      "value.content": { take: "content", op: "append" },
      "value.encrypted_content": "encrypted_content",
    },
  },
];
