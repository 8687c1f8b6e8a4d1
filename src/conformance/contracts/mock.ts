import type { Clock } from "../../state/clock.ts";
import type { Stamps } from "../../state/stamps.ts";
import { errorResponse, memberText } from "../../wire/json-rpc.ts";
import { childrenAt, rootSpan } from "../../wire/json-text.ts";
import { type AnsweringContract, type Chosen, MethodAnswers, type TextOf, type Unanswered } from "./answers.ts";
import {
  type Contract,
  type EventContract,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  type TransportName,
} from "./contract.ts";
import { type IdKind, LiveIds } from "./live-ids.ts";
import { isNamed, type Suite } from "./load.ts";
import { type Fill, fillMessage, type MessagePlan, planMessage } from "./response-plan.ts";
import type { Random } from "./sample.ts";
import { contractsOfSchema } from "./schema-contracts.ts";
import { placeholderIn, textAt } from "./template.ts";
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
  /** May put something else in the answer's place, once it is known. */
  intercept?: ((call: MockCall, answer: MockAnswer) => Interception | Promise<Interception> | undefined) | undefined;
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
  text?: string | undefined;
  disconnect?: true;
}

type Member = Record<string, unknown>;

interface Planned {
  contract: AnsweringContract;
  response: MessagePlan | undefined;
}

interface PlannedEvent {
  contract: EventContract;
  message: MessagePlan;
}

/** What one request and its answer have to do with. */
interface Exchange {
  captured: ReadonlyMap<string, string>;
  created: Map<IdKind, string>;
  /** Values of the suite's own placeholders, the same throughout. */
  own: Map<string, string>;
  random: Random;
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
  readonly #planned = new Map<Contract, Planned>();
  readonly #events: readonly PlannedEvent[];
  readonly #clients = new Set<MockClient>();
  readonly #timers = new Map<EventContract, () => void>();

  /** @throws SuiteError when `allow` names no contract */
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
    for (const contract of calls) {
      const given = new Set(contract.request.holes.map(({ name }) => name));
      const success = contract.kind === "success" ? contract.method : undefined;
      const response =
        contract.kind === "timeout" ? undefined : planMessage(contract.response, this.#ids, success, given);
      this.#planned.set(contract, { contract, response });
    }
    this.#events = usable.flatMap((contract) =>
      contract.kind === "event"
        ? [{ contract, message: planMessage(contract.notification, this.#ids, undefined, new Set()) }]
        : [],
    );
  }

  /** Forgets all that was given out. */
  reset(): void {
    this.#ids.clear();
  }

  connect(client: MockClient): void {
    this.#clients.add(client);
    if (this.#clients.size > 1) return;
    for (const event of this.#events) this.#tick(event);
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

  /** @param silent called when there will be no reply */
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
    const member = value as Member & { method: string };
    const id = "id" in member ? idOf(member, text) : undefined;
    const call: MockCall = { method: member.method, text, id, transport: client.transport };
    let drawn: Random | undefined;
    // Most answers need no chance, and a stamp for each costs more than the answer.
    const random = () => {
      drawn ??= this.#options.stamps.next("", member.method).random;
      return drawn();
    };
    const { answer, after } = this.#decide(call, member["params"], random);
    const send = (interception?: Interception) => {
      const sent = interception && "text" in interception ? { ...answer, text: interception.text } : answer;
      this.#options.onCall?.(call, sent);
      if (interception?.disconnect) client.disconnect();
      else if (sent.text === undefined) silent?.();
      else reply(sent.text);
      after?.(client);
    };
    const intercepted = this.#options.intercept?.(call, answer);
    const act = () => {
      if (intercepted instanceof Promise) void intercepted.then(send);
      else send(intercepted);
    };
    const delayMs = this.#options.delays?.get(member.method) ?? 0;
    if (delayMs > 0) this.#options.clock.at(this.#options.clock.now() + delayMs, act);
    else act();
  }

  #decide(
    call: MockCall,
    params: unknown,
    random: Random,
  ): { answer: MockAnswer; after?: ((client: MockClient) => void) | undefined } {
    const { schema } = this.#suite;
    const { method, id } = call;
    const replyTo = id ?? "null";
    const none = (answer: MockAnswer) => ({ answer: id === undefined ? { ...answer, text: undefined } : answer });
    const answers = this.#answers.get(method);
    if (!answers && !schema?.methods.has(method))
      return none(refusal(replyTo, METHOD_NOT_FOUND, `Method not found: ${method}`));
    const textOf = this.#textOf(call.text, params, method);
    const faults = schema?.faults(method, "params", params) ?? [];
    let chosen: Chosen | Unanswered | undefined;
    if (faults.length > 0) {
      chosen = answers?.refusal(params, call.transport, textOf);
      if (!chosen || !this.#breaksSchema(chosen.golden.contract))
        return none(
          refusal(
            replyTo,
            INVALID_PARAMS,
            `Invalid params: ${faults.map(({ pointer, message }) => `${pointer || "they"} ${message}`).join("; ")}`,
            { faults },
          ),
        );
    } else {
      chosen = answers?.choose(params, call.transport, textOf) ?? {
        reason: "no contract answers it",
        code: INTERNAL_ERROR,
      };
    }
    if (!("golden" in chosen))
      return none(
        refusal(
          replyTo,
          chosen.code,
          `Stuntdouble has no answer for ${method}: ${chosen.reason}, and no contract says what is answered then.`,
        ),
      );
    return this.#play(call, chosen, textOf, random);
  }

  /** Whether an error is about the schema: its own request breaks it, too. */
  #breaksSchema({ method, request }: AnsweringContract): boolean {
    const { params } = request.value as { params?: unknown };
    return (this.#suite.schema?.faults(method, "params", params) ?? []).length > 0;
  }

  #play(call: MockCall, { golden, captured }: Chosen, textOf: TextOf, random: Random) {
    const { contract } = golden;
    const { response } = this.#planned.get(contract) as Planned;
    const exchange: Exchange = {
      captured: new Map([...captured].map(([name, { pointer, value }]) => [name, textOf(pointer, value)])),
      created: new Map(),
      own: new Map(),
      random,
    };
    const text = response && fillMessage(response, this.#ids, this.#fill(exchange, response, call.id ?? "null"));
    const answer: MockAnswer = {
      text: call.id === undefined ? undefined : text,
      contract: contract.id,
      code: contract.kind === "error" ? contract.code : undefined,
    };
    if (contract.kind !== "success") return { answer };
    for (const [name, value] of exchange.captured) {
      const kind = this.#ids.kindOf(name);
      if (kind && this.#ids.deletes(kind, contract.method)) this.#ids.remove(kind, value);
    }
    const events = this.#events.filter((event) => event.contract.event.after === contract.method);
    if (events.length === 0) return { answer };
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

  #notify({ contract, message }: PlannedEvent, exchange: Exchange, caller: MockClient | undefined): void {
    const text = fillMessage(message, this.#ids, this.#fill(exchange, message, "null"));
    for (const client of contract.event.to === "caller" && caller ? [caller] : this.#clients) {
      if (!this.#clients.has(client)) continue;
      if (contract.transport === undefined || contract.transport === client.transport) client.send(text);
    }
  }

  /** An event on a timer of its own comes as long as somebody is there. */
  #tick(event: PlannedEvent): void {
    const { everyMs } = event.contract.event;
    if (everyMs === undefined) return;
    const { clock, stamps } = this.#options;
    const cancel = clock.at(clock.now() + everyMs, () => {
      const random = stamps.next("", event.contract.id).random;
      this.#notify(event, { captured: new Map(), created: new Map(), own: new Map(), random }, undefined);
      this.#tick(event);
    });
    this.#timers.set(event.contract, cancel);
  }

  #fill(exchange: Exchange, plan: MessagePlan, id: string): Fill {
    const { placeholders } = this.#suite;
    const ids = this.#ids;
    const wallMs = this.#options.clock.wall();
    const make = (name: string) => JSON.stringify(placeholders.make(name, exchange.random, wallMs));
    return {
      value: (hole, element) => {
        if (hole.pointer === "/id" && element === undefined && hole.name === "") return id;
        const created = element === undefined ? plan.creates.get(hole.pointer) : undefined;
        if (created) {
          const made = ids.create(created.kind, created.golden, exchange.random, wallMs);
          exchange.created.set(created.kind, made);
          return made;
        }
        const kind = ids.kindOf(hole.name);
        if (kind) {
          if (element?.kind === kind) return element.id;
          return (
            exchange.captured.get(hole.name) ??
            exchange.created.get(kind) ??
            ids.latest(kind) ??
            ids.create(kind, hole.name, exchange.random, wallMs)
          );
        }
        if (!placeholders.isBuiltIn(hole.name)) {
          const own = exchange.captured.get(hole.name) ?? exchange.own.get(hole.name) ?? make(hole.name);
          exchange.own.set(hole.name, own);
          return own;
        }
        const about = element ?? aboutOf(exchange, ids);
        const member = hole.pointer.slice(hole.pointer.lastIndexOf("/") + 1);
        return about ? ids.detail(about.kind, about.id, member, () => make(hole.name)) : make(hole.name);
      },
    };
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

/** The one thing that an exchange is about. */
function aboutOf(exchange: Exchange, ids: LiveIds): { kind: IdKind; id: string } | undefined {
  for (const [kind, id] of exchange.created) return { kind, id };
  for (const [name, id] of exchange.captured) {
    const kind = placeholderIn(name) && ids.kindOf(name);
    if (kind) return { kind, id };
  }
  return undefined;
}

const ANSWER = "an answer";

/** What is wrong with a request; `ANSWER` for what answers us, and undefined for a right one. */
function invalidRequest(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is no object";
  const { jsonrpc, method, params, id } = value as Member;
  if (method === undefined && ("result" in value || "error" in value)) return ANSWER;
  if (jsonrpc !== "2.0") return '"jsonrpc" is not "2.0"';
  if (typeof method !== "string") return '"method" is no string';
  if (params !== undefined && (typeof params !== "object" || params === null)) return '"params" is no object or array';
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number")
    return '"id" is no string, number or null';
  return undefined;
}

/** The id as it was written; undefined where there is none that could be given back. */
function idOf(value: unknown, text: string): string | undefined {
  const id = (value as Member | null)?.["id"];
  // Most ids are written the one way that there is for them; looking into the text costs a second pass.
  if (
    typeof id === "number" &&
    Number.isSafeInteger(id) &&
    (text.includes(`"id":${id},`) || text.includes(`"id":${id}}`))
  )
    return String(id);
  if (id !== null && typeof id !== "string" && typeof id !== "number") return undefined;
  return memberText(text, "id");
}

function refusal(id: string, code: number, message: string, data?: unknown): MockAnswer & { text: string } {
  return { text: errorResponse(id, code, message, data), contract: undefined, code };
}
