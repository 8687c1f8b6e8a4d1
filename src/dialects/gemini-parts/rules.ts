import type { Rule } from "../rules.ts";

/**
 * A part of a candidate's content, whole or a piece of one. What is none of the provider-independent kinds
 * (`executableCode`, `codeExecutionResult`, tools on the provider's side) is carried as it is.
 */
export const part: Rule[] = [
  {
    when: { "functionCall.name": { exists: true } },
    rules: [
      {
        as: "toolCall",
        opens: "always",
        fields: {
          id: "functionCall.id",
          name: "functionCall.name",
          arguments: { take: "functionCall.args", via: "json", op: "fallback" },
          signature: "thoughtSignature",
          native: { take: "", except: ["functionCall", "thoughtSignature"], op: "merge" },
        },
      },
      // A call without arguments may leave them out.
      { as: "toolCall", opens: "never", fields: { arguments: { take: "={}", op: "fallback" } } },
    ],
  },
  {
    // More of the call before it.
    when: { functionCall: { exists: true } },
    rules: [
      {
        as: "toolCall",
        opens: "never",
        fields: {
          arguments: { take: "functionCall.partialArgs.*", op: "assign" },
          signature: "thoughtSignature",
        },
      },
      { as: "nothing" },
    ],
  },
  {
    when: { text: { exists: true }, thought: true },
    as: "reasoning",
    fields: {
      text: { take: "text", op: "append" },
      signature: "thoughtSignature",
      native: { take: "", except: ["text", "thought", "thoughtSignature"], op: "merge" },
    },
  },
  {
    when: { text: { exists: true } },
    as: "text",
    fields: {
      text: { take: "text", op: "append" },
      signature: "thoughtSignature",
      annotations: { take: "", except: ["text", "thought", "thoughtSignature"], op: "merge" },
    },
  },
  {
    when: { inlineData: { exists: true } },
    as: "media",
    opens: "always",
    fields: {
      mime: "inlineData.mimeType",
      data: "inlineData.data",
      native: { take: "", except: ["inlineData"], op: "merge" },
    },
  },
  {
    when: { fileData: { exists: true } },
    as: "media",
    opens: "always",
    fields: {
      mime: "fileData.mimeType",
      url: "fileData.fileUri",
      native: { take: "", except: ["fileData"], op: "merge" },
    },
  },
  { as: "opaque", opens: "always", fields: { value: "" } },
];
