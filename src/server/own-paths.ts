import type { RawRequest } from "../dialects/raw-request.ts";
import type { Outcome } from "./engine.ts";

/** Paths of the double itself, which no tape answers and no journal keeps. */
export function ownPaths(raw: RawRequest): Outcome | undefined {
  if (raw.path !== "/health" || raw.method !== "GET") return undefined;
  return {
    status: 200,
    headers: ["content-type", "application/json", "access-control-allow-origin", "*"],
    body: '{"status":"ok"}',
    streamed: false,
  };
}
