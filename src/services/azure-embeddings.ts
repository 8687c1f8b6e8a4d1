import { withDeployment } from "../dialects/azure/deployment.ts";
import { encodeAzureError } from "../dialects/azure/errors.ts";
import type { Operation } from "../dialects/operation.ts";
import { openaiEmbeddings } from "./embeddings.ts";

/** @see https://learn.microsoft.com/azure/ai-foundry/openai/reference#embeddings */
export const azureEmbeddings: Operation = {
  ...openaiEmbeddings,
  name: "azure-embeddings",
  routes: [{ method: "POST", path: "/openai/deployments/:deployment/embeddings" }],
  decode: (raw, memory) => openaiEmbeddings.decode(withDeployment(raw), memory),
  encodeError: encodeAzureError,
};
