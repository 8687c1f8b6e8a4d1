import type { Rule } from "../rules.ts";

/** A content of a model's output, whole or, in a stream, a piece of one: a step has one text, its deltas no number. */
export const content: Rule[] = [
  {
    when: { type: ["text", "text_annotation_delta"] },
    key: ["=text"],
    as: "text",
    fields: { text: { take: "text", op: "append" }, annotations: { take: "annotations", op: "append" } },
  },
  {
    when: { type: ["image", "audio", "video", "document"] },
    key: ["type"],
    as: "media",
    fields: {
      mime: "mime_type",
      data: { take: "data", op: "append" },
      url: "uri",
      native: { take: "", except: ["type", "mime_type", "data", "uri"], op: "merge" },
    },
  },
];

/** A step, whole or as it begins. What the provider runs itself is carried as it is. */
export function step(contents: Rule): Rule[] {
  return [
    { when: { type: "model_output" }, rules: [contents] },
    {
      when: { type: "thought" },
      as: "reasoning",
      fields: {
        text: { take: "summary.*.text", op: "append" },
        signature: "signature",
        native: { take: "", except: ["type", "summary", "signature"], op: "merge" },
      },
    },
    {
      when: { type: "function_call" },
      as: "toolCall",
      fields: {
        id: "id",
        name: "name",
        signature: "signature",
        // A stream begins with `{}` and sends the arguments in pieces.
        arguments: { take: "arguments", via: "json", op: "fallback" },
        native: { take: "", except: ["type", "id", "name", "signature", "arguments"], op: "merge" },
      },
    },
    { as: "opaque", fields: { value: "" } },
  ];
}

export const delta: Rule[] = [
  { when: { type: "thought_summary" }, as: "reasoning", fields: { text: { take: "content.text", op: "append" } } },
  { when: { type: "thought_signature" }, as: "reasoning", fields: { signature: "signature" } },
  {
    when: { type: "arguments_delta" },
    as: "toolCall",
    opens: "never",
    fields: { arguments: { take: "arguments", op: "append" } },
  },
  ...content,
  { as: "opaque", opens: "never", fields: { value: { take: "", except: ["type"], op: "merge" } } },
];
