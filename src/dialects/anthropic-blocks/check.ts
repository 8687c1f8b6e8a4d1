import { notBase64At } from "../../wire/base64.ts";
import { wrong } from "../anthropic/check.ts";
import { badRequest } from "../api-error.ts";
import { isOf, type Kind } from "../kinds.ts";
import { isObject, type JsonObject } from "../raw-request.ts";

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
    if (!isOf(kind, block[name])) throw wrong(`${path()}.${type}.${name}`, kind, block[name]);
  }
  const { source } = block;
  if (!isObject(source) || source["type"] !== "base64") return;
  const at = (): string => `${path()}.${type}.source.base64`;
  if (typeof source["data"] !== "string") throw wrong(`${at()}.data`, "string", source["data"]);
  if (notBase64At(source["data"]) >= 0) throw badRequest(`${at()}: invalid base64 data`);
}

/**
 * The same for blocks of a prompt, whose texts may not be empty as those of tool results may.
 * @throws {ApiError} 400
 */
export function checkPrompt(blocks: unknown[], path: () => string): JsonObject[] {
  const checked = checkBlocks(blocks, path);
  const empty = checked.findIndex((block) => block["type"] === "text" && block["text"] === "");
  if (empty >= 0) throw badRequest(`${path()}.${empty}: text content blocks must be non-empty`);
  return checked;
}
