import type { Difference } from "../../report/difference.ts";
import { cutAroundDifference } from "../../report/difference.ts";
import type { Verdict } from "../../report/verdict.ts";
import type { Clock } from "../../state/clock.ts";
import { framings } from "../../wire/framings.ts";
import { memberText } from "../../wire/json-rpc.ts";
import { openTarget, type Target } from "../target.ts";
import { Bindings } from "./bindings.ts";
import type { CallContract, Contract, EventContract, SetupCall, TimeoutContract, TransportName } from "./contract.ts";
import type { Suite } from "./load.ts";
import type { Random } from "./sample.ts";
import { type Notified, type Reply, Session } from "./session.ts";
import { compareShape, type ShapeDifference } from "./shape.ts";
import { textAt } from "./template.ts";

export interface RunOptions {
  /** What the target is reached by; decides about contracts with a `transport`. */
  transport: TransportName;
  clock: Clock;
  random: Random;
  /** The longest wait for a reply. */
  responseTimeoutMs: number;
  /** How long it is listened for what must not come: an event's second copy, a late reply. */
  settleMs: number;
  /** How long a process may take to end by itself. */
  stopGraceMs: number;
  /** The environment that `${NAME}` in the suite's authentication is taken from. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Holds the target to one contract, over a connection of its own. Throws a `TransportError` when it cannot be reached. */
export async function runContract(
  contract: Contract,
  suite: Suite,
  target: Target,
  options: RunOptions,
): Promise<Verdict> {
  return new Run(contract, suite, target, options).verdict();
}

/** What a live service answered, for a contract that is to be written. */
export interface Answered {
  /** The message as it came; undefined where none did, and `differences` says why. */
  text: string | undefined;
  bound: ReadonlyMap<string, string>;
  differences: readonly Difference[];
}

/** Asks what the contract asks, or causes its event, and gives what came. Throws a `TransportError`. */
export async function askContract(
  contract: Contract,
  suite: Suite,
  target: Target,
  options: RunOptions,
): Promise<Answered> {
  return new Run(contract, suite, target, options).answered();
}

/** The contract cannot go on; what is wrong has been said. */
class Stopped extends Error {}

class Run {
  private readonly contract: Contract;
  private readonly suite: Suite;
  private readonly target: Target;
  private readonly options: RunOptions;
  private readonly differences: Difference[] = [];
  private readonly notes: string[] = [];
  private readonly bindings: Bindings;
  /** How often each method was asked, for events that name nobody. */
  private readonly asked = new Map<string, number>();
  private session!: Session;

  constructor(contract: Contract, suite: Suite, target: Target, options: RunOptions) {
    this.contract = contract;
    this.suite = suite;
    this.target = target;
    this.options = options;
    this.bindings = new Bindings(suite.placeholders, options.random, () => options.clock.wall());
  }

  async verdict(): Promise<Verdict> {
    const { contract, options } = this;
    const startedAt = options.clock.now();
    await this.open();
    try {
      await this.prepare();
      await this.hold();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      const report = await this.session.stop();
      if (report.killed) this.notes.push("the process did not end by itself and was killed");
      if (report.leftBehind) this.differ("", "it left processes behind, which were killed");
    }
    this.afterwards();
    return {
      case: contract.id,
      status: this.differences.length === 0 ? "passed" : "failed",
      durationMs: options.clock.now() - startedAt,
      differences: this.differences,
      notes: [...this.notes, ...contract.assertions.map((assertion) => `for the reviewer: ${assertion}`)],
      stderr: this.session.stderr(),
      file: contract.file,
    };
  }

  async answered(): Promise<Answered> {
    await this.open();
    let text: string | undefined;
    try {
      await this.prepare();
      const { contract } = this;
      if (contract.kind === "event") text = await this.firstEvent(contract);
      else {
        const reply = await this.ask(contract.request);
        if (reply.kind === "reply") text = reply.text;
        else this.differ("", reply.kind === "ended" ? `no reply came: ${reply.how}` : this.tooLate());
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      await this.session.stop();
    }
    return { text, bound: this.bindings.bound, differences: this.differences };
  }

  private async firstEvent({ method, event }: EventContract): Promise<string | undefined> {
    const before = this.session.notifications.length;
    if (event.after !== undefined) await this.cause(event.after);
    const came = () => this.session.notifications.slice(before).findLast((notified) => notified.method === method);
    await this.session.until(() => came() !== undefined, this.suite.settings.eventTimeoutMs);
    if (!came()) this.differ("", `no event ${method} came within ${this.suite.settings.eventTimeoutMs} ms`);
    return came()?.text;
  }

  private tooLate(): string {
    return `no reply came within ${this.options.responseTimeoutMs} ms`;
  }

  private async open(): Promise<void> {
    const channel = await openTarget(this.target, {
      case: this.contract.id,
      bindings: { fixture: this.suite.root, workdir: this.suite.root },
      framing: framings[this.suite.settings.framing],
      stopGraceMs: this.options.stopGraceMs,
    });
    this.session = new Session(channel, this.options.clock);
  }

  private hold(): Promise<void> {
    const { contract } = this;
    switch (contract.kind) {
      case "success":
      case "error":
        return this.holdCall(contract);
      case "timeout":
        return this.holdSilence(contract);
      case "event":
        return this.holdEvent(contract);
      case "unrecorded":
        throw new Error(`${contract.id} has no response, and was to be skipped.`);
    }
  }

  private async prepare(): Promise<void> {
    const { authentication, setup } = this.suite.settings;
    if (this.contract.authenticated && authentication?.request !== undefined) {
      const request = { jsonrpc: "2.0", id: "authentication", ...(authentication.request as object) };
      const text = withEnvironment(JSON.stringify(request), this.options.env);
      this.succeeded(
        "the authentication",
        await this.session.ask(text, JSON.stringify(request.id), this.options.responseTimeoutMs),
      );
    }
    for (const [index, call] of (this.contract.setup ?? setup).entries()) {
      const reply = await this.ask(call.request);
      const text = this.succeeded(`set-up call ${index + 1}, ${call.method},`, reply);
      this.bind(call, text, `set-up call ${index + 1}, ${call.method},`);
    }
  }

  /** Sends a request of the suite. */
  private ask(
    template: SetupCall["request"],
    limitMs = this.options.responseTimeoutMs,
    nullId = false,
  ): Promise<Reply> {
    const text = this.bindings.fill(template);
    const { method } = template.value as { method: string };
    this.asked.set(method, (this.asked.get(method) ?? 0) + 1);
    const id = memberText(text, "id");
    if (id !== undefined) return this.session.ask(text, id, limitMs, nullId);
    this.session.send(text);
    return Promise.resolve({ kind: "silence" });
  }

  private bind(call: SetupCall, text: string, what: string): void {
    for (const [name, pointer] of call.bind) {
      const value = textAt(text, pointer);
      if (value === undefined) this.stop(`${what} answered nothing at ${pointer}, which ${name} is bound to`, text);
      else this.bindings.bound.set(name, value);
    }
  }

  private succeeded(what: string, reply: Reply): string {
    if (reply.kind === "ended") return this.stop(`${what} was not answered: ${reply.how}`);
    if (reply.kind === "silence")
      return this.stop(`${what} was not answered within ${this.options.responseTimeoutMs} ms`);
    if (!("result" in reply.value)) return this.stop(`${what} failed`, JSON.stringify(reply.value["error"]));
    return reply.text;
  }

  private async holdCall(contract: CallContract): Promise<void> {
    const golden = contract.response.value as Record<string, unknown>;
    const reply = await this.ask(contract.request, undefined, golden["id"] === null);
    if (reply.kind === "ended") return void this.differ("", `no reply came: ${reply.how}`);
    if (reply.kind === "silence") return void this.differ("", this.tooLate());
    this.compareReply(contract, golden, reply.text, reply.value);
  }

  private compareReply(
    contract: CallContract,
    golden: Record<string, unknown>,
    text: string,
    value: Record<string, unknown>,
  ): void {
    const error = value["error"] as { code?: unknown } | undefined;
    if (contract.kind === "success" && "error" in value)
      return void this.differ(
        "/error",
        "it failed, and the golden succeeds",
        JSON.stringify(golden["result"]),
        JSON.stringify(error),
      );
    if (contract.kind === "error") {
      if ("result" in value)
        return void this.differ(
          "/result",
          `it succeeded, and the golden fails with ${contract.code}`,
          "",
          JSON.stringify(value["result"]),
        );
      if (error?.code !== contract.code)
        this.differ("/error/code", "it is another error", String(contract.code), JSON.stringify(error?.code) ?? "");
    }
    const { schema } = this.suite;
    const judged = contract.kind === "success" && schema?.describes(contract.method, "result") === true;
    const faults = judged ? (schema?.faults(contract.method, "result", value["result"]) ?? []) : [];
    if (value["jsonrpc"] !== "2.0")
      this.differ("/jsonrpc", 'it is not "2.0"', '"2.0"', JSON.stringify(value["jsonrpc"]) ?? "");
    // Ids belong to the exchange: the reply was found by its id.
    const { id: _wanted, jsonrpc: _version, ...want } = golden;
    const { id: _came, jsonrpc: _came2, ...got } = value;
    this.compare(
      want,
      got,
      text,
      judged,
      faults.map((fault) => ({ ...fault, pointer: `/result${fault.pointer}` })),
    );
  }

  /** Compares shapes; what the schema finds is told first, and a place that both find is told once. */
  private compare(
    golden: unknown,
    got: unknown,
    text: string,
    judged: boolean,
    faults: { pointer: string; message: string }[],
  ): void {
    const { differences, notes } = compareShape(golden, got, this.rules(text, judged));
    const told = new Set(differences.map(({ pointer }) => pointer));
    for (const { pointer, message } of faults)
      if (!told.has(pointer))
        this.differ(pointer, `the schema refuses it: it ${message}`, "", textAt(text, pointer) ?? "");
    for (const difference of differences) this.add(difference);
    this.notes.push(...notes);
  }

  private rules(text: string, schemaRules: boolean) {
    const { placeholders, settings } = this.suite;
    return { placeholders, bound: this.bindings.bound, schemaRules, extraMembers: settings.extraMembers, text };
  }

  private async holdSilence(contract: TimeoutContract): Promise<void> {
    const reply = await this.ask(contract.request, contract.limitMs);
    if (reply.kind === "reply")
      return void this.differ("", `a reply came within ${contract.limitMs} ms, and none may`, "", reply.text);
    if (reply.kind === "ended") return void this.differ("", `the connection ended: ${reply.how}`);
    // A method that nobody has is answered by every server, and changes nothing.
    const probe = { jsonrpc: "2.0", id: "after-the-silence", method: "stuntdouble.probe" };
    const next = await this.session.ask(
      JSON.stringify(probe),
      JSON.stringify(probe.id),
      this.options.responseTimeoutMs,
    );
    if (next.kind !== "reply")
      return void this.differ(
        "",
        `the connection does not serve the next request: ${next.kind === "ended" ? next.how : `nothing came within ${this.options.responseTimeoutMs} ms`}`,
      );
    await this.session.until(() => this.session.late.length > 0, this.options.settleMs);
  }

  private async holdEvent(contract: EventContract): Promise<void> {
    const { settings } = this.suite;
    const before = this.session.notifications.length;
    const { after } = contract.event;
    if (after !== undefined) await this.cause(after);
    const golden = contract.notification.value;
    const candidates = () =>
      this.session.notifications.slice(before).filter(({ method }) => method === contract.method);
    const fits = ({ text, value }: Notified) =>
      compareShape(golden, value, this.rules(text, false)).differences.length === 0;
    const limitMs = Math.max(settings.eventTimeoutMs, (contract.event.everyMs ?? 0) * 3);
    const came = await this.session.until(() => candidates().some(fits), limitMs);
    if (!came) {
      const [nearest] = candidates()
        .map((event) => ({
          event,
          differences: compareShape(golden, event.value, this.rules(event.text, false)).differences,
        }))
        .sort((a, b) => a.differences.length - b.differences.length);
      if (!nearest)
        return void this.differ(
          "",
          `no event ${contract.method} came within ${limitMs} ms${after === undefined ? "" : ` of ${after}`}`,
        );
      for (const difference of nearest.differences) this.add(difference);
      return;
    }
    const event = candidates().find(fits) as Notified;
    const judged = this.suite.schema?.describes(contract.method, "params") === true;
    const faults = judged ? (this.suite.schema?.faults(contract.method, "params", event.value["params"]) ?? []) : [];
    this.compare(
      golden,
      event.value,
      event.text,
      judged,
      faults.map((fault) => ({ ...fault, pointer: `/params${fault.pointer}` })),
    );
    if (contract.event.repeats) return;
    const names = contract.notification.holes.some(({ name }) => this.bindings.bound.has(name));
    // An event that names nobody may belong to a call of the set-up; one of each is right then.
    const most = names ? 1 : (this.asked.get(after ?? "") ?? 1);
    const all = () =>
      (names ? candidates() : this.session.notifications.filter(({ method }) => method === contract.method)).filter(
        fits,
      ).length;
    if (await this.session.until(() => all() > most, this.options.settleMs))
      this.differ(
        "",
        `the event ${contract.method} came ${all()} times for ${most === 1 ? "one" : most} ${after ?? "cause"}`,
        "",
        event.text,
      );
  }

  /** Makes what causes an event happen: the first contract of the method that succeeds on this transport. */
  private async cause(method: string): Promise<void> {
    const call = this.suite.contracts.find(
      (contract): contract is CallContract =>
        contract.kind === "success" &&
        contract.method === method &&
        contract.requires === undefined &&
        (contract.transport === undefined || contract.transport === this.options.transport),
    );
    if (!call)
      return this.stop(`no contract of ${method} succeeds on ${this.options.transport}, so the event cannot be caused`);
    const text = this.succeeded(`the cause, ${method},`, await this.ask(call.request));
    // What the set-up takes from this method's response is in the event that of this call, not of the set-up's.
    for (const made of this.contract.setup ?? this.suite.settings.setup) {
      if (made.method === method) this.bind(made, text, `the cause, ${method},`);
    }
  }

  /** What holds for every contract: no late reply, nothing that nobody asked for. */
  private afterwards(): void {
    for (const id of this.session.late) this.differ("", `a reply to the id ${id} came late, or a second time`);
    for (const stray of this.session.stray) this.differ("", stray);
  }

  private stop(detail: string, got = ""): never {
    this.differ("", detail, "", got);
    throw new Stopped();
  }

  private add({ pointer, detail, want, got }: ShapeDifference): void {
    this.differ(pointer, detail, want, got);
  }

  private differ(pointer: string, detail: string, want = "", got = ""): void {
    const [shownWant, shownGot] = cutAroundDifference(want, got);
    this.differences.push({
      case: this.contract.id,
      response: pointer === "" ? 0 : 1,
      pointer,
      want: shownWant,
      got: shownGot,
      detail,
    });
  }
}

/** @throws Error when the environment lacks a variable */
export function withEnvironment(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined)
      throw new Error(`the environment variable ${name} is not set, and the suite's authentication needs it`);
    return JSON.stringify(value).slice(1, -1);
  });
}
