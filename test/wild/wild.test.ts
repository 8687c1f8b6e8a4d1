import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foldFrames } from "../../src/chat/fold.ts";
import type { ChatReply } from "../../src/chat/reply.ts";
import { type ChatMessage, type ChatRequest, messageText } from "../../src/chat/request.ts";
import type { Answer } from "../../src/dialects/answer.ts";
import { ApiError, type ApiErrorFields } from "../../src/dialects/api-error.ts";
import { RawRequest } from "../../src/dialects/raw-request.ts";
import { Traverser } from "../../src/dialects/traverser.ts";
import { Router } from "../../src/server/router.ts";
import { dialects } from "../../src/services/registry.ts";
import { LocalMemory } from "../../src/state/memory.ts";
import { type Difference, described, differences } from "./compare.ts";
import { type Exchange, readCorpus } from "./corpus.ts";
import { type Asked, NOTHING_SEEN, type Seen, type Source, type WildProvider } from "./provider.ts";
import { providers } from "./providers.ts";
import { type Served, serveOriginals, serveReplies } from "./serve.ts";
import { Row, writeReport } from "./table.ts";
import unrepresented from "./unrepresented.json" with { type: "json" };

/** Real recordings, both ways. `npm run test:wild` says where they are. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");

// By file: fields that cannot be represented and why, and `unread` where the SDK takes the original in none of its ways.
const listed: Record<string, Record<string, string>> = unrepresented;
const NEVER_LISTED = ["text", "reasoning", "toolCalls", "finish", "usage"];

const router = new Router(dialects);
const exchanges = readCorpus(root, (message) => providers.some((provider) => provider.starts?.(message)));
const table = new Map(providers.map(({ name }) => [name, new Row()]));
const usedListings = new Set<string>();

let originals: Served<Exchange>;
let doubles: Served<Answer>;
beforeAll(async () => {
  [originals, doubles] = await Promise.all([serveOriginals(), serveReplies()]);
});
afterAll(async () => {
  await Promise.all([originals.stop(), doubles.stop()]);
  writeReport(
    table,
    untested().map(({ why }) => why),
  );
});

describe.each(providers)("$name", (provider) => {
  const mine = exchanges.filter((exchange) => provider.claims(exchange));
  const row = table.get(provider.name)!;

  test.each(named(mine.filter(({ request }) => request !== undefined)))(
    "%s: the request is decoded",
    (_, { path, request }) => {
      expect(decoded(provider, path ?? "", request)).toEqual(
        provider.asked(request as Record<string, unknown>, path ?? ""),
      );
    },
  );

  test.each(named(mine.filter(({ messages }) => messages !== undefined)))(
    "%s: the reply is read, and served again as it was",
    async (_, exchange) => {
      row.files.add(exchange.file);
      row.unequal.set(exchange.name, exchange.file);
      const { source, unknown } = handIn(provider, exchange);
      row.unknownEvents += unknown;
      if (provider.remembers) await playBefore(exchange);
      const { seen, read, failures } = await readOriginal(provider, exchange, source);
      if (read === provider.readEvents) row.throughEvents++;
      const found =
        read === undefined
          ? [{ field: "unread", original: failures, served: "whatever" }]
          : differences(seen, await read({ ...source, url: doubles.url }));
      const unequal = unlisted(found, provider, exchange);
      if (unequal.length > 0) throw new Error(unequal.map(described).join("\n"));
      row.unequal.delete(exchange.name);
    },
  );

  test.each(named(mine.filter((exchange) => provider.operation.encodeStream !== undefined && isWhole(exchange))))(
    "%s: a client that asks for the other mode gets the same reply",
    async (_, exchange) => {
      const { source } = handIn(provider, exchange);
      const { seen } = await readOriginal(provider, exchange, source);
      if (seen === undefined) return;
      const read = exchange.streamed ? provider.read : (provider.readEvents ?? provider.read);
      const other = await read({ ...source, url: doubles.url, streamed: !exchange.streamed });
      const found = differences({ ...seen, rest: undefined }, { ...other, rest: undefined });
      const unequal = found.filter((difference) => !isAdded(difference, provider));
      if (unequal.length > 0) throw new Error(unequal.map(described).join("\n"));
    },
  );
});

test("there are recordings of each operation", () => {
  expect(
    providers.filter((provider) => !exchanges.some((exchange) => provider.claims(exchange))).map(({ name }) => name),
  ).toEqual([]);
});

test("the list of what cannot be represented has nothing on it that can be, nor what must be", () => {
  const entries = Object.entries(listed).flatMap(([file, fields]) =>
    Object.keys(fields).map((field) => ({ file, field })),
  );
  expect(entries.filter(({ field }) => NEVER_LISTED.includes(field.split(".", 1)[0]!))).toEqual([]);
  expect(entries.filter(({ file, field }) => !usedListings.has(`${file} ${field}`))).toEqual([]);
});

test("whatever was asked of an operation that is served is tested", () => {
  const served = untested().filter(
    ({ exchange: { method, path } }) =>
      method !== undefined &&
      path !== undefined &&
      router.find(new RawRequest(method, path, {}, new Uint8Array())) !== undefined,
  );
  expect(served.map(({ why }) => why)).toEqual([]);
});

function named(exchanges: Exchange[]): [string, Exchange][] {
  return exchanges.map((exchange) => [exchange.name, exchange]);
}

function decoded({ operation }: WildProvider, path: string, body: unknown): Asked {
  const raw = new RawRequest("POST", path, {}, new TextEncoder().encode(JSON.stringify(body)));
  // Some providers have the model in the path.
  router.find(raw);
  const request = operation.decode(raw, new LocalMemory()) as ChatRequest;
  const view = operation.view(request);
  const results = (request.messages ?? []).filter((message: ChatMessage) => message.role === "tool");
  return {
    model: view.model,
    lastUserText: view.userMessage,
    systemText: view.systemMessage,
    toolNames: [...view.toolNames],
    toolResults: results.map((message) => [message.tool_call_id ?? "", messageText(message)]),
  };
}

type OpenSource = Omit<Source, "url">;

/** Reads a recorded reply, and hands it to the double unless that answers by itself. */
function handIn(provider: WildProvider, exchange: Exchange): { source: OpenSource; unknown: number } {
  const { reply, unknown } = readByRules(provider, exchange);
  const { name, streamed, path, messages, status } = exchange;
  const out = provider.out === undefined || status !== 200 ? reply : provider.out(messages![0] as Members);
  if (!provider.remembers) doubles.replies.set(name, answerTo(exchange, out));
  return { source: { key: name, streamed, path, reply, request: exchange.request as Members | undefined }, unknown };
}

type Members = Record<string, unknown>;

/** Asks the double for all that came before in the file, so that it remembers what the provider did. */
async function playBefore({ file, name }: Exchange): Promise<void> {
  for (const before of exchanges.filter((exchange) => exchange.file === file)) {
    if (before.name === name) return;
    const provider = providers.find((candidate) => candidate.claims(before))!;
    await provider.read({ ...handIn(provider, before).source, url: doubles.url });
  }
}

function readByRules(
  { operation }: WildProvider,
  { messages = [], status }: Exchange,
): { reply: ChatReply; unknown: number } {
  if (operation.rules === undefined) return { reply: { choices: [] }, unknown: 0 };
  const reader = new Traverser(operation.rules, operation.dialect);
  messages.forEach((message, index) => {
    reader.push(message, index);
  });
  const reply = reader.finish();
  expect(foldFrames(reader.frames)).toEqual(reply);
  if (status === 200) expect(reader.finished).toBe(true);
  else expect(reader.frames.map(({ event }) => event.type)).toContain("error");
  return { reply, unknown: reader.unknown };
}

type ErrorBody = Omit<ApiErrorFields, "status"> & Members;

function answerTo({ status, messages = [] }: Exchange, out: unknown): Answer {
  const source = { kind: "cassette" as const };
  if (status === 200) return { kind: "output", out, source };
  const body = messages[0] as ErrorBody & { error?: ErrorBody };
  const { message, type, code, param, ...extra } = body.error ?? body;
  const error = { status, message, extra, ...(type && { type }), ...(code && { code }), ...(param && { param }) };
  return { kind: "error", error: new ApiError(error), source };
}

/** What the SDK makes of the original, by the first of its ways that takes it; if none does, why. */
async function readOriginal(
  provider: WildProvider,
  exchange: Exchange,
  source: OpenSource,
): Promise<{ seen?: Seen; read?: WildProvider["read"]; failures: string[] }> {
  originals.replies.set(exchange.name, exchange);
  const failures: string[] = [];
  for (const read of readersFor(provider, exchange)) {
    try {
      return { seen: await read({ ...source, url: originals.url }), read, failures };
    } catch (error) {
      failures.push(String(error));
    }
  }
  return { failures };
}

function readersFor(provider: WildProvider, exchange: Exchange): WildProvider["read"][] {
  if (exchange.status !== 200) return [(source) => provider.read(source).then(refused, seenError)];
  if (!exchange.streamed) return [provider.read];
  const { read, readEvents = read } = provider;
  if (breaksOff(exchange)) return [(source) => readEvents(source).then(refused, seenError)];
  return provider.misreads?.(exchange) ? [readEvents] : [read, readEvents];
}

function isWhole(exchange: Exchange): boolean {
  return exchange.messages !== undefined && exchange.status === 200 && !breaksOff(exchange);
}

/** Whether the provider has told of an error in the middle of the stream, which the SDK raises. */
function breaksOff({ messages = [] }: Exchange): boolean {
  return messages.some((message) => (message as { type?: unknown } | null)?.type === "error");
}

function isAdded({ field, original, served }: Difference, { added = [], madeUp = [] }: WildProvider): boolean {
  if (madeUp.includes(field)) return typeof original === typeof served;
  return original === undefined && added.includes(field);
}

function unlisted(found: Difference[], provider: WildProvider, { file }: Exchange): Difference[] {
  const allowed = Object.keys(listed[file] ?? {});
  return found.filter((difference) => {
    const { field } = difference;
    if (isAdded(difference, provider)) return false;
    if (!allowed.includes(field)) return true;
    table.get(provider.name)!.listed.add(file);
    usedListings.add(`${file} ${field}`);
    return false;
  });
}

function refused(): never {
  throw new Error("The SDK took an error for a reply.");
}

interface SdkError {
  status?: number;
  error?: Record<string, unknown>;
  /** AWS has them here. */
  $metadata?: { httpStatusCode?: number };
}

function seenError(error: unknown): Seen {
  if (!(error instanceof Error)) throw error;
  const { status, error: body, $metadata } = error as SdkError;
  // The id of a request is its server's to give.
  const rest = body === undefined ? { message: error.message } : { ...body, request_id: undefined };
  return { ...NOTHING_SEEN, finish: [error.constructor.name, status ?? $metadata?.httpStatusCode], rest };
}

/** What no row tests, and why. */
function untested(): { exchange: Exchange; why: string }[] {
  return exchanges
    .filter((exchange) => !providers.some((provider) => provider.claims(exchange)))
    .map((exchange) => {
      const { method, path, file, messages } = exchange;
      if (messages === undefined && path === undefined) return { exchange, why: `${file}: has lines that are no JSON` };
      if (path === undefined) return { exchange, why: `${file}: is the reply of no operation` };
      return { exchange, why: `${file.split("/", 2).join("/")} ${method} ${path.replace(/[^/]*\d{4}[^/:]*/g, "…")}` };
    });
}
