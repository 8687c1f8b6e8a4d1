import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { AwsEventStreamParser, bedrockMessage, encodeAwsEvent } from "../../src/wire/aws-event-stream.ts";
import { SseParser } from "../../src/wire/sse.ts";

/** One reply that a provider really sent, and its request where that was kept. */
export interface Exchange {
  /** From the folder of the recordings, with a number where a file holds several. */
  name: string;
  file: string;
  /** The provider's folder. */
  folder: string;
  /** That and the path without its query are undefined where only the reply was kept. */
  method: string | undefined;
  path: string | undefined;
  /** Undefined where there was none, or where it was not kept. */
  request: unknown;
  status: number;
  streamed: boolean;
  /** The events' JSON values, or the one body. Undefined where the reply is none of both. */
  messages: unknown[] | undefined;
  /** As it came over the wire, or as it must have. */
  bytes: string | Uint8Array;
  contentType: string;
}

/**
 * All recordings below a folder: `streams` (an event's JSON a line), `bodies` (unary replies) and `http`
 * (requests with their replies).
 * @param starts whether a message begins a reply: a file may hold several, one after another
 */
export function readCorpus(root: string, starts: (message: unknown) => boolean): Exchange[] {
  return filesBelow(root).flatMap((path) => {
    const file = relative(root, path);
    const [kind = "", folder = ""] = file.split("/");
    const text = readFileSync(path, "utf8");
    switch (kind) {
      case "streams":
        return streamsOf(file, folder, text, starts);
      case "bodies":
        return [bodyOf(file, folder, text)];
      case "http":
        return interactionsOf(file, folder, JSON.parse(text));
      default:
        return [];
    }
  });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(json|txt)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function streamsOf(file: string, folder: string, text: string, starts: (message: unknown) => boolean): Exchange[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const parsed = lines.map((line) => parsedOrUndefined(line));
  const cuts: number[] = [];
  parsed.forEach((message, index) => {
    // A start right after a start begins nothing new: that provider had said it twice.
    if (index === 0 || (starts(message) && !starts(parsed[index - 1]))) cuts.push(index);
  });
  return cuts.map((from, index) => {
    const to = cuts[index + 1] ?? lines.length;
    const messages = parsed.slice(from, to);
    const aws = folder === "bedrock-converse";
    return {
      name: cuts.length === 1 ? file : `${file} (${index + 1})`,
      file,
      folder,
      method: undefined,
      path: undefined,
      request: undefined,
      status: 200,
      streamed: true,
      messages: messages.includes(undefined) ? undefined : messages,
      bytes: aws
        ? Buffer.concat(messages.map(framedByAws))
        : messages.map((message, at) => framed(message, lines[from + at]!)).join(""),
      contentType: aws ? AWS_EVENT_STREAM : "text/event-stream",
    };
  });
}

/** Providers whose events have a type name them by it. */
function framed(message: unknown, line: string): string {
  const type = (message as { type?: unknown } | undefined)?.type;
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${line}\n\n`;
}

const AWS_EVENT_STREAM = "application/vnd.amazon.eventstream";

/** A line has an event under its name. */
function framedByAws(message: unknown): Uint8Array {
  const [type, payload] = Object.entries(message as Record<string, unknown>)[0]!;
  return encodeAwsEvent({ type, exception: false, payload: JSON.stringify(payload) });
}

function bodyOf(file: string, folder: string, text: string): Exchange {
  const body = parsedOrUndefined(text);
  const request = typeof body === "object" && body !== null && "messages" in body;
  // Of errors the body was kept without its status.
  const failed = typeof body === "object" && body !== null && Object.keys(body).join() === "error";
  return {
    name: file,
    file,
    folder,
    method: undefined,
    path: undefined,
    request: request ? body : undefined,
    status: failed ? 400 : 200,
    streamed: false,
    messages: request || body === undefined ? undefined : [body],
    bytes: text,
    contentType: "application/json",
  };
}

interface Recorded {
  interactions: {
    request: { method: string; path: string; body?: unknown };
    response: { status: number; content_type?: string; body?: unknown };
  }[];
}

function interactionsOf(file: string, folder: string, recorded: Recorded): Exchange[] {
  return recorded.interactions.map(({ request, response }, index) => {
    const { status, content_type: contentType = "", body } = response;
    const streamed = contentType.startsWith("text/event-stream") || contentType === AWS_EVENT_STREAM;
    const bytes = bytesOf(body);
    return {
      name: recorded.interactions.length === 1 ? file : `${file} (${index + 1})`,
      file,
      folder,
      method: request.method,
      path: request.path.split("?", 1)[0],
      request: request.body === "" ? undefined : request.body,
      status,
      streamed,
      messages: streamed ? eventsOf(bytes) : bodiesOf(body),
      bytes,
      contentType,
    };
  });
}

/** Binary bodies are kept as base64. */
function bytesOf(body: unknown): string | Uint8Array {
  if (typeof body === "string") return body;
  const base64 = (body as { base64?: unknown } | null | undefined)?.base64;
  return typeof base64 === "string" ? Buffer.from(base64, "base64") : (JSON.stringify(body) ?? "");
}

/** Some servers forget to say that what they answer is JSON. */
function bodiesOf(body: unknown): unknown[] | undefined {
  if (typeof body === "object") return [body];
  const parsed = parsedOrUndefined(String(body));
  return parsed === undefined ? undefined : [parsed];
}

function eventsOf(text: string | Uint8Array): unknown[] | undefined {
  if (typeof text !== "string") return new AwsEventStreamParser().push(text).map(bedrockMessage);
  const parser = new SseParser();
  const events = [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
  const messages = events.flatMap((event) =>
    "data" in event && event.data !== "[DONE]" ? [parsedOrUndefined(event.data)] : [],
  );
  return messages.includes(undefined) ? undefined : messages;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
