import { type ChatMessage, type ChatRequest, contentText, messageText } from "./request.ts";

/** What fixtures match on. Each field is computed when it is first asked for. */
export interface MatchView {
  readonly model: string;
  /** Text of the last user message; undefined when there is none. */
  readonly userMessage: string | undefined;
  /** Text of all system messages, joined by a line break; empty when there is none. */
  readonly systemMessage: string;
  /** Text of the embedding inputs, joined by a line break; undefined for anything that is no embedding. */
  readonly inputText: string | undefined;
  readonly toolNames: readonly string[];
  /** Of the request's last message, if that is a tool message. */
  readonly toolCallId: string | undefined;
  /** Text of the request's last message, if that is a tool message. */
  readonly toolResult: string | undefined;
  /** After the last user message, or anywhere if there is no user message. */
  readonly hasToolResult: boolean;
  /** Count of assistant messages. */
  readonly turnIndex: number;
  readonly responseFormat: string | undefined;
  /** What predicates are given. */
  readonly request: unknown;
}

/** The view of a canonical chat request. */
export class ChatView implements MatchView {
  readonly request: ChatRequest;
  #user: string | undefined | null = null;
  #system: string | null = null;
  #toolNames: string[] | null = null;
  #turn = -1;

  constructor(request: ChatRequest) {
    this.request = request;
  }

  get model(): string {
    return this.request.model;
  }

  get userMessage(): string | undefined {
    if (this.#user === null) {
      const message = this.request.messages.findLast((candidate) => candidate.role === "user");
      this.#user = message && messageText(message);
    }
    return this.#user;
  }

  get systemMessage(): string {
    if (this.#system === null) {
      this.#system = this.request.messages
        .filter((message) => message.role === "system")
        .map(messageText)
        .join("\n");
    }
    return this.#system;
  }

  get inputText(): undefined {
    return undefined;
  }

  get toolNames(): readonly string[] {
    if (this.#toolNames === null) {
      this.#toolNames = [];
      for (const tool of this.request.tools ?? []) {
        const name = tool?.function?.name;
        if (typeof name === "string") this.#toolNames.push(name);
      }
    }
    return this.#toolNames;
  }

  get toolCallId(): string | undefined {
    return this.#lastToolMessage()?.tool_call_id;
  }

  get toolResult(): string | undefined {
    const message = this.#lastToolMessage();
    return message && contentText(message.content);
  }

  get hasToolResult(): boolean {
    const { messages } = this.request;
    for (let index = messages.length - 1; index >= 0; index--) {
      const role = messages[index]!.role;
      if (role === "tool") return true;
      if (role === "user") return false;
    }
    return false;
  }

  get turnIndex(): number {
    if (this.#turn < 0) {
      let count = 0;
      for (const message of this.request.messages) if (message.role === "assistant") count++;
      this.#turn = count;
    }
    return this.#turn;
  }

  get responseFormat(): string | undefined {
    return this.request.response_format?.type;
  }

  #lastToolMessage(): ChatMessage | undefined {
    const last = this.request.messages.at(-1);
    return last?.role === "tool" ? last : undefined;
  }
}

/** The view of a request that is no conversation. */
export class PlainView implements MatchView {
  readonly model: string;
  readonly request: unknown;
  readonly inputText: string | undefined;
  readonly userMessage: string | undefined = undefined;
  readonly systemMessage: string = "";
  readonly toolNames: readonly string[] = [];
  readonly toolCallId: string | undefined = undefined;
  readonly toolResult: string | undefined = undefined;
  readonly hasToolResult: boolean = false;
  readonly turnIndex: number = 0;
  readonly responseFormat: string | undefined = undefined;

  constructor(request: unknown, model: string, inputText?: string) {
    this.request = request;
    this.model = model;
    this.inputText = inputText;
  }
}
