import { ApiError } from "../dialects/api-error.ts";
import { type BodyFraming, bodyFraming } from "../dialects/read-exchange.ts";
import { AwsEventStreamParser, bedrockMessage } from "../wire/aws-event-stream.ts";
import { framedTexts } from "./bodies.ts";
import { type Breach, breachMessage, type CallMeter } from "./breaker.ts";
import { blockMessage, type GuardHit, type Screens } from "./guardrails.ts";
import { inspect } from "./inspect.ts";
import { MessageSplitter } from "./split-messages.ts";
import { type Screened, StreamScreen } from "./stream-screen.ts";

/** Why a reply is not whole. */
export interface GateCut {
  by: "guardrail" | "breaker";
  /** As an exception would be called. */
  type: "PermissionError" | "StreamBreakerError";
  /** Without anything of what was found. */
  message: string;
  /** For the client, in its provider's own shape. */
  error: ApiError;
}

/** What becomes of a piece of a reply. */
export interface GateStep {
  /** What may leave, in order. */
  out: Uint8Array[];
  hits: GuardHit[];
  /** After `out`, nothing more leaves. */
  cut: GateCut | undefined;
}

export interface GateOptions {
  screens: Screens | undefined;
  meter: CallMeter | undefined;
  /** Of the reply; undefined where it says none. */
  contentType: string | undefined;
  /** Whether the call asked for a stream. */
  streamed: boolean;
}

const NOTHING: GateStep = { out: [], hits: [], cut: undefined };
/** What must be looked at as a whole is kept so long. */
const LONGEST_WHOLE = 64 * 1024 * 1024;
/** Sounds and pictures have no text that could be read. */
const BINARY = /^\s*(?:audio|image|video)\//i;

export function blocked(message: string): GateCut {
  const error = new ApiError({ status: 403, message, code: "guardrail_block" });
  return { by: "guardrail", type: "PermissionError", message, error };
}

export function broken(breach: Breach): GateCut {
  const message = breachMessage(breach);
  const error = new ApiError({ status: 403, message, code: "stream_breaker" });
  return { by: "breaker", type: "StreamBreakerError", message, error };
}

/**
 * What a reply goes through: guardrails and limits, message by message. A stream leaves as it comes, but for what may
 * still grow to something that must not pass; what is no stream leaves at its end.
 */
export class ResponseGate {
  /** Nothing leaves before the end. */
  readonly isWhole: boolean;
  /** Messages that have left. */
  sent = 0;
  readonly #options: GateOptions;
  readonly #framing: BodyFraming;
  readonly #splitter: MessageSplitter;
  readonly #screen: StreamScreen | undefined;
  #kept: Uint8Array[] = [];
  #length = 0;
  #over = false;

  constructor(options: GateOptions) {
    const { contentType = "", streamed, screens } = options;
    this.#options = options;
    this.#framing = bodyFraming(contentType);
    const isStream = this.#framing === "whole" ? streamed : this.#framing !== "other";
    this.isWhole = !isStream && !BINARY.test(contentType);
    this.#splitter = new MessageSplitter(this.#framing);
    this.#screen =
      isStream && screens !== undefined ? new StreamScreen(screens, contentType, this.#framing) : undefined;
  }

  /** @param atMs since the request */
  push(bytes: Uint8Array, atMs: number): GateStep {
    if (this.#over) return NOTHING;
    if (!this.isWhole)
      return this.#framing === "other" ? this.#through(bytes) : this.#messages(this.#splitter.push(bytes), atMs);
    this.#kept.push(bytes);
    this.#length += bytes.byteLength;
    if (this.#length <= LONGEST_WHOLE) return NOTHING;
    return this.#end([], [], blocked("Guardrail Block: the response is too long to be looked at."), atMs);
  }

  /** The reply is over. */
  end(atMs: number): GateStep {
    if (this.#over) return NOTHING;
    if (this.isWhole) return this.#whole(atMs);
    const { out, hits, cut } = this.#messages(this.#splitter.end(), atMs);
    if (cut !== undefined) return { out, hits, cut };
    const last = this.#screen?.end();
    if (last === undefined) return this.#end(out, hits, undefined, atMs);
    this.sent += last.out.length;
    return this.#end([...out, ...last.out], [...hits, ...last.hits], cutOf(last), atMs);
  }

  /** When the reply is cut if nothing comes, since the request; never for none. */
  get dueMs(): number {
    const { meter } = this.#options;
    return meter === undefined || this.#over ? Number.POSITIVE_INFINITY : meter.dueMs;
  }

  /** Cuts the reply because `dueMs` has come. */
  expire(atMs: number): GateStep {
    const { meter } = this.#options;
    if (meter === undefined || this.#over) return NOTHING;
    return this.#end([], [], broken(meter.timeLimit), atMs);
  }

  /** The client has gone. */
  giveUp(atMs: number): void {
    if (!this.#over) this.#end([], [], undefined, atMs);
  }

  #through(bytes: Uint8Array): GateStep {
    this.sent++;
    return { out: [bytes], hits: [], cut: undefined };
  }

  #messages(messages: readonly Buffer[], atMs: number): GateStep {
    const out: Uint8Array[] = [];
    const hits: GuardHit[] = [];
    for (const message of messages) {
      const breach = this.#count(message, atMs);
      if (breach !== undefined) return this.#end(out, hits, broken(breach), atMs);
      if (this.#screen === undefined) {
        out.push(message);
        this.sent++;
        continue;
      }
      const screened = this.#screen.push(message);
      out.push(...screened.out);
      hits.push(...screened.hits);
      this.sent += screened.out.length;
      const cut = cutOf(screened);
      if (cut !== undefined) return this.#end(out, hits, cut, atMs);
    }
    return { out, hits, cut: undefined };
  }

  #whole(atMs: number): GateStep {
    const { screens, contentType } = this.#options;
    const body = Buffer.concat(this.#kept, this.#length);
    const breach = this.#count(body, atMs);
    if (breach !== undefined) return this.#end([], [], broken(breach), atMs);
    if (screens === undefined) return this.#end([body], [], undefined, atMs);
    const { block, hits, body: passed } = inspect(body, contentType, screens, "response");
    if (block !== undefined) return this.#end([], hits, blocked(blockMessage(block)), atMs);
    this.sent++;
    return this.#end([passed], hits, undefined, atMs);
  }

  #count(message: Buffer, atMs: number): Breach | undefined {
    const { meter } = this.#options;
    if (meter === undefined) return undefined;
    for (const text of this.#textsOf(message)) {
      const breach = meter.push(text, atMs);
      if (breach !== undefined) return breach;
    }
    return undefined;
  }

  /** What a message says, as the rules of its dialect read it. */
  #textsOf(message: Buffer): readonly string[] {
    if (this.#framing === "aws-event-stream") return awsTexts(message);
    if (this.#framing === "whole" && !this.isWhole) return [message.toString("utf8").replace(/^\s*[[,]\s*/, "")];
    return framedTexts(message, this.#options.contentType).events;
  }

  #end(out: Uint8Array[], hits: GuardHit[], cut: GateCut | undefined, atMs: number): GateStep {
    this.#over = true;
    this.#options.meter?.end(atMs);
    return { out, hits, cut };
  }
}

function awsTexts(message: Buffer): string[] {
  try {
    return new AwsEventStreamParser().push(message).map((event) => JSON.stringify(bedrockMessage(event)));
  } catch {
    // What is no event says nothing that could be counted.
    return [];
  }
}

function cutOf({ block }: Screened): GateCut | undefined {
  return block === undefined ? undefined : blocked(blockMessage(block));
}
