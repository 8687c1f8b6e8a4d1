import { describe, expect, test } from "vitest";
import { ApiError } from "../dialects/api-error.ts";
import { frame, onWire } from "../dialects/encode.ts";
import type { Operation } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { AwsEventStreamParser } from "../wire/aws-event-stream.ts";
import { dialects } from "./registry.ts";

function operationOf(route: string, raw: RawRequest): Operation {
  const operations = dialects
    .flatMap((dialect) => dialect.operations)
    .filter(({ routes }) => routes.some(({ method, path }) => method === "POST" && path === route));
  const operation =
    operations.find(({ claims }) => claims?.(raw)) ?? operations.find(({ claims }) => claims === undefined);
  if (operation === undefined) throw new Error(`nobody answers ${raw.path}`);
  return operation;
}

describe("an error in the middle of a stream", () => {
  const error = new ApiError({ status: 429, message: "Slow down." });
  const told = (path: string, route: string, body: object): string | Uint8Array => {
    const operation = operationOf(route, new RawRequest("POST", path, {}, Buffer.from(JSON.stringify(body))));
    const framing = operation.framing as "sse";
    return onWire(frame(operation.encodeStreamError!(error), framing), framing);
  };

  test.each(["converse-stream", "invoke-with-response-stream"])("of Bedrock's %s", (action) => {
    const bytes = told(`/model/claude/${action}`, "/model/*", {});
    expect(new AwsEventStreamParser().push(bytes as Uint8Array)).toEqual([
      { type: "throttlingException", exception: true, payload: '{"message":"Slow down."}' },
    ]);
  });

  test("of Ollama and Cohere", () => {
    expect(told("/api/chat", "/api/chat", { messages: [1] })).toBe('{"error":"Slow down."}\n');
    expect(told("/v2/chat", "/v2/chat", {})).toBe(
      'event: message-end\ndata: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"Slow down.","usage":{"billed_units":{"input_tokens":0,"output_tokens":0},"tokens":{"input_tokens":0,"output_tokens":0}}}}\n\n',
    );
  });
});
