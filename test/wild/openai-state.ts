import type { CompactedResponse } from "openai/resources/responses/responses";
import { asked, clientOf, operation } from "./openai-responses.ts";
import { NOTHING_ASKED, NOTHING_SEEN, type Seen, type WildProvider } from "./provider.ts";

/** What OpenAI answers without a model: conversations, compactions. */
export const stateRecordings: WildProvider[] = [
  {
    name: "openai-conversations-create",
    operation: operation("openai-conversations-create"),
    claims: ({ method, path }) => method === "POST" && path === "/v1/conversations",
    asked: () => NOTHING_ASKED,
    remembers: true,
    read: async (source) => seen(await clientOf(source).conversations.create(source.request)),
    madeUp: ["rest.id", "rest.created_at"],
  },
  {
    name: "openai-conversations-delete",
    operation: operation("openai-conversations-delete"),
    claims: ({ method, path }) => method === "DELETE" && path !== undefined && /^\/v1\/conversations\/\w+$/.test(path),
    asked: () => NOTHING_ASKED,
    remembers: true,
    read: async (source) => seen(await clientOf(source).conversations.delete(source.path!.split("/").at(-1)!)),
  },
  {
    name: "openai-responses-compact",
    operation: operation("openai-responses-compact"),
    claims: ({ path }) => path === "/v1/responses/compact",
    asked,
    remembers: true,
    read: async (source) => {
      const compacted = await clientOf(source).responses.compact(source.request as never);
      return { ...seen(compacted), text: textsOf(compacted) };
    },
    // How many tokens it takes and what it is folded into only the model knows.
    madeUp: [
      "rest.id",
      "rest.created_at",
      "rest.output.*.id",
      "rest.output.*.encrypted_content",
      "rest.usage.input_tokens",
      "rest.usage.output_tokens",
      "rest.usage.total_tokens",
    ],
  },
];

function seen(rest: unknown): Seen {
  return { ...NOTHING_SEEN, rest };
}

function textsOf({ output }: CompactedResponse): unknown {
  return output.map((item) => (item.type === "message" ? item.content : item.type));
}
