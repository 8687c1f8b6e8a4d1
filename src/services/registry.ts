import { anthropic } from "../dialects/anthropic/index.ts";
import { openaiChat } from "../dialects/openai-chat/index.ts";
import { openaiCompletions } from "../dialects/openai-completions/index.ts";
import type { Dialect } from "../dialects/operation.ts";
import { openaiEmbeddings } from "./embeddings.ts";
import { openaiModels } from "./models.ts";

/** Every provider API that a double speaks: a new one is its folder and a line here. */
export const dialects: readonly Dialect[] = [
  openaiChat,
  openaiCompletions,
  { name: "openai-embeddings", providers: ["openai"], operations: [openaiEmbeddings] },
  { name: "openai-models", providers: ["openai"], operations: [openaiModels] },
  anthropic,
];
