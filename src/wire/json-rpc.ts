import {
  childrenAt,
  decodeString,
  kindAt,
  memberAt,
  numberKey,
  replaceSpans,
  rootSpan,
  type Span,
} from "./json-text.ts";

/**
 * JSON-RPC 2.0 messages (https://www.jsonrpc.org/specification) as text. An id is opaque: it is kept as it was
 * written, and two ids are the same when they are the same JSON value (`1` and `"1"` are not).
 */
export interface RpcMember {
  kind: "request" | "notification" | "response";
  /** Set for requests and notifications. */
  method: string | undefined;
  /** The id as written; undefined for a notification. */
  id: string | undefined;
  /** Equal for equal ids, however they are written. */
  idKey: string | undefined;
  idSpan: Span | undefined;
}

export interface RpcMessage {
  text: string;
  batch: boolean;
  /** One, or a batch's members in order. */
  members: RpcMember[];
}

/** What keeps a line from being a message: `reason` completes the sentence "this is no JSON-RPC message: …". */
export interface NoMessage {
  text: string;
  reason: string;
  /** Whether it is JSON all the same. */
  json: boolean;
}

export function idKeyOf(id: string): string {
  if (id.startsWith('"')) return `string ${decodeString(id)}`;
  return kindAt(id, 0) === "number" ? `number ${numberKey(id)}` : id;
}

function readMember(text: string, start: number): RpcMember | string {
  if (kindAt(text, start) !== "object") return "it is no object";
  let method: string | undefined;
  let idSpan: Span | undefined;
  let answer = false;
  for (const child of childrenAt(text, start)) {
    if (child.key === "method") {
      if (kindAt(text, child.start) !== "string") return "its method is no string";
      method = decodeString(text.slice(child.start, child.end));
    } else if (child.key === "id") {
      const kind = kindAt(text, child.start);
      if (kind !== "string" && kind !== "number" && kind !== "null") return "its id is no string, number or null";
      idSpan = child;
    } else if (child.key === "result" || child.key === "error") {
      answer = true;
    }
  }
  const id = idSpan && text.slice(idSpan.start, idSpan.end);
  const idKey = id === undefined ? undefined : idKeyOf(id);
  if (method !== undefined) return { kind: id === undefined ? "notification" : "request", method, id, idKey, idSpan };
  if (!answer) return "it has no method, result or error";
  if (id === undefined) return "it has a result or an error, but no id";
  return { kind: "response", method, id, idKey, idSpan };
}

/** Reads one message or batch. Never throws: what is no message says why. */
export function readMessage(text: string): RpcMessage | NoMessage {
  try {
    JSON.parse(text);
  } catch (error) {
    return { text, reason: `it is no JSON (${(error as Error).message})`, json: false };
  }
  const root = rootSpan(text);
  if (kindAt(text, root.start) !== "array") {
    const member = readMember(text, root.start);
    return typeof member === "string"
      ? { text, reason: member, json: true }
      : { text, batch: false, members: [member] };
  }
  const members: RpcMember[] = [];
  for (const child of childrenAt(text, root.start)) {
    const member = readMember(text, child.start);
    if (typeof member === "string")
      return { text, reason: `${member} (member ${members.length + 1} of a batch)`, json: true };
    members.push(member);
  }
  return members.length === 0 ? { text, reason: "it is an empty batch", json: true } : { text, batch: true, members };
}

export function isMessage(read: RpcMessage | NoMessage): read is RpcMessage {
  return "members" in read;
}

/** The message with other ids (JSON text), all else as it was written. `undefined` keeps a member's id. */
export function withIds(message: RpcMessage, idOf: (member: RpcMember) => string | undefined): string {
  const replaced: { span: Span; id: string }[] = [];
  for (const member of message.members) {
    const id = member.idSpan && idOf(member);
    if (member.idSpan && id !== undefined && id !== member.id) replaced.push({ span: member.idSpan, id });
  }
  if (replaced.length === 0) return message.text;
  const ids = new Map(replaced.map(({ span, id }) => [span, id]));
  return replaceSpans(
    message.text,
    replaced.map(({ span }) => span),
    (span) => ids.get(span) as string,
  );
}

/** An error response as JSON text. `id` is JSON text. */
export function errorResponse(id: string, code: number, message: string, data?: unknown): string {
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** JSON on one line: line breaks outside of strings, all that valid JSON can have, become spaces. */
export function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, " ").trim() : text;
}

/** The text of a member of the message's object, for one that is looked at apart (such as `params`). */
export function memberText(text: string, name: string): string | undefined {
  const span = memberAt(text, rootSpan(text).start, name);
  return span && text.slice(span.start, span.end);
}
