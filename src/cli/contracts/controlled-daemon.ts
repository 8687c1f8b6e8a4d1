import { createServer } from "node:http";
import type { Suite } from "../../conformance/contracts/load.ts";
import {
  type Interception,
  type MockAnswer,
  type MockCall,
  MockDaemon,
  type MockOptions,
} from "../../conformance/contracts/mock.ts";
import type { Answer } from "../../dialects/answer.ts";
import { ApiError, type ApiErrorFields } from "../../dialects/api-error.ts";
import { RawRequest } from "../../dialects/raw-request.ts";
import type { Chaos } from "../../fixtures/types.ts";
import { type CassetteState, NO_CASSETTES } from "../../server/cassette-options.ts";
import { ChaosControl } from "../../server/chaos.ts";
import { type Controlled, control } from "../../server/control.ts";
import type { Outcome } from "../../server/outcome.ts";
import { openPaths } from "../../server/own-paths.ts";
import { Journal, type JournalEntry, type JournalFilter } from "../../state/journal.ts";
import { errorResponse } from "../../wire/json-rpc.ts";

/** JSON-RPC leaves these codes to servers (https://www.jsonrpc.org/specification#error_object). */
const SERVER_ERROR = -32000;
const RATE_LIMITED = -32029;
const JOURNAL_LENGTH = 1_000;
/** A longer request is kept without its text. */
const LONGEST_KEPT = 64 * 1024;
const TEST_ID = "default";
/** A control request is a few lines. */
const LONGEST_BODY = 1_000_000;

/** A mock daemon with the journal, the chaos and the control API that HTTP doubles have. */
export class ControlledDaemon implements Controlled {
  readonly daemon: MockDaemon;
  /** The last requests, as they came: an entry is made of one when somebody reads it. */
  #kept: { call: MockCall; answer: MockAnswer; timestamp: number }[] = [];
  #forgotten = 0;
  #struck: boolean;
  readonly #chaos: ChaosControl;
  readonly #errors: { code: number; message: string }[] = [];
  readonly #options: MockOptions;
  /** Requests that were answered. */
  served = 0;

  constructor(suite: Suite, options: MockOptions, chaos: Chaos | undefined) {
    this.#options = options;
    this.#chaos = new ChaosControl(options.stamps, options.clock, chaos);
    this.#struck = chaos !== undefined;
    this.daemon = new MockDaemon(suite, {
      ...options,
      onCall: (call, answer) => this.#write(call, answer),
      intercept: (call, contract) => this.#intercept(call, contract),
    });
  }

  /** A request's path is its method, and its status says whether anything came back. */
  calls(filter: JournalFilter = {}): JournalEntry[] {
    const journal = new Journal(JOURNAL_LENGTH);
    for (const { call, answer, timestamp } of this.#kept.slice(-JOURNAL_LENGTH)) {
      journal.write({
        raw: new RawRequest("POST", `/${call.method}`, { "x-transport": call.transport }, Buffer.from(call.text)),
        operation: undefined,
        testId: TEST_ID,
        timestamp,
        response: {
          status: answer.text === undefined ? 0 : 200,
          source: answer.contract === undefined ? "miss" : "fixture",
          fixture: answer.contract ?? null,
          ...(answer.code !== undefined && { detail: `error ${answer.code}` }),
        },
      });
    }
    const before = this.#forgotten + Math.max(0, this.#kept.length - JOURNAL_LENGTH);
    return journal.read(filter).map((entry) => ({ ...entry, id: String(Number(entry.id) + before) }));
  }

  clearCalls(): void {
    this.#forgotten += this.#kept.length;
    this.#kept = [];
  }

  addFixtures(): never {
    throw new ApiError({
      status: 400,
      message: "What plays contracts takes no fixtures: change the folder of contracts.",
    });
  }

  clearFixtures(): void {}

  /** The next request fails, with the code where it is one, or else with that of a server's own errors. */
  nextRequestError(status: number, { message = "Queued error", code }: Partial<Omit<ApiErrorFields, "status">>): void {
    this.#errors.push({
      code: typeof code === "number" ? code : status === 429 ? RATE_LIMITED : SERVER_ERROR,
      message,
    });
  }

  chaos(): Chaos {
    return this.#chaos.get();
  }

  setChaos(chaos: Chaos): void {
    this.#chaos.set(chaos);
    this.#struck = true;
  }

  clearChaos(): void {
    this.#chaos.clear();
    this.#struck = false;
  }

  reset(): void {
    this.daemon.reset();
    this.clearCalls();
    this.#errors.length = 0;
    this.#chaos.clearAll();
    this.#struck = false;
  }

  explain(): never {
    throw new ApiError({
      status: 400,
      message: "What plays contracts explains itself in its errors; the journal has them.",
    });
  }

  readonly recordMode = "off";

  setRecordMode(): never {
    throw new ApiError({ status: 400, message: "What plays contracts records nothing: use stuntdouble record." });
  }

  async cassettes(): Promise<CassetteState> {
    return NO_CASSETTES;
  }

  resetCassettes(): void {}

  readonly guard = undefined;

  setGuard(): never {
    throw new ApiError({ status: 400, message: "What plays contracts has no guard; HTTP doubles have one." });
  }

  /** Serves the control API; gives what closes it. */
  async listen(host: string, port: number): Promise<{ port: number; close(): void }> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      request.on("error", () => {});
      request.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length <= LONGEST_BODY) chunks.push(chunk);
        else request.destroy();
      });
      request.on("end", () => {
        const raw = new RawRequest(request.method ?? "GET", request.url ?? "/", request.headers, Buffer.concat(chunks));
        const send = ({ status, headers, body }: Outcome) => {
          response.writeHead(status, headers);
          response.end(typeof body === "string" ? body : "");
        };
        const outcome = openPaths(raw, false, undefined) ?? control(this, raw);
        if (outcome instanceof Promise) void outcome.then(send);
        else if (outcome) send(outcome);
        else response.writeHead(404).end();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    const address = server.address();
    return {
      port: typeof address === "object" && address !== null ? address.port : port,
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    };
  }

  #write(call: MockCall, answer: MockAnswer): void {
    this.served++;
    const short = call.text.length <= LONGEST_KEPT ? call : { ...call, text: "" };
    this.#kept.push({ call: short, answer, timestamp: this.#options.clock.wall() });
    // In one go: taking the oldest away at each request would move all the others.
    if (this.#kept.length < JOURNAL_LENGTH * 2) return;
    this.#kept = this.#kept.slice(-JOURNAL_LENGTH);
    this.#forgotten += JOURNAL_LENGTH;
  }

  #intercept(
    call: MockCall,
    contract: string | undefined,
  ): Interception | Promise<Interception | undefined> | undefined {
    const queued = this.#errors.shift();
    const id = call.id ?? "null";
    if (queued) return refused(id, queued.code, queued.message);
    if (!this.#struck) return undefined;
    const given: Answer = {
      kind: "output",
      out: contract,
      source: { kind: "fixture", tape: {}, ...(contract && { id: contract }) },
    };
    const raw = new RawRequest("POST", `/${call.method}`, {}, Buffer.alloc(0));
    const struck = this.#chaos.strike({ raw, testId: TEST_ID }, given);
    if (struck === given) return undefined;
    if (struck instanceof Promise) return struck.then((later) => interception(later, given, id));
    return interception(struck, given, id);
  }
}

/** Dropped and limited requests are not served; of those that are, the answer may come broken, or never. */
function interception(struck: Answer | undefined, given: Answer, id: string): Interception | undefined {
  if (struck === undefined || struck === given) return undefined;
  switch (struck.kind) {
    case "error": {
      const { status, message } = struck.error;
      return refused(id, status === 429 ? RATE_LIMITED : SERVER_ERROR, message);
    }
    case "malformed":
      return { served: true, text: '{"jsonrpc":"2.0","id":' };
    case "disconnect":
      return { served: true, text: undefined };
    default:
      return undefined;
  }
}

function refused(id: string, code: number, message: string): Interception {
  return { served: false, text: errorResponse(id, code, message), code };
}
