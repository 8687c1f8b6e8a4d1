/**
 * The canonical chat request. It has the shape of OpenAI chat completions, snake_case as on the wire,
 * since that is the shape that users' predicates and the journal already know; content parts carry what
 * other providers need.
 */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ChatTool[];
  tool_choice?: unknown;
  response_format?: { type: string; [key: string]: unknown };
  stream?: boolean;
  temperature?: number | null;
  max_tokens?: number | null;
  /** Whatever else the body holds, as it was sent. */
  [key: string]: unknown;
}

export type ChatRole = "system" | "user" | "assistant" | "tool" | (string & {});

export interface ChatMessage {
  /** `developer` is decoded as `system`, so that fixtures see one kind. */
  role: ChatRole;
  content?: string | ContentPart[] | null;
  name?: string;
  tool_calls?: RequestToolCall[];
  tool_call_id?: string;
  [key: string]: unknown;
}

export interface ContentPart {
  type: string;
  text?: string;
  [key: string]: unknown;
}

export interface RequestToolCall {
  id?: string;
  type: "function" | (string & {});
  function: { name: string; arguments: string };
  [key: string]: unknown;
}

export interface ChatTool {
  type: string;
  function?: { name: string; description?: string; parameters?: unknown; [key: string]: unknown };
  [key: string]: unknown;
}

/** The text of a message: its string, or its text parts put together. */
export function messageText(message: ChatMessage): string {
  return contentText(message.content);
}

export function contentText(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content) if (typeof part?.text === "string") text += part.text;
  return text;
}

/** Parts that are all text are one string, as most clients send it. */
export function textOrParts(parts: ContentPart[]): string | ContentPart[] {
  let text = "";
  for (const part of parts) {
    if (part.type !== "text") return parts;
    text += part.text;
  }
  return text;
}

/** What is said in two pieces as one. */
export function joinContent(before: ChatMessage["content"], after: string | ContentPart[]): string | ContentPart[] {
  if (before === undefined || before === null) return after;
  if (typeof before === "string" && typeof after === "string") return before + after;
  const parts = (content: string | ContentPart[]): ContentPart[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return [...parts(before), ...parts(after)];
}

/** A function that a model may call, with what else was said of it. */
export function functionTool(
  name: string,
  description: unknown,
  parameters: unknown,
  others: Record<string, unknown>,
): ChatTool {
  const offered: ChatTool["function"] = { name, parameters };
  if (typeof description === "string") offered.description = description;
  return { ...others, type: "function", function: offered };
}

/**
 * The blocks of a model's turn as one message.
 * @param sort the call that a block is, or whether it was thought or said
 * @param content what the blocks that were said are put together
 * @param thoughts the member under which the others stay as they are, for predicates
 */
export function modelMessage<Block>(
  blocks: readonly Block[],
  sort: (block: Block, index: number) => RequestToolCall | "thought" | "said",
  content: (said: Block[]) => string | ContentPart[],
  thoughts: string,
): ChatMessage {
  const calls: RequestToolCall[] = [];
  const thought: Block[] = [];
  const said: Block[] = [];
  blocks.forEach((block, index) => {
    const sorted = sort(block, index);
    if (sorted === "thought") thought.push(block);
    else if (sorted === "said") said.push(block);
    else calls.push(sorted);
  });
  const message: ChatMessage = { role: "assistant", content: said.length > 0 ? content(said) : null };
  if (thought.length > 0) message[thoughts] = thought;
  if (calls.length > 0) message.tool_calls = calls;
  return message;
}

/**
 * The blocks of a turn as messages: results of tools are messages of their own, in the order in which they stand
 * among the other blocks.
 * @param result the message of a block that is the result of a tool; undefined for any other
 * @param others the message of those between two results; undefined if it would say nothing
 */
export function turnMessages<Block>(
  blocks: readonly Block[],
  result: (block: Block, index: number) => ChatMessage | undefined,
  others: (blocks: Block[]) => ChatMessage | undefined,
): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let between: Block[] = [];
  const flush = (): void => {
    const message = between.length === 0 ? undefined : others(between);
    if (message !== undefined) messages.push(message);
    between = [];
  };
  blocks.forEach((block, index) => {
    const message = result(block, index);
    if (message === undefined) {
      between.push(block);
      return;
    }
    flush();
    messages.push(message);
  });
  flush();
  return messages;
}
