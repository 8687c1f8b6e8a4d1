import type { RawRequest } from "../dialects/raw-request.ts";
import type { Metrics } from "./metrics.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Paths of the double itself that are open to all: no tape answers them and no journal keeps them.
 * @param stopping not ready any more, so that a balancer sends its callers elsewhere
 */
export function openPaths(
  raw: RawRequest,
  stopping: boolean,
  metrics: Metrics | undefined,
): Outcome | Promise<Outcome> | undefined {
  if (raw.routedMethod !== "GET") return undefined;
  switch (raw.path) {
    case "/health":
    case "/__stuntdouble/health":
    case "/__aimock/health":
      return jsonOutcome(200, { status: "ok" });
    case "/ready":
      return stopping ? jsonOutcome(503, { status: "stopping" }) : jsonOutcome(200, { status: "ready" });
    case "/metrics":
      return metrics?.read().then(({ contentType, text }) => ownOutcome(200, contentType, text));
    default:
      return undefined;
  }
}

/** An answer of the double itself. */
export function jsonOutcome(status: number, value: unknown, headers: readonly string[] = []): Outcome {
  return ownOutcome(status, "application/json", JSON.stringify(value), headers);
}

function ownOutcome(status: number, contentType: string, body: string, headers: readonly string[] = []): Outcome {
  return {
    status,
    headers: ["content-type", contentType, "access-control-allow-origin", "*", ...headers],
    body,
    streamed: false,
  };
}
