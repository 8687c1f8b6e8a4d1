import { CountTokensCommand, type CountTokensRequest } from "@aws-sdk/client-bedrock-runtime";
import { anthropic } from "../../src/dialects/anthropic/index.ts";
import { bedrockInvoke } from "../../src/dialects/bedrock-invoke/index.ts";
import { gemini } from "../../src/dialects/gemini/index.ts";
import type { Dialect, Operation } from "../../src/dialects/operation.ts";
import { clientOf as anthropicClient, asked as askedOfAnthropic } from "./anthropic.ts";
import { asked as askedOfConverse, withClient } from "./bedrock.ts";
import { asked as askedOfGemini, clientOf as geminiClient } from "./gemini.ts";
import { type Asked, NOTHING_SEEN, type Seen, type WildProvider } from "./provider.ts";

type Json = Record<string, unknown>;

export const tokenCountRecordings: WildProvider[] = [
  {
    name: "anthropic-count-tokens",
    operation: counting(anthropic),
    claims: ({ path }) => path === "/v1/messages/count_tokens",
    asked: askedOfAnthropic,
    out: ({ input_tokens: tokens }) => ({ tokens }),
    read: async (source) => seen(await anthropicClient(source).beta.messages.countTokens(source.request as never)),
  },
  {
    name: "gemini-count-tokens",
    operation: counting(gemini),
    claims: ({ path }) => path?.endsWith(":countTokens") ?? false,
    asked: askedOfGemini,
    out: ({ totalTokens: tokens }) => ({ tokens }),
    read: async (source) => {
      const { contents } = source.request as { contents: [] };
      const { sdkHttpResponse: _, ...count } = await geminiClient(source).models.countTokens({
        model: "any",
        contents,
      });
      return seen(count);
    },
  },
  {
    name: "bedrock-count-tokens",
    operation: counting(bedrockInvoke),
    claims: ({ path }) => path?.endsWith("/count-tokens") ?? false,
    asked: askedOfBedrock,
    out: ({ inputTokens: tokens }) => ({ tokens }),
    read: (source) =>
      withClient(source, async (client) => {
        const { $metadata: _, ...count } = await client.send(new CountTokensCommand(bedrockRequest(source.request!)));
        return seen(count);
      }),
  },
];

function counting({ operations }: Dialect): Operation {
  return operations.find(({ endpoint }) => endpoint === "tokens")!;
}

function seen(usage: unknown): Seen {
  return { ...NOTHING_SEEN, usage };
}

/** What is counted is a request of another operation: of Converse, or a body to invoke Claude with. */
interface Counted {
  converse?: Json;
  invokeModel?: { body: string };
}

function askedOfBedrock({ input }: Json, path: string): Asked {
  const { converse, invokeModel } = input as Counted;
  if (converse !== undefined) return askedOfConverse(converse, path);
  const body = JSON.parse(Buffer.from(invokeModel!.body, "base64").toString()) as Json;
  return askedOfAnthropic({ ...body, model: decodeURIComponent(path.split("/")[2]!) });
}

/** The client takes bytes where the wire has base64. */
function bedrockRequest({ input }: Json): CountTokensRequest {
  const { converse, invokeModel } = input as Counted;
  const body = invokeModel && Buffer.from(invokeModel.body, "base64");
  return { modelId: "any", input: body === undefined ? { converse } : { invokeModel: { body } } } as CountTokensRequest;
}
