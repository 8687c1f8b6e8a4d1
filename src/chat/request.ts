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
