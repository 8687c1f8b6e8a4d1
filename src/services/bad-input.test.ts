import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../dialects/api-error.ts";
import { frame, onWire } from "../dialects/encode.ts";
import type { Memory, Operation } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import { AwsEventStreamParser } from "../wire/aws-event-stream.ts";
import { dialects } from "./registry.ts";

const NOTHING_REMEMBERED: Memory = { get: () => undefined, set: () => {}, delete: () => false };

/** An operation, and a path on which it is asked. */
const asked = [
  ...["converse", "converse-stream", "count-tokens"].map((action) => ({ action, model: "amazon.nova-micro-v1:0" })),
  ...["claude", "nova", "llama3", "mistral", "gpt-oss", "titan-text", "titan-embed", "cohere.embed"].map((model) => ({
    action: "invoke",
    model,
  })),
].map(({ action, model }) => ({ path: `/model/${model}/${action}`, route: "/model/*" }));
const PATHS = [
  "/api/chat",
  "/api/generate",
  "/api/embed",
  "/api/embeddings",
  "/api/show",
  "/v2/chat",
  "/v2/embed",
  "/v1/embed",
];
const paths = [...asked, ...PATHS.map((path) => ({ path, route: path }))];

function operationOf(route: string, raw: RawRequest): Operation {
  const operations = dialects
    .flatMap((dialect) => dialect.operations)
    .filter(({ routes }) => routes.some(({ method, path }) => method === "POST" && path === route));
  const operation =
    operations.find(({ claims }) => claims?.(raw)) ?? operations.find(({ claims }) => claims === undefined);
  if (operation === undefined) throw new Error(`nobody answers ${raw.path}`);
  return operation;
}

// Names that mean something to these APIs, so that what is random gets past the first checks.
const name = fc.constantFrom(
  ...[
    "model",
    "messages",
    "role",
    "content",
    "text",
    "type",
    "prompt",
    "images",
    "options",
    "format",
    "tools",
    "function",
  ],
  ...[
    "name",
    "arguments",
    "tool_calls",
    "toolUse",
    "toolResult",
    "toolUseId",
    "input",
    "image",
    "source",
    "bytes",
    "system",
  ],
  ...[
    "toolConfig",
    "toolSpec",
    "inputSchema",
    "json",
    "inferenceConfig",
    "outputConfig",
    "texts",
    "inputs",
    "inputText",
  ],
  ...[
    "converse",
    "invokeModel",
    "body",
    "anthropic_version",
    "max_tokens",
    "document",
    "embedding_types",
    "input_type",
  ],
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("user", "assistant", "tool", "x", "", 1, -1, 0.5, true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 6 }),
  ),
}));

describe.each(paths)("$path", ({ path, route }) => {
  test("takes any body, or refuses it in its provider's words", () => {
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 8 }), fc.boolean(), (body, likely) => {
        const given = likely ? { model: "m", messages: [{ role: "user", content: "x" }], prompt: "x", ...body } : body;
        const raw = new RawRequest("POST", path, {}, Buffer.from(JSON.stringify(given)));
        const operation = operationOf(route, raw);
        try {
          const request = operation.decode(raw, NOTHING_REMEMBERED);
          const view = operation.view(request);
          expect([typeof view.model, typeof operation.streamed(request)]).toEqual(["string", "boolean"]);
          expect(view.userMessage ?? view.inputText ?? "").toBeTypeOf("string");
          expect(typeof operation.variant(request)).toBe("object");
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          const { status, body: told } = operation.encodeError(error as ApiError, "req_1");
          expect([status, typeof JSON.parse(String(told))]).toEqual([400, "object"]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

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
