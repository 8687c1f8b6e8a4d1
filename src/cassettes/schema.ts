/**
 * What a cassette may hold. Loaded when the product is built and never when it runs: `npm run generate` makes the
 * published JSON Schema and the validator from it. Objects are open: other writers' members are not ours to refuse.
 * What a schema cannot say (pointers, order, sums) is checked in `damage.ts`.
 */
import { z } from "zod";

const milliseconds = z.number().min(0);
const count = z.int().min(0);
const free = z.record(z.string(), z.unknown());

const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string(),
    arguments: z.string().describe("Serialized JSON."),
  }),
});

const frame = z.looseObject({
  delta_ms: milliseconds.describe("Since the frame before; of a stream's first, since the request. 0 when unary."),
  chunk: z.string().describe("The text that was added."),
  tool_calls: z.array(toolCall).optional(),
  finish_reason: z.string().optional().describe("Of the last frame only."),
});

const trace = z.looseObject({
  trace_id: z.string(),
  request_context: z.looseObject({
    model: z.string(),
    provider: z.string(),
    messages: z.array(
      z.looseObject({ role: z.string().describe("system, user, assistant or tool"), content: z.unknown().optional() }),
    ),
    parameters: z.looseObject({
      temperature: z.number().nullable().optional(),
      max_tokens: z.int().nullable().optional(),
      stream: z.boolean(),
    }),
  }),
  network_metrics: z.looseObject({ ttfb_ms: milliseconds, total_duration_ms: milliseconds }),
  response_timeline: z.array(frame),
  exception_boundary: z.looseObject({
    occurred: z.boolean(),
    error_type: z.string().optional(),
    message: z.string().optional(),
  }),
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  raw_payload: z
    .looseObject({ sync_response: z.unknown().optional(), stream_chunks: z.array(z.unknown()).optional() })
    .optional()
    .describe("What the provider sent. Without it nothing verifies the timeline."),
  stuntdouble: z
    .looseObject({
      operation: z.string().optional(),
      recorded_at: z.string().optional(),
      form: z.string().optional(),
      http: z
        .looseObject({
          status: count,
          headers: z.record(z.string(), z.string()),
          times_ms: z.array(milliseconds).optional(),
          framing: z.enum(["json", "sse", "sse-done", "sse-named", "ndjson"]).optional(),
          encoding: z.literal("base64").optional(),
        })
        .optional(),
      ending: z.enum(["truncated", "cut", "partial"]).optional(),
      reply: z.looseObject({ choices: z.array(free) }).optional(),
      redactions: z.array(free).optional(),
      usage: z.looseObject({ cached_tokens: count.optional(), cache_write_tokens: count.optional() }).optional(),
    })
    .optional()
    .describe("What the format has no place for."),
});

const cassette = z
  .looseObject({
    scenario: z.string(),
    latest_trace_id: z.string().describe("The take that is replayed."),
    history_keys: z.array(z.string()).describe("The takes, oldest first; five at most."),
    traces: z.record(z.string(), trace),
    stuntdouble: z
      .looseObject({
        format_version: count,
        invoker: z.string().optional(),
        filename: z.string().optional(),
        fingerprint: z.string().optional(),
        occurrence: count.optional(),
      })
      .optional()
      .describe("What tells the recorded call from all others."),
  })
  .describe("A cassette of Stuntdouble");

/** The schema of a cassette as JSON Schema. */
export function jsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(cassette, {
    target: "draft-7",
    io: "input",
    override: ({ jsonSchema: schema }) => {
      // Any number is a whole one beyond these; they are only noise.
      if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
      if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
    },
  });
}
