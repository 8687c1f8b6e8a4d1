import { LATENCY_MS } from "../bedrock-converse/response.ts";
import type { WireEvent } from "../operation.ts";
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
