import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Answer, Answerer } from "../dialects/answer.ts";
import { httpOperation } from "../dialects/http.ts";
import type { Call, Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";
import { isUrl } from "../fixtures/files.ts";
import type { Identifier } from "../fixtures/identity.ts";
import type { RecordedAnswers } from "../fixtures/recorded-answers.ts";
import type { FixtureRecorder } from "../fixtures/recorder.ts";
import type { Repeat } from "../fixtures/select.ts";
import type { Fixture } from "../fixtures/types.ts";
import type { RedactionOptions, Redactor, Secrets } from "../guard/redact.ts";
import type { Clock } from "../state/clock.ts";
import type { Counters } from "../state/counters.ts";
import type { UpgradeEvents, UpstreamCall } from "../upstream/client.ts";
import type { ReplyGuard } from "../upstream/guarded-reply.ts";
import type { Relay } from "../upstream/relay.ts";
import type { TapeMaker } from "../upstream/tap.ts";
import { providerAsked } from "../upstream/target.ts";

/** What becomes of a call that no fixture answers: a miss, or the provider's answer, which may be kept. */
export type RecordMode = "off" | "proxy-only" | "record";

export const RECORD_MODES: readonly RecordMode[] = ["off", "proxy-only", "record"];

export interface RecordOptions {
  /** Base URLs by provider (`openai`, `anthropic` …), over the known ones. A path in them is kept. */
  providers?: Readonly<Record<string, string | undefined>>;
  /** The folder that recordings are written to; `./fixtures` unless given. */
  fixturePath?: string;
  /** Relays and writes nothing. */
  proxyOnly?: boolean;
  /** For a connection; 10 s unless given, 0 is for ever. */
  connectTimeoutMs?: number;
  /** From a request to the head of its reply; 10 minutes unless given, 0 is for ever. */
  upstreamTimeoutMs?: number;
  /** Between two pieces of a reply; 10 minutes unless given, since a model that thinks says nothing. 0 is for ever. */
  bodyTimeoutMs?: number;
  /**
   * What a caller sees of a provider that cannot be reached: `error` (unless given), a 502 or 504 in the provider's
   * shape, or `break`, a connection that breaks as its own would have.
   */
  unreachable?: "error" | "break";
  /** Bytes of a reply that are kept for its recording; 64 MB unless given. The client gets all of it in any case. */
  maxProxyBufferBytes?: number;
  /** The match names the model with its date. */
  fullModelVersion?: boolean;
  /** What of a request says nothing about it: JSON Pointers into the body, and patterns in RE2's syntax. */
  ignore?: readonly string[];
}

/** The double that it belongs to. */
export interface RecordingHost {
  clock: Clock;
  counters: Counters;
  redact: RedactionOptions | undefined;
  repeat: Repeat | undefined;
  /** Serves what has been recorded. */
  add(fixture: Fixture): void;
  /** What is served of the recordings that a group is for. */
  recorded(group: string): RecordedAnswers | undefined;
  warn(message: string): void;
  /** What else makes a tape of a call, where no fixture is made of it. */
  tapes?(call: Call): TapeMaker | undefined;
  /** Whether a call may go to its provider. */
  passes?(call: Call): boolean;
  /** What a provider's reply goes through. */
  guard?(call: Call, provider: string): ReplyGuard | undefined;
  /** What guardrails look for, which must not be written either. */
  secrets?(): Promise<Secrets | undefined>;
}

const DEFAULTS = {
  fixturePath: "./fixtures",
  connectTimeoutMs: 10_000,
  upstreamTimeoutMs: 600_000,
  bodyTimeoutMs: 600_000,
  unreachable: "error" as const,
  maxProxyBufferBytes: 64 * 1024 * 1024,
};

interface Ready {
  relay: Relay;
  recorder: FixtureRecorder;
}

/**
 * What a double has to do with the real providers: it passes calls on to them, and keeps what they answered. All of
 * it loads when it is first needed.
 */
export class Recording {
  readonly #host: RecordingHost;
  #options: RecordOptions = {};
  #mode: RecordMode = "off";
  #ready: Ready | Promise<Ready> | undefined;
  #identifier: Identifier | Promise<Identifier> | undefined;
  #redactor: Promise<Redactor> | undefined;
  /** That of a double in which something has been recorded, or replayed of what was. */
  loadedRedactor: Redactor | undefined;
  /** Those of options that are no longer in use too. */
  readonly #recorders: FixtureRecorder[] = [];
  readonly #relays: Relay[] = [];
  /** In ISO form. */
  readonly #began: string;

  constructor(host: RecordingHost) {
    this.#host = host;
    this.#began = new Date(host.clock.wall()).toISOString();
  }

  get mode(): RecordMode {
    return this.#mode;
  }

  /** Where recordings go. */
  get folder(): string {
    return this.#options.fixturePath ?? DEFAULTS.fixturePath;
  }

  /**
   * Makes the folder that is recorded into, if it is among these paths: on a first run there is none.
   * @throws {Error} what the file system says
   */
  makeFolder(paths: readonly string[]): void {
    const { folder } = this;
    const isNamed = paths.some((path) => !isUrl(path) && resolve(path) === resolve(folder));
    if (this.#mode === "record" && isNamed && !existsSync(folder)) mkdirSync(folder, { recursive: true });
  }

  /** A sequence that is being recorded goes on; one that is replayed ends as its user said. */
  get repeat(): Repeat {
    return this.#host.repeat ?? (this.#mode === "record" ? "miss" : "last");
  }

  /** Who records gets answers of its own, whatever others have recorded in the same run. */
  get othersBefore(): string | undefined {
    return this.#mode === "record" ? this.#began : undefined;
  }

  /** @param options those of before, unless given */
  use(mode: RecordMode, options: RecordOptions = this.#options): void {
    this.#mode = mode;
    if (options === this.#options) return;
    this.#options = options;
    this.#ready = undefined;
  }

  /**
   * Records, or only relays where the options say so.
   * @param options those of before, unless given
   */
  enable(options: RecordOptions = this.#options): void {
    this.use(options.proxyOnly ? "proxy-only" : "record", options);
  }

  /** The link of the chain that asks the provider. */
  readonly answer: Answerer = (call) => {
    if (this.#mode === "off" || this.#host.passes?.(call) === false) return undefined;
    const ready = this.#prepared();
    const mode = this.#mode;
    return ready instanceof Promise
      ? ready.then((late) => this.#relayed(late, mode, call))
      : this.#relayed(ready, mode, call);
  };

  /**
   * Hands a WebSocket on to its provider.
   * @throws {NoUpstreamError}
   */
  async webSocket(raw: RawRequest, events: UpgradeEvents): Promise<UpstreamCall> {
    const { relay } = await this.#prepared();
    return relay.webSocket(raw, events);
  }

  #prepared(): Ready | Promise<Ready> {
    this.#ready ??= this.#prepare().then((ready) => {
      this.#ready = ready;
      return ready;
    });
    return this.#ready;
  }

  /** What tells requests apart where recordings are matched. */
  readonly identifier = (): Identifier | Promise<Identifier> => {
    this.#identifier ??= this.#loadIdentifier().then((identifier) => {
      this.#identifier = identifier;
      return identifier;
    });
    return this.#identifier;
  };

  /**
   * Waits until everything is written, and lets go of the providers.
   * @returns why recordings were lost, one for each
   */
  async close(): Promise<Error[]> {
    const [recorders, relays] = [this.#recorders.splice(0), this.#relays.splice(0)];
    this.#ready = undefined;
    await Promise.all(relays.map((relay) => relay.close()));
    await Promise.all(recorders.map((recorder) => recorder.settled()));
    return recorders.flatMap(({ failures }) => failures);
  }

  /** Waits until everything that has been answered is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#recorders.map((recorder) => recorder.settled()));
  }

  async #prepare(): Promise<Ready> {
    const options = { ...DEFAULTS, ...withoutUndefined(this.#options) };
    const [{ Relay: RelayClass }, { FixtureRecorder: Recorder }, redactor, identifier] = await Promise.all([
      import("../upstream/relay.ts"),
      import("../fixtures/recorder.ts"),
      this.redactor(),
      this.identifier(),
    ]);
    const { clock, counters, add, recorded, warn } = this.#host;
    const relay = new RelayClass({
      urls: urlsOf(options.providers),
      timeouts: {
        connectMs: options.connectTimeoutMs,
        headersMs: options.upstreamTimeoutMs,
        idleMs: options.bodyTimeoutMs,
      },
      bufferLimit: options.maxProxyBufferBytes,
      unreachable: options.unreachable,
      clock,
      guard: (call, provider) => this.#host.guard?.(call, provider),
    });
    this.#relays.push(relay);
    const recorder = new Recorder({
      folder: options.fixturePath,
      redactor,
      identifier,
      counters,
      nextPlace: ({ testId, owner }, group) =>
        recorded(group)?.next(owner?.() ?? testId, counters.count(testId, group), this.#began) ?? 0,
      fullModelVersion: options.fullModelVersion ?? false,
      ignore: options.ignore ?? [],
      recorded: add,
      warn,
    });
    this.#recorders.push(recorder);
    return { relay, recorder };
  }

  async #loadIdentifier(): Promise<Identifier> {
    const [{ Identifier: IdentifierClass }, redactor] = await Promise.all([
      import("../fixtures/identity.ts"),
      this.redactor(),
    ]);
    return new IdentifierClass(redactor);
  }

  #relayed({ relay, recorder }: Ready, mode: RecordMode, call: Call): Promise<Answer> {
    return relay.relay(call, mode === "record" ? recorder : this.#host.tapes?.(call));
  }

  /** Takes out of a call what must not be written. */
  redactor(): Promise<Redactor> {
    this.#redactor ??= this.#makeRedactor().then((redactor) => {
      this.loadedRedactor = redactor;
      return redactor;
    });
    return this.#redactor;
  }

  /** From now on, also takes out what other guardrails look for. */
  async redactAlso(secrets: Secrets): Promise<void> {
    const redactor = await this.redactor();
    redactor.become(await this.#makeRedactor(secrets));
  }

  /** Whose API a request is for, as far as it tells. */
  provider(raw: RawRequest, operation: Operation | undefined): string {
    const asked = providerAsked({ raw, operation: operation ?? httpOperation }, urlsOf(this.#options.providers));
    return asked ?? operation?.dialect ?? "unknown";
  }

  async #makeRedactor(given?: Secrets): Promise<Redactor> {
    const [{ createRedactor }, secrets] = await Promise.all([import("../guard/redact.ts"), this.#host.secrets?.()]);
    return createRedactor(this.#host.redact, given ?? secrets);
  }
}

function urlsOf(providers: RecordOptions["providers"] = {}): Map<string, string> {
  return new Map(Object.entries(providers).flatMap(([name, url]) => (url === undefined ? [] : [[name, url] as const])));
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
