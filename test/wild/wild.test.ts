import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foldFrames } from "../../src/chat/fold.ts";
import type { ChatReply } from "../../src/chat/reply.ts";
import { type ChatMessage, type ChatRequest, messageText } from "../../src/chat/request.ts";
import type { Answer } from "../../src/dialects/answer.ts";
import { ApiError, type ApiErrorFields } from "../../src/dialects/api-error.ts";
import { RawRequest } from "../../src/dialects/raw-request.ts";
import { Traverser } from "../../src/dialects/traverser.ts";
import { type Difference, described, differences } from "./compare.ts";
import { type Exchange, readCorpus } from "./corpus.ts";
import type { Asked, Seen, Source, WildProvider } from "./provider.ts";
import { providers } from "./providers.ts";
import { type Served, serveOriginals, serveReplies } from "./serve.ts";
import unrepresented from "./unrepresented.json" with { type: "json" };

/** Real recordings, both ways. `npm run test:wild` says where they are. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");

// By file: fields that cannot be represented, and `stream` where no reader of the SDK takes the original.
const listed: Record<string, string[]> = unrepresented;
const NEVER_LISTED = ["text", "reasoning", "toolCalls", "finish", "usage"];

const exchanges = readCorpus(root, (message) => providers.some((provider) => provider.starts(message)));
const table = new Map(
  providers.map(({ name }) => [
    name,
    { files: new Set<string>(), listed: new Set<string>(), unequal: new Set<string>(), events: 0, unknown: 0 },
  ]),
);
const usedListings = new Set<string>();

let originals: Served<Exchange>;
let doubles: Served<Answer>;
beforeAll(async () => {
  [originals, doubles] = await Promise.all([serveOriginals(), serveReplies()]);
});
afterAll(async () => {
  await Promise.all([originals.stop(), doubles.stop()]);
  report();
});

describe.each(providers)("$name", (provider) => {
  const mine = exchanges.filter((exchange) => provider.claims(exchange));
  const row = table.get(provider.name)!;

  test.each(named(mine.filter(({ request }) => request !== undefined)))(
    "%s: the request is decoded",
    (_, { path, request }) => {
      expect(decoded(provider, path ?? "", request)).toEqual(provider.asked(request as Record<string, unknown>));
    },
  );

  test.each(named(mine.filter(({ messages }) => messages !== undefined)))(
    "%s: the reply is read, and served again as it was",
    async (_, exchange) => {
      row.files.add(exchange.file);
      row.unequal.add(exchange.file);
      const { reply, unknown } = readByRules(provider, exchange);
      row.unknown += unknown;
      const key = exchange.name;
      originals.replies.set(key, exchange);
      doubles.replies.set(key, answerTo(exchange, reply));
      const { found, throughEvents } = await compareThroughSdk(provider, exchange, {
        key,
        streamed: exchange.streamed,
        reply,
      });
      if (throughEvents) row.events++;
      const fields = new Set(found.map(({ field }) => field));
      const allowed = listed[exchange.file] ?? [];
      for (const field of fields) {
        if (!allowed.includes(field)) continue;
        row.listed.add(exchange.file);
        usedListings.add(`${exchange.file} ${field}`);
      }
      const unequal = found.filter(({ field }) => !allowed.includes(field));
      if (unequal.length > 0) throw new Error(unequal.map(described).join("\n"));
      row.unequal.delete(exchange.file);
    },
  );
});

test("there are recordings of each operation", () => {
  expect(
    providers.filter((provider) => !exchanges.some((exchange) => provider.claims(exchange))).map(({ name }) => name),
  ).toEqual([]);
});

test("the list of what cannot be represented has nothing on it that can be, nor what must be", () => {
  const entries = Object.entries(listed).flatMap(([file, fields]) => fields.map((field) => ({ file, field })));
  expect(entries.filter(({ field }) => NEVER_LISTED.includes(field.split(".", 1)[0]!))).toEqual([]);
  expect(entries.filter(({ file, field }) => !usedListings.has(`${file} ${field}`))).toEqual([]);
});

function named(exchanges: Exchange[]): [string, Exchange][] {
  return exchanges.map((exchange) => [exchange.name, exchange]);
}

function decoded({ operation }: WildProvider, path: string, body: unknown): Asked {
  const raw = new RawRequest("POST", path, {}, new TextEncoder().encode(JSON.stringify(body)));
  const request = operation.decode(raw) as ChatRequest;
  const view = operation.view(request);
  const results = request.messages.filter((message: ChatMessage) => message.role === "tool");
  return {
    model: view.model,
    lastUserText: view.userMessage,
    systemText: view.systemMessage,
    toolNames: [...view.toolNames],
    toolResults: results.map((message) => [message.tool_call_id ?? "", messageText(message)]),
  };
}

function readByRules(
  { operation }: WildProvider,
  { messages = [], status }: Exchange,
): { reply: ChatReply; unknown: number } {
  const reader = new Traverser(operation.rules!, operation.dialect);
  messages.forEach((message, index) => {
    reader.push(message, index);
  });
  const reply = reader.finish();
  expect(foldFrames(reader.frames)).toEqual(reply);
  if (status === 200) expect(reader.finished).toBe(true);
  else expect(reader.frames.map(({ event }) => event.type)).toContain("error");
  return { reply, unknown: reader.unknown };
}

function answerTo({ status, messages = [] }: Exchange, reply: ChatReply): Answer {
  const source = { kind: "cassette" as const };
  if (status === 200) return { kind: "output", out: reply, source };
  const body = messages[0] as { error: Omit<ApiErrorFields, "status"> & Record<string, unknown> };
  const { message, type, code, param, ...extra } = body.error;
  const error = { status, message, extra, ...(type && { type }), ...(code && { code }), ...(param && { param }) };
  return { kind: "error", error: new ApiError(error), source };
}

type Reading = Pick<Source, "key" | "streamed" | "reply">;

/** What the SDK makes of both, by the first of its ways that takes the original. */
async function compareThroughSdk(
  provider: WildProvider,
  exchange: Exchange,
  reading: Reading,
): Promise<{ found: Difference[]; throughEvents: boolean }> {
  const failures: unknown[] = [];
  for (const read of readersFor(provider, exchange)) {
    let original: Seen;
    try {
      original = await read({ ...reading, url: originals.url });
    } catch (error) {
      failures.push(error);
      continue;
    }
    const served = await read({ ...reading, url: doubles.url });
    const found = differences(original, served).filter(
      (difference) => difference.original !== undefined || !provider.added?.includes(difference.field),
    );
    return { found, throughEvents: read === provider.readEvents };
  }
  return { found: [{ field: "reply", original: failures.map(String), served: undefined }], throughEvents: false };
}

function readersFor(provider: WildProvider, exchange: Exchange): WildProvider["read"][] {
  if (exchange.status !== 200) return [(source) => provider.read(source).then(refused, seenError)];
  if (!exchange.streamed) return [provider.read];
  return provider.misreads?.(exchange) ? [provider.readEvents] : [provider.read, provider.readEvents];
}

const NOTHING = { text: [], reasoning: [], toolCalls: [], finish: undefined, usage: undefined, rest: undefined };

function refused(): never {
  throw new Error("The SDK took an error for a reply.");
}

function seenError(error: unknown): Seen {
  if (!(error instanceof Error)) throw error;
  const { status, error: body } = error as { status?: number; error?: Record<string, unknown> };
  // The id of a request is its server's to give.
  return { ...NOTHING, finish: [error.constructor.name, status], rest: { ...body, request_id: undefined } };
}

function report(): void {
  const rows = [...table].map(([name, row]) => ({
    name,
    files: row.files.size,
    equal: row.files.size - row.unequal.size - row.listed.size,
    listed: row.listed.size,
    unequal: row.unequal.size,
    throughEvents: row.events,
    unknownEvents: row.unknown,
  }));
  const claimed = new Set(exchanges.filter((exchange) => providers.some((provider) => provider.claims(exchange))));
  const others = new Map<string, number>();
  for (const exchange of exchanges) {
    if (claimed.has(exchange)) continue;
    const place =
      `${exchange.file.split("/", 2).join("/")} ${exchange.path?.replace(/[^/]*\d{4}[^/:]*/g, "…") ?? ""}`.trim();
    others.set(place, (others.get(place) ?? 0) + 1);
  }
  const file = process.env["STUNTDOUBLE_WILD_REPORT"];
  if (file !== undefined) writeFileSync(file, JSON.stringify({ rows, others: Object.fromEntries(others) }));
}
