import type { Call, Memory, Operation } from "./operation.ts";
import type { RawRequest } from "./raw-request.ts";

/** The test id of requests that name none. */
export const DEFAULT_TEST_ID = "__default__";

/**
 * Decodes a request into a call.
 * @throws {ApiError} when the operation refuses the request
 */
export function callOf(operation: Operation, raw: RawRequest, memory: Memory): Call {
  const request = operation.decode(raw, memory);
  return {
    operation,
    raw,
    request,
    view: operation.view(request),
    streamed: operation.streamed(request),
    testId: testIdOf(raw),
    context: contextOf(raw),
    memory,
  };
}

/** Whose counters, one-shot errors and chaos a request has to do with. */
export function testIdOf(raw: RawRequest): string {
  const asked = raw.header("x-test-id") ?? (raw.url.includes("testId=") ? raw.query.get("testId") : null);
  return asked ?? DEFAULT_TEST_ID;
}

/** What a fixture's `context` is compared with. */
export function contextOf(raw: RawRequest): string | undefined {
  return raw.header("x-stuntdouble-context") ?? raw.header("x-aimock-context");
}
