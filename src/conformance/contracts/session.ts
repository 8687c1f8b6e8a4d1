import type { Clock } from "../../state/clock.ts";
import type { Channel, StopReport } from "../../transport/channel.ts";
import { idKeyOf, isMessage, readMessage } from "../../wire/json-rpc.ts";
import { memberAt, rootSpan } from "../../wire/json-text.ts";

/** What came for a request. */
export type Reply =
  | { kind: "reply"; text: string; value: Record<string, unknown> }
  | { kind: "silence" }
  | { kind: "ended"; how: string };

export interface Notified {
  method: string;
  text: string;
  value: Record<string, unknown>;
}

interface Waiting {
  idKey: string;
  /** Whether a reply with the id null counts: its sender could not read the id. */
  nullId: boolean;
  resolve: (reply: Reply) => void;
  cancel: () => void;
}

/** A conversation with a live service, for the one who asks. */
export class Session {
  /** Every notification so far, in the order in which they came. */
  readonly notifications: Notified[] = [];
  /** What came and is no message, or answers nothing that was asked, in words. */
  readonly stray: string[] = [];
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  readonly #watchers = new Set<() => void>();
  /** Ids that were asked and not answered in time. */
  readonly #given = new Set<string>();
  /** Ids, as written, whose reply came once more or after all. */
  readonly late: string[] = [];
  #ended: string | undefined;

  constructor(channel: Channel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    channel.open({
      frame: (text) => this.#receive(text),
      noise: ({ noise, reason }) =>
        void this.stray.push(`what came is no message: ${reason}${noise === "" ? "" : ` (${noise.slice(0, 80)})`}`),
      end: (how) => this.#end(how),
    });
  }

  send(text: string): void {
    this.#channel.send(text);
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @param id the request's id as JSON text
   * @param limitMs then it is silence, and a reply that comes later counts as late
   */
  ask(text: string, id: string, limitMs: number, nullId = false): Promise<Reply> {
    if (this.#ended !== undefined) return Promise.resolve({ kind: "ended", how: this.#ended });
    const idKey = idKeyOf(id);
    const reply = new Promise<Reply>((resolve) => {
      const waiting: Waiting = { idKey, nullId, resolve, cancel: () => {} };
      waiting.cancel = this.#clock.at(this.#clock.now() + limitMs, () => {
        this.#waiting.delete(waiting);
        this.#given.add(idKey);
        resolve({ kind: "silence" });
      });
      this.#waiting.add(waiting);
    });
    this.#channel.send(text);
    return reply;
  }

  /** Waits until `holds` does; false when it does not within the limit, or the conversation ended. */
  until(holds: () => boolean, limitMs: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    if (this.#ended !== undefined || limitMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (held: boolean) => {
        cancel();
        this.#watchers.delete(look);
        resolve(held);
      };
      const look = () => {
        if (holds()) finish(true);
        else if (this.#ended !== undefined) finish(false);
      };
      const cancel = this.#clock.at(this.#clock.now() + limitMs, () => finish(false));
      this.#watchers.add(look);
    });
  }

  stderr(): string {
    return this.#channel.stderr();
  }

  stop(): Promise<StopReport> {
    for (const waiting of this.#waiting) waiting.cancel();
    return this.#channel.stop();
  }

  #receive(text: string): void {
    const message = readMessage(text);
    if (!isMessage(message)) {
      this.stray.push(`what came is no JSON-RPC message: ${message.reason}`);
    } else {
      const values = JSON.parse(text) as Record<string, unknown> | Record<string, unknown>[];
      for (const [index, member] of message.members.entries()) {
        const value = (Array.isArray(values) ? values[index] : values) as Record<string, unknown>;
        const own = message.batch ? JSON.stringify(value) : text;
        if (member.kind === "response") this.#answered(member.idKey as string, own, value);
        else if (member.kind === "notification")
          this.notifications.push({ method: member.method as string, text: own, value });
        else this.stray.push(`the service asked "${member.method}" of its client, which no contract has`);
      }
    }
    for (const look of [...this.#watchers]) look();
  }

  #answered(idKey: string, text: string, value: Record<string, unknown>): void {
    for (const waiting of this.#waiting) {
      if (waiting.idKey !== idKey && !(waiting.nullId && idKey === "null")) continue;
      this.#waiting.delete(waiting);
      waiting.cancel();
      this.#given.add(waiting.idKey);
      waiting.resolve({ kind: "reply", text, value });
      return;
    }
    const span = memberAt(text, rootSpan(text).start, "id");
    const id = span ? text.slice(span.start, span.end) : idKey;
    if (this.#given.has(idKey)) this.late.push(id);
    else this.stray.push(`a reply came to the id ${id}, which nobody asked`);
  }

  #end(how: string): void {
    this.#ended = how;
    for (const waiting of this.#waiting) {
      waiting.cancel();
      waiting.resolve({ kind: "ended", how });
    }
    this.#waiting.clear();
    for (const look of [...this.#watchers]) look();
  }
}
