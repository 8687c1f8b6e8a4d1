import type { Rule, Take } from "../rules.ts";

const native = (...except: string[]): Take => ({
  take: "",
  except: ["type", ...except],
  op: "merge",
});

/** The message item around a part of its content. */
const around: Take = { take: "^", except: ["type", "role", "content"], op: "merge" };

/** A part of a message's content, as it begins and as it ends: texts may have come in pieces by then. */
export const contentPart: Rule[] = [
  {
    when: { type: "output_text" },
    rules: [
      { as: "text", fields: { text: "text" } },
      {
        when: { "annotations.0": { exists: true } },
        as: "text",
        opens: "never",
        fields: { annotations: "annotations" },
      },
      {
        when: { "logprobs.0": { exists: true } },
        as: "text",
        opens: "never",
        fields: { "logprobs.content": "logprobs" },
      },
    ],
  },
  { when: { type: "refusal" }, as: "refusal", fields: { text: "refusal" } },
];

/**
 * An output item, as it begins, as it ends and in the whole response. What is none of the provider-independent
 * kinds (searches, code, shells, MCP, images, compaction, whatever comes next) is carried as it is.
 */
export const item: Rule[] = [
  {
    when: { type: "message" },
    rules: [
      {
        each: "content.*",
        key: ["#"],
        rules: [
          { oneOf: contentPart },
          {
            when: { type: "output_text" },
            rules: [{ as: "text", opens: "never", fields: { native: around } }],
          },
          {
            when: { type: "refusal" },
            rules: [{ as: "refusal", opens: "never", fields: { native: around } }],
          },
        ],
      },
    ],
  },
  {
    when: { type: "reasoning" },
    as: "reasoning",
    fields: {
      summary: { take: "summary", via: "texts" },
      text: { take: "content.*.text", op: "fallback" },
      encrypted: "encrypted_content",
      native: native("summary", "content", "encrypted_content"),
    },
  },
  {
    when: { type: "function_call" },
    as: "toolCall",
    fields: {
      id: "call_id",
      name: "name",
      arguments: { take: "arguments", via: "json", op: "fallback" },
      native: native("call_id", "name", "arguments"),
    },
  },
  {
    when: { type: "custom_tool_call" },
    as: "toolCall",
    fields: {
      id: "call_id",
      name: "name",
      arguments: { take: "input", via: "json", op: "fallback" },
      native: { take: "", except: ["call_id", "name", "input"], op: "merge" },
    },
  },
  { as: "opaque", fields: { value: "" } },
];
