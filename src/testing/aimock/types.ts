import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestTransform } from "../../fixtures/transform.ts";
import type { Chaos } from "../../fixtures/types.ts";
import type { AimockJournal } from "./journal.ts";

export type {
  ChatMessage,
  ChatRequest as ChatCompletionRequest,
  ChatTool as ToolDefinition,
  ContentPart,
} from "../../chat/request.ts";
export type { StreamingProfile } from "../../chat/timing.ts";
export type {
  Chaos as ChaosConfig,
  ChatResponse as ContentWithToolCallsResponse,
  ChatResponse as TextResponse,
  ChatResponse as ToolCallResponse,
  EmbeddingResponse,
  ErrorResponse,
  Fixture,
  Fixture as FixtureFileEntry,
  FixtureBlock,
  FixtureFile,
  FixtureMatch,
  FixtureOptions as FixtureOpts,
  FixtureResponder as ResponseFactory,
  FixtureResponse,
  FixtureResponse as FixtureFileResponse,
  FixtureToolCall as ToolCall,
  JsonResponse as RawJSONResponse,
  ResponseOverrides,
} from "../../fixtures/types.ts";
export type { JournalEntry } from "./journal.ts";

export type LogLevel = "silent" | "warn" | "info" | "debug";

/** Options of `LLMock` and `createServer`, by aimock's names. */
export interface MockServerOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** 127.0.0.1 unless given. */
  host?: string;
  /** Milliseconds before each chunk. */
  latency?: number;
  /** Characters in each piece of a streamed text; 20 unless given. */
  chunkSize?: number;
  /** Divides every delay. */
  replaySpeed?: number;
  /** What is written to stderr; `silent` unless given. */
  logLevel?: LogLevel;
  chaos?: Chaos;
  /** Counts calls for Prometheus at `GET /metrics`, under aimock's names. */
  metrics?: boolean;
  /** A call that no fixture answers gets 503, and is never passed on. */
  strict?: boolean;
  record?: RecordConfig;
  /** Calls that the journal keeps; 1000 unless given, 0 for 100,000. */
  journalMaxEntries?: number;
  /** Test ids whose counts are kept; 500 unless given, 0 for all. */
  fixtureCountsMaxTestIds?: number;
  requestTransform?: RequestTransform;
  /** `AIMOCK_API_KEYS` in the environment, with commas between the keys, wins over it. */
  auth?: { apiKeys: readonly string[] };
}

/** How calls that no fixture answers are passed on and recorded, by aimock's names. */
export interface RecordConfig {
  /** Base URLs by provider. */
  providers?: Readonly<Record<string, string | undefined>>;
  /** `./fixtures/recorded` unless given. */
  fixturePath?: string;
  /** Passes on, and writes nothing. */
  proxyOnly?: boolean;
  recordFullModelVersion?: boolean;
  upstreamTimeoutMs?: number;
  bodyTimeoutMs?: number;
  maxProxyBufferBytes?: number;
}

/** Something that answers below a path of its own. */
export interface Mountable {
  /**
   * @param pathname of the request, without the path that it is mounted at
   * @returns true when it has answered
   */
  handleRequest(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<boolean> | boolean;
  /** Told of the server's journal, to write its own calls into it. */
  setJournal?(journal: AimockJournal): void;
  /** Told of the URL that it is mounted at, each time the server starts. */
  setBaseUrl?(url: string): void;
}
