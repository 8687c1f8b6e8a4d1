import { anthropic } from "../dialects/anthropic/index.ts";
import { azure } from "../dialects/azure/index.ts";
import { ofAzure } from "../dialects/azure/operation.ts";
import { bedrockConverse } from "../dialects/bedrock-converse/index.ts";
import { bedrockInvoke } from "../dialects/bedrock-invoke/index.ts";
import { cohere } from "../dialects/cohere/index.ts";
import { gemini } from "../dialects/gemini/index.ts";
import { geminiInteractions } from "../dialects/gemini-interactions/index.ts";
import { ollama } from "../dialects/ollama/index.ts";
import { openaiChat } from "../dialects/openai-chat/index.ts";
import { openaiCompatible } from "../dialects/openai-compatible/index.ts";
import { openaiCompletions } from "../dialects/openai-completions/index.ts";
import { openaiResponses } from "../dialects/openai-responses/index.ts";
import { openRouter } from "../dialects/openrouter/index.ts";
import type { Dialect } from "../dialects/operation.ts";
import { vertex } from "../dialects/vertex/index.ts";
import { anthropicModels } from "./anthropic-models.ts";
import { cohereOnBedrock, titanEmbeddings, titanImageEmbeddings } from "./bedrock-embeddings.ts";
import { cohereEmbeddings } from "./cohere-embeddings.ts";
import { openaiEmbeddings } from "./embeddings.ts";
import { geminiEmbeddings } from "./gemini-embeddings.ts";
import { geminiModels } from "./gemini-models.ts";
import { openaiModels } from "./models.ts";
import { ollamaEmbeddings } from "./ollama-embeddings.ts";

/** Every provider API that a double speaks: a new one is its folder and a line here. */
export const dialects: readonly Dialect[] = [
  openaiChat,
  openaiCompletions,
  openaiResponses,
  { name: "openai-embeddings", providers: ["openai"], operations: [openaiEmbeddings] },
  { name: "openai-models", providers: ["openai"], operations: [openaiModels] },
  anthropic,
  { name: "anthropic-models", providers: ["anthropic"], operations: [anthropicModels] },
  bedrockConverse,
  bedrockInvoke,
  {
    name: "bedrock-embeddings",
    providers: ["bedrock"],
    operations: [titanEmbeddings, titanImageEmbeddings, cohereOnBedrock],
  },
  cohere,
  { name: "cohere-embeddings", providers: ["cohere"], operations: cohereEmbeddings },
  gemini,
  { name: "gemini-embeddings", providers: ["gemini", "vertexai"], operations: [geminiEmbeddings] },
  { name: "gemini-models", providers: ["gemini", "vertexai"], operations: [geminiModels] },
  vertex,
  geminiInteractions,
  ollama,
  { name: "ollama-embeddings", providers: ["ollama"], operations: [ollamaEmbeddings] },
  openRouter,
  ...openaiCompatible,
  azure,
  { name: "azure-embeddings", providers: ["azure"], operations: [ofAzure(openaiEmbeddings, "/embeddings")] },
  { name: "azure-models", providers: ["azure"], operations: [ofAzure(openaiModels)] },
];
