import { notBase64At } from "../../wire/base64.ts";
import { type ApiError, badRequest } from "../api-error.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

export type Kind = "string" | "integer" | "number" | "boolean" | "object" | "list";

const KINDS: Record<Kind, { holds(value: unknown): boolean; words: string }> = {
  string: { holds: (value) => typeof value === "string", words: "string" },
  integer: { holds: Number.isInteger, words: "integer" },
  number: { holds: (value) => typeof value === "number", words: "number" },
  boolean: { holds: (value) => typeof value === "boolean", words: "boolean" },
  object: { holds: isObject, words: "dictionary" },
  list: { holds: Array.isArray, words: "list" },
};

/** What a block cannot be without. A type that is not listed is let through: there are new ones every month. */
const BLOCK_MEMBERS = new Map(
  Object.entries<Record<string, Kind>>({
    text: { text: "string" },
    image: { source: "object" },
    document: { source: "object" },
    search_result: { source: "string", title: "string", content: "list" },
    thinking: { thinking: "string", signature: "string" },
    redacted_thinking: { data: "string" },
    tool_result: { tool_use_id: "string" },
    tool_use: { id: "string", name: "string", input: "object" },
  }).map(([type, members]) => [type, Object.entries(members)]),
);

/**
 * @param path where the blocks are; asked for when one of them is at fault
 * @throws {ApiError} 400
 */
export function checkBlocks(blocks: unknown[], path: () => string): JsonObject[] {
  for (let index = 0; index < blocks.length; index++) checkBlock(blocks[index], () => `${path()}.${index}`);
  return blocks as JsonObject[];
}

function checkBlock(block: unknown, path: () => string): void {
  if (!isObject(block)) throw wrong(path(), "object", block);
  const { type } = block;
  if (typeof type !== "string") throw wrong(`${path()}.type`, "string", type);
  for (const [name, kind] of BLOCK_MEMBERS.get(type) ?? []) {
    if (!KINDS[kind].holds(block[name])) throw wrong(`${path()}.${type}.${name}`, kind, block[name]);
  }
  const { source } = block;
  if (!isObject(source) || source["type"] !== "base64") return;
  const at = (): string => `${path()}.${type}.source.base64`;
  if (typeof source["data"] !== "string") throw wrong(`${at()}.data`, "string", source["data"]);
  if (notBase64At(source["data"]) >= 0) throw badRequest(`${at()}: invalid base64 data`);
}

/** Tool results may hold empty texts, prompts may not. */
export function checkTexts(blocks: JsonObject[], path: () => string): void {
  const empty = blocks.findIndex((block) => block["type"] === "text" && block["text"] === "");
  if (empty >= 0) throw badRequest(`${path()}.${empty}: text content blocks must be non-empty`);
}

export function check(path: string, kind: Kind, value: unknown): void {
  if (!KINDS[kind].holds(value)) throw wrong(path, kind, value);
}

export function checkOptional(path: string, kind: Kind, value: unknown): void {
  if (value !== undefined && value !== null) check(path, kind, value);
}

export function wrong(path: string, kind: Kind, value: unknown): ApiError {
  return badRequest(
    value === undefined ? `${path}: Field required` : `${path}: Input should be a valid ${KINDS[kind].words}`,
  );
}
