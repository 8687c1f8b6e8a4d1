import type { Clock } from "../../state/clock.ts";
import type { Stamps } from "../../state/stamps.ts";
import { errorResponse } from "../../wire/json-rpc.ts";
import { childrenAt, rootSpan } from "../../wire/json-text.ts";
import { SuiteError } from "../errors.ts";
import { type AnsweringContract, type Chosen, MethodAnswers, type TextOf, type Unanswered } from "./answers.ts";
import {
  type EventContract,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  type TransportName,
} from "./contract.ts";
import { givenIn } from "./echo.ts";
import { Exchange, NOTHING_REQUESTED, type Requested } from "./exchange.ts";
import { ANSWER, idOf, invalidRequest } from "./incoming.ts";
import { LiveIds } from "./live-ids.ts";
import { isNamed, type Suite } from "./load.ts";
import { type MockPlan, type PlannedCall, type PlannedEvent, paramNames, planMock } from "./mock-plan.ts";
import type { Random } from "./sample.ts";
import { contractsOfSchema } from "./schema-contracts.ts";
import { textAt } from "./template.ts";
import { checkAllowed } from "./verify.ts";

export interface MockOptions {
  clock: Clock;
  stamps: Stamps;
  /** Milliseconds that the replies of a method take, on purpose. */
  delays?: ReadonlyMap<string, number> | undefined;
  /** Contracts with `requires` whose condition holds, by file or name. */
  allow?: readonly string[] | undefined;
  /** Told every request with what was answered. */
  onCall?: ((call: MockCall, answer: MockAnswer) => void) | undefined;
  /** May put something else in the answer's place. `contract` is the one that would answer. */
  intercept?:
    | ((call: MockCall, contract: string | undefined) => Interception | Promise<Interception | undefined> | undefined)
    | undefined;
}

export interface MockCall {
  /** Empty for what is no request at all. */
  method: string;
  /** The request as it came. */
  text: string;
  /** The id as it was written; undefined for a notification. */
  id: string | undefined;
  transport: TransportName;
}

export interface MockAnswer {
  /** Undefined where nothing is sent: a notification, or silence that a contract asks for. */
  text: string | undefined;
  /** The contract that answers; undefined for what the daemon answers by itself. */
  contract: string | undefined;
  /** An error's code. */
  code: number | undefined;
}

/** What is done in an answer's place. */
export interface Interception {
  /** Whether the request is served all the same, and only its answer is lost. Else nothing of the state changes. */
  served: boolean;
  /** What is sent; undefined breaks the connection. */
  text: string | undefined;
  /** An error's code. */
  code?: number;
}

/** What will be answered: by a contract, or by the daemon itself. */
interface Decided {
  chosen: Chosen | undefined;
  textOf: TextOf;
  /** The contract's name. */
  contract: string | undefined;
  /** The daemon's own. */
  answer: MockAnswer;
  after: undefined;
}

const NOTHING_SENT: MockAnswer = { text: undefined, contract: undefined, code: undefined };

type After = (client: MockClient) => void;

interface Played {
  answer: MockAnswer;
  after: After | undefined;
}

/** Where an answer goes. */
interface Recipient {
  client: MockClient;
  reply: (text: string) => void;
  /** Called when there will be no reply. */
  silent: (() => void) | undefined;
}

/** Where a client is. */
export interface MockClient {
  transport: TransportName;
  send(text: string): void;
  /** Breaks the connection. */
  disconnect(): void;
}

/**
 * A daemon that answers from contracts: many clients, one state. It knows nothing of sockets; whoever carries the bytes
 * gives it a client and what that sends.
 */
export class MockDaemon {
  readonly #suite: Suite;
  readonly #options: MockOptions;
  readonly #ids: LiveIds;
  readonly #answers = new Map<string, MethodAnswers>();
  readonly #plan: MockPlan;
  readonly #clients = new Set<MockClient>();
  readonly #timers = new Map<EventContract, () => void>();

  /** @throws SuiteError when `allow` names no contract, or `delays` a method that is not answered */
  constructor(suite: Suite, options: MockOptions) {
    const { allow = [] } = options;
    checkAllowed(suite, allow);
    this.#suite = suite;
    this.#options = options;
    const usable = suite.contracts.filter(
      (contract) => contract.requires === undefined || allow.some((name) => isNamed(contract, name)),
    );
    this.#ids = new LiveIds(suite.settings.setup, suite.contracts, suite.placeholders);
    const calls = [
      ...usable.filter((contract) => contract.kind !== "event" && contract.kind !== "unrecorded"),
      ...contractsOfSchema(suite, options.stamps),
    ];
    for (const method of new Set(calls.map((contract) => contract.method))) {
      const own = calls.filter((contract) => contract.method === method);
      const schema = suite.schema?.methods.get(method);
      this.#answers.set(method, new MethodAnswers(own, schema, suite.placeholders, this.#ids));
    }
    const unknown = [...(options.delays?.keys() ?? [])].filter((method) => !this.#answers.has(method));
    if (unknown.length > 0)
      throw new SuiteError(
        unknown.map((name) => ({ file: suite.root, message: `there is no method "${name}" to delay.` })),
      );
    const events = usable.filter((contract) => contract.kind === "event");
    this.#plan = planMock(calls, events, suite, this.#ids);
  }

  /** Forgets all that was given out. */
  reset(): void {
    this.#ids.clear();
  }

  connect(client: MockClient): void {
    this.#clients.add(client);
    if (this.#clients.size > 1) return;
    for (const event of this.#plan.events) this.#tick(event);
  }

  disconnect(client: MockClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  /** Takes one message, which may be a batch or none at all. Answers go to the client's `send`. */
  receive(client: MockClient, text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#refuse(client, text, PARSE_ERROR, `Parse error: ${(error as Error).message}`);
      return;
    }
    if (!Array.isArray(value)) this.#answer(client, value, text, (answer) => client.send(answer));
    else if (value.length === 0) this.#refuse(client, text, INVALID_REQUEST, "Invalid Request: the batch is empty");
    else this.#answerBatch(client, value, text);
  }

  /** The replies in one array, in no certain order, once all are there (https://www.jsonrpc.org/specification#batch). */
  #answerBatch(client: MockClient, values: readonly unknown[], text: string): void {
    const replies: string[] = [];
    const texts = childrenAt(text, rootSpan(text).start).map(({ start, end }) => text.slice(start, end));
    let open = values.length;
    const done = (reply?: string) => {
      if (reply !== undefined) replies.push(reply);
      if (--open === 0 && replies.length > 0) client.send(`[${replies.join(",")}]`);
    };
    for (const [index, value] of values.entries()) this.#answer(client, value, texts[index] as string, done, done);
  }

  #answer(client: MockClient, value: unknown, text: string, reply: (text: string) => void, silent?: () => void): void {
    const fault = invalidRequest(value);
    if (fault === ANSWER) {
      silent?.();
      return;
    }
    if (fault !== undefined) {
      const id = idOf(value, text);
      const call: MockCall = { method: "", text, id: id ?? "null", transport: client.transport };
      const answer = refusal(id ?? "null", INVALID_REQUEST, `Invalid Request: ${fault}`);
      this.#options.onCall?.(call, answer);
      reply(answer.text);
      return;
    }
    const member = value as { method: string; params?: unknown };
    const id = "id" in member ? idOf(member, text) : undefined;
    const call: MockCall = { method: member.method, text, id, transport: client.transport };
    const { params } = member;
    const decided = this.#decide(call, params);
    const instead = this.#options.intercept?.(call, decided.contract);
    const to: Recipient = { client, reply, silent };
    // What would have answered may be gone when a slow interception comes to its end.
    if (instead instanceof Promise) void instead.then((late) => this.#act(call, this.#decide(call, params), late, to));
    else this.#act(call, decided, instead, to);
  }

  #act(call: MockCall, decided: Decided, instead: Interception | undefined, to: Recipient): void {
    const served = instead === undefined || instead.served;
    const { answer, after } = served && decided.chosen ? this.#play(call, decided.chosen, decided.textOf) : decided;
    const sent = instead ? { text: instead.text, contract: decided.contract, code: instead.code } : answer;
    const delayMs = this.#options.delays?.get(call.method) ?? 0;
    const breaks = instead !== undefined && instead.text === undefined;
    if (delayMs <= 0) this.#send(call, sent, breaks, after, to);
    else this.#options.clock.at(this.#options.clock.now() + delayMs, () => this.#send(call, sent, breaks, after, to));
  }

  #send(call: MockCall, answer: MockAnswer, breaks: boolean, after: After | undefined, to: Recipient): void {
    this.#options.onCall?.(call, answer);
    if (breaks) to.client.disconnect();
    else if (call.id === undefined || answer.text === undefined) to.silent?.();
    else to.reply(answer.text);
    after?.(to.client);
  }

  /** What will answer. Nothing has changed yet. */
  #decide(call: MockCall, params: unknown): Decided {
    const { schema } = this.#suite;
    const { method, id } = call;
    const textOf = this.#textOf(call.text, params, method);
    const none = (code: number, message: string, data?: unknown): Decided => {
      const answer = refusal(id ?? "null", code, message, data);
      const own = id === undefined ? { ...answer, text: undefined } : answer;
      return { chosen: undefined, textOf, contract: undefined, answer: own, after: undefined };
    };
    const answers = this.#answers.get(method);
    if (!answers && !schema?.methods.has(method)) return none(METHOD_NOT_FOUND, `Method not found: ${method}`);
    const faults = schema?.faults(method, "params", params) ?? [];
    let chosen: Chosen | Unanswered | undefined;
    if (faults.length > 0) {
      chosen = answers?.refusal(params, call.transport, textOf);
      if (!chosen || !this.#breaksSchema(chosen.golden.contract)) {
        const what = faults.map(({ pointer, message }) => `${pointer || "they"} ${message}`).join("; ");
        return none(INVALID_PARAMS, `Invalid params: ${what}`, { faults });
      }
    } else {
      chosen = answers?.choose(params, call.transport, textOf) ?? {
        reason: "no contract answers it",
        code: INTERNAL_ERROR,
      };
    }
    if ("golden" in chosen)
      return { chosen, textOf, contract: chosen.golden.contract.id, answer: NOTHING_SENT, after: undefined };
    return none(
      chosen.code,
      `Stuntdouble has no answer for ${method}: ${chosen.reason}, and no contract says what is answered then.`,
    );
  }

  /** Whether an error is about the schema: its own request breaks it, too. */
  #breaksSchema({ method, request }: AnsweringContract): boolean {
    const { params } = request.value as { params?: unknown };
    return (this.#suite.schema?.faults(method, "params", params) ?? []).length > 0;
  }

  #play(call: MockCall, { golden, captured }: Chosen, textOf: TextOf): Played {
    const { contract } = golden;
    const planned = this.#plan.calls.get(contract) as PlannedCall;
    const { response, still, events, changed, changes } = planned;
    const code = contract.kind === "error" ? contract.code : undefined;
    if (still) {
      const text = call.id === undefined ? undefined : still[0] + call.id + still[1];
      return { answer: { text, contract: contract.id, code }, after: undefined };
    }
    const values = new Map([...captured].map(([name, { pointer, value }]) => [name, textOf(pointer, value)]));
    let { given } = NOTHING_REQUESTED;
    if (planned.takesGiven) {
      const all = givenIn(call.text, paramNames(this.#suite, call.method));
      for (const name of changed) all.delete(name);
      given = all;
    }
    const exchange = this.#exchange({ captured: values, given, changes: (kind) => changes.has(kind) }, call.method);
    if (response && contract.kind === "success") exchange.begin(response);
    const text = response && exchange.text(response, call.id ?? "null");
    const answer: MockAnswer = { text: call.id === undefined ? undefined : text, contract: contract.id, code };
    if (contract.kind !== "success") return { answer, after: undefined };
    for (const [name, value] of values) {
      const kind = this.#ids.kindOf(name);
      if (kind && this.#ids.deletes(kind, contract.method)) this.#ids.remove(kind, value);
    }
    if (events.length === 0) return { answer, after: undefined };
    return {
      answer,
      after: (client: MockClient) => {
        for (const event of events) {
          const send = () => this.#notify(event, exchange, client);
          const { delayMs } = event.contract.event;
          if (delayMs > 0) this.#options.clock.at(this.#options.clock.now() + delayMs, send);
          else send();
        }
      },
    };
  }

  /** @param tape names what the chance of its stamp is for */
  #exchange(requested: Requested, tape: string): Exchange {
    let drawn: Random | undefined;
    // Most answers need no chance, and a stamp for each costs more than the answer.
    const random = () => {
      drawn ??= this.#options.stamps.next("", tape).random;
      return drawn();
    };
    return new Exchange(requested, this.#ids, this.#suite.placeholders, random, this.#options.clock.wall());
  }

  #notify({ contract, message }: PlannedEvent, exchange: Exchange, caller: MockClient | undefined): void {
    const text = exchange.text(message, "null");
    for (const client of contract.event.to === "caller" && caller ? [caller] : this.#clients) {
      if (!this.#clients.has(client)) continue;
      if (contract.transport === undefined || contract.transport === client.transport) client.send(text);
    }
  }

  /** An event on a timer of its own comes as long as somebody is there. */
  #tick(event: PlannedEvent): void {
    const { everyMs } = event.contract.event;
    if (everyMs === undefined) return;
    const { clock } = this.#options;
    const cancel = clock.at(clock.now() + everyMs, () => {
      this.#notify(event, this.#exchange(NOTHING_REQUESTED, event.contract.id), undefined);
      this.#tick(event);
    });
    this.#timers.set(event.contract, cancel);
  }

  #refuse(client: MockClient, text: string, code: number, message: string): void {
    const answer = refusal("null", code, message);
    this.#options.onCall?.({ method: "", text, id: "null", transport: client.transport }, answer);
    client.send(answer.text);
  }

  /** Values as they were written, which only a number beyond the doubles can differ from. */
  #textOf(text: string, params: unknown, method: string): TextOf {
    return (pointer, value) => {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return JSON.stringify(value);
      const names = Array.isArray(params) ? this.#suite.schema?.methods.get(method)?.params : undefined;
      const index = names?.findIndex(({ name }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`)) ?? -1;
      const place = index < 0 ? pointer : pointer.replace(`/${names?.[index]?.name}`, `/${index}`);
      return textAt(text, `/params${place}`) ?? JSON.stringify(value);
    };
  }
}

function refusal(id: string, code: number, message: string, data?: unknown): MockAnswer & { text: string } {
  return { text: errorResponse(id, code, message, data), contract: undefined, code };
}
