/** What a tape answers to a chat request, before a dialect encodes it. */
export interface ChatReply {
  choices: Choice[];
  usage?: Usage;
  envelope?: Envelope;
}

export interface Choice {
  /** In the order in which they are streamed. */
  parts: Part[];
  finish: Finish;
  /** Fields of the choice or message that only its own dialect has (`logprobs`, `message.annotations` …). */
  native?: Native;
}

export interface Finish {
  reason: FinishReason;
  /** The provider's own word, when it was recorded or written. Leaves only in its own dialect. */
  native?: { dialect: string; value: string };
  /** The stop sequence that ended the reply, where the provider says so. */
  stopSequence?: string;
}

/** OpenAI chat's words; every dialect maps its own to and from these. */
export type FinishReason =
  | "stop"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "refusal"
  | "pause"
  | "error"
  | (string & {});

export type Part = TextPart | ReasoningPart | ToolCallPart | WebSearchPart | RefusalPart | MediaPart | OpaquePart;

export interface TextPart {
  type: "text";
  text: string;
  /** Citations in the provider's own form: they leave only in their own dialect. */
  annotations?: Native;
  logprobs?: unknown;
  /** Gemini signs text parts too. */
  signature?: string;
  /** OpenAI Responses: members of the message item around it (`id`, `phase`). */
  native?: Native;
}

export interface ReasoningPart {
  type: "reasoning";
  text: string;
  /** OpenAI Responses: the summary parts; `text` is then the full reasoning, often empty. */
  summary?: string[];
  /** Proof that the provider wrote it (Anthropic `signature`, Gemini `thoughtSignature`). Never rewritten. */
  signature?: string;
  /** OpenAI Responses `encrypted_content`. Never rewritten. */
  encrypted?: string;
  /** Anthropic `redacted_thinking.data`. Never rewritten. */
  redacted?: string;
  /** The provider's own item, where it has fields that nothing above holds. */
  native?: Native;
}

export interface ToolCallPart {
  type: "toolCall";
  /** Absent where none was written or recorded: a dialect that needs one makes it. */
  id?: string;
  name: string;
  /** Serialized JSON, as OpenAI has it; kept as written, also when it is broken JSON. */
  arguments: string;
  /** Gemini `thoughtSignature` on the call. Never rewritten. */
  signature?: string;
  native?: Native;
}

export interface WebSearchPart {
  type: "webSearch";
  query: string;
}

export interface RefusalPart {
  type: "refusal";
  text: string;
  /** As with a text. */
  native?: Native;
}

export interface MediaPart {
  type: "media";
  mime: string;
  /** Base64; exactly one of `data` and `url` is there. */
  data?: string;
  url?: string;
  transcript?: string;
  native?: Native;
}

/** An item that only its own dialect understands: it leaves there unchanged, and nowhere else. */
export interface OpaquePart {
  type: "opaque";
  dialect: string;
  value: unknown;
}

/** Members that only one dialect knows: merged into what it sends, dropped by all others. */
export interface Native {
  dialect: string;
  value: unknown;
}

/** Token counts. What is not given is estimated when it is encoded; `raw` wins in its own dialect. */
export interface Usage {
  promptTokens?: number;
  completionTokens?: number;
  totalTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** The provider's own usage object, sent as it is by its own dialect. */
  raw?: Native;
}

/** What surrounds the answer. What is absent is made by the dialect. */
export interface Envelope {
  id?: string;
  /** Unix time in seconds. */
  created?: number;
  model?: string;
  role?: string;
  systemFingerprint?: string | null;
  serviceTier?: string | null;
  /** OpenRouter: display name of who served the request. */
  provider?: string;
  /** OpenRouter: a stream begins with a comment, as while the provider has not begun. */
  keepAlive?: boolean;
  /** Top-level members that only one dialect knows. */
  native?: Native;
}

/** The members of `native` if they belong to `dialect`, else undefined. */
export function nativeOf(native: Native | undefined, dialect: string): unknown {
  return native !== undefined && native.dialect === dialect ? native.value : undefined;
}

/** The same where they are an object's, as most are. */
export function nativeMembers(native: Native | undefined, dialect: string): Record<string, unknown> | undefined {
  const own = nativeOf(native, dialect);
  return typeof own === "object" && own !== null && !Array.isArray(own) ? (own as Record<string, unknown>) : undefined;
}

/** The parts for an API that gives one choice: of a reply with several, those of the first. */
export function partsOf({ choices }: ChatReply): Part[] {
  return choices[0]?.parts ?? [];
}

/**
 * What was thought, where the wire has one text for it: the summary if there is nothing else. Undefined if there is
 * nothing to show, since another provider sent it encrypted.
 */
export function reasoningText({ text, summary, signature }: ReasoningPart): string | undefined {
  const shown = text === "" && summary !== undefined ? summary.join("\n\n") : text;
  return shown === "" && signature === undefined ? undefined : shown;
}

/** The texts of parts of these kinds put together, or undefined if there is none. */
export function joinedText(parts: readonly Part[], ...types: ("text" | "reasoning" | "refusal")[]): string | undefined {
  let text: string | undefined;
  for (const part of parts) if ("text" in part && types.includes(part.type)) text = (text ?? "") + part.text;
  return text;
}

/** All text of a choice, put together. */
export function choiceText({ parts }: Choice): string {
  return joinedText(parts, "text") ?? "";
}

/** How a choice ended, where the wire has no other place for a refusal. */
export function finishOf({ parts, finish }: Choice): Finish {
  const refused = finish.reason === "stop" && parts.some(({ type }) => type === "refusal");
  return refused ? { reason: "refusal" } : finish;
}

/** `n` of them: a reply that holds fewer is repeated. */
export function wantedChoices(reply: ChatReply, count: number): Choice[] {
  const { choices } = reply;
  if (choices.length === 0 || choices.length >= count) return choices;
  return Array.from({ length: count }, (_, index) => choices[index % choices.length]!);
}
