import type { Rule } from "../rules.ts";

/** One entry of `tool_calls`. */
const toolCall: Rule[] = [
  {
    when: { type: "custom" },
    as: "opaque",
    fields: { value: { take: "", except: ["index"], op: "merge" } },
  },
  {
    as: "toolCall",
    fields: {
      id: "id",
      name: "function.name",
      arguments: { take: "function.arguments", via: "json", op: "append" },
      native: { take: "", except: ["index", "id", "type", "function"], op: "merge" },
    },
  },
];

/** One part of a `content` that is a list, as Mistral has it. */
const contentPart: Rule[] = [
  {
    when: { type: "thinking" },
    as: "reasoning",
    fields: { text: { take: ["thinking.*.text", "thinking"], op: "append" } },
  },
  { when: { type: "text" }, as: "text", fields: { text: { take: "text", op: "append" } } },
];

/** Where a choice has a member of its message: whole, or a piece of it. */
export function said(member: string): string[] {
  return [`message.${member}`, `delta.${member}`];
}

/** What a choice says, in the order in which models write. */
export const message: Rule[] = [
  {
    as: "reasoning",
    fields: { text: { take: [...said("reasoning_content"), ...said("reasoning")], op: "append" } },
  },
  { as: "text", fields: { text: { take: said("content"), op: "append" } } },
  ...said("content.*").map((each): Rule => ({ each, oneOf: contentPart })),
  {
    // Log probabilities belong to the text that came just before them.
    as: "text",
    opens: "never",
    fields: {
      "logprobs.content": { take: "logprobs.content", op: "append" },
      "logprobs.refusal": { take: "logprobs.refusal", op: "append" },
      annotations: { take: said("annotations"), op: "append" },
    },
  },
  { as: "refusal", fields: { text: { take: said("refusal"), op: "append" } } },
  // Some give all calls of a reply the same id.
  { each: "message.tool_calls.*", key: ["#"], oneOf: toolCall },
  // In pieces with an `index`, which some leave out.
  { each: "delta.tool_calls.*", key: [["index", "id", "#"]], oneOf: toolCall },
  ...said("audio").map(
    (each): Rule => ({
      each,
      key: ["=audio"],
      as: "media",
      fields: {
        // The format is told in the request only.
        mime: "=audio/wav",
        data: { take: "data", op: "append" },
        transcript: { take: "transcript", op: "append" },
        native: { take: "", except: ["data", "transcript"], op: "merge" },
      },
    }),
  ),
];
