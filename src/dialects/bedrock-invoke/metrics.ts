import type { ChatReply } from "../../chat/reply.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { estimateCompletionTokens, estimatePromptTokens } from "../../chat/tokens.ts";
import { LATENCY_MS } from "../bedrock-converse/response.ts";
import type { Call, HeaderFields, WireEvent } from "../operation.ts";
import type { JsonObject } from "../raw-request.ts";

/**
 * The events of a maker's own stream as those of InvokeModelWithResponseStream, the last of which brings the
 * provider's count of tokens along.
 */
export function withMetrics(events: WireEvent[], inputTokenCount: unknown, outputTokenCount: unknown): WireEvent[] {
  return events.map(({ data }, index) => {
    if (index < events.length - 1) return { event: "chunk", data };
    const metrics = { inputTokenCount, outputTokenCount, invocationLatency: LATENCY_MS, firstByteLatency: LATENCY_MS };
    return { event: "chunk", data: { ...(data as JsonObject), "amazon-bedrock-invocationMetrics": metrics } };
  });
}

/**
 * What AWS itself says of a reply whose body is a maker's own: the tier, and of a whole reply the counts too.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html
 */
export function invokeHeaders(reply: ChatReply, { request, streamed }: Call<ChatRequest>): HeaderFields {
  const { usage, envelope } = reply;
  const tier = envelope?.serviceTier;
  return {
    ...(typeof tier === "string" && { "x-amzn-bedrock-service-tier": tier }),
    ...(!streamed && {
      "x-amzn-bedrock-input-token-count": String(usage?.promptTokens ?? estimatePromptTokens(request)),
      "x-amzn-bedrock-output-token-count": String(usage?.completionTokens ?? estimateCompletionTokens(reply)),
      "x-amzn-bedrock-invocation-latency": String(LATENCY_MS),
    }),
  };
}
