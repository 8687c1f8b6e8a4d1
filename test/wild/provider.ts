import type { ChatReply } from "../../src/chat/reply.ts";
import type { Operation } from "../../src/dialects/operation.ts";
import type { Exchange } from "./corpus.ts";

/** How the recordings of one operation are tested. A new dialect adds one of these to `providers.ts`. */
export interface WildProvider {
  /** The row in the table. */
  name: string;
  operation: Operation;
  /** By path where there is one, else by the shape of the messages. */
  claims(exchange: Exchange): boolean;
  /** Whether a message begins a reply, where a file may hold several. */
  starts?(message: unknown): boolean;
  /** What a request says, told without the product's help. */
  asked(body: Record<string, unknown>, path: string): Asked;
  /** What a tape would say of a reply that is no chat: no rules read it. */
  out?(body: Record<string, unknown>): unknown;
  /**
   * The double answers from what it remembers: what came before in the file is asked of it first, and the recorded
   * reply is only compared with.
   */
  remembers?: true;
  /**
   * What the official SDK makes of what it is served, by its own accumulator.
   * @throws what the SDK throws
   */
  read(from: Source): Promise<Seen>;
  /** The same put together from the SDK's single events, for streams that its accumulator cannot take. */
  readEvents?(from: Source): Promise<Seen>;
  /** Whether the accumulator misreads this stream without a word, so that its events have to be compared. */
  misreads?(exchange: Exchange): boolean;
  /** Fields that the API sends today and did not when some of the recordings were made. */
  added?: string[];
  /** Fields that whoever answers makes up: two of one type are equal. */
  madeUp?: string[];
}

export interface Source {
  url: string;
  key: string;
  streamed: boolean;
  /** What was read from the original, for what a request has to ask for to get it. */
  reply: ChatReply;
  /** The recorded body and path, where they were kept. */
  request: Record<string, unknown> | undefined;
  path: string | undefined;
}

export interface Asked {
  model: string;
  lastUserText: string | undefined;
  systemText: string;
  toolNames: string[];
  /** Id of the call and text of the result, in order. */
  toolResults: [string, string][];
}

/** What a client's user sees. */
export interface Seen {
  /** Must be equal, always. */
  text: unknown;
  reasoning: unknown;
  toolCalls: unknown;
  finish: unknown;
  usage: unknown;
  /** All else; what of it cannot be represented is listed by field. */
  rest: unknown;
}

/** Of a reply that holds nothing else. */
export const NOTHING_SEEN: Seen = {
  text: [],
  reasoning: [],
  toolCalls: [],
  finish: undefined,
  usage: undefined,
  rest: undefined,
};

/** Of a request that says nothing to a model. */
export const NOTHING_ASKED: Asked = {
  model: "",
  lastUserText: undefined,
  systemText: "",
  toolNames: [],
  toolResults: [],
};
