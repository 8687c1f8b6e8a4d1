import type { Channel, StopReport } from "../transport/channel.ts";
import type { Noise } from "../wire/framing.ts";
import { isMessage, type RpcMember, type RpcMessage, readMessage, withIds } from "../wire/json-rpc.ts";
import type { ReadFrame } from "./align.ts";
import { type PlannedLine, questionById, questionName } from "./plan.ts";
import { FLOW_LOCKSTEP, type Manifest } from "./transcript.ts";

/** 20 s: generous, because a case that reaches it hangs, whatever the number. */
export const DEFAULT_RESPONSE_TIMEOUT_MS = 20_000;
/** 2 s for what follows the end of the input. A process that ends closes its stdout, and nothing is waited for. */
export const DEFAULT_DRAIN_TIMEOUT_MS = 2_000;
/** 2 s for a process to end by itself once its stdin is closed. */
export const DEFAULT_STOP_GRACE_MS = 2_000;

export interface DriveOptions {
  flow: Manifest["flow"];
  /** What is sent, with the placeholders replaced. */
  lines: readonly { planned: PlannedLine; text: string }[];
  /** The recorded frames, already read: a frame that comes as recorded is not read again. */
  recorded: readonly RpcMessage[];
  responseTimeoutMs: number;
  drainTimeoutMs: number;
}

export interface DriveResult {
  /** The frames that came, in order and read, with what else came as a line between them. */
  frames: ReadFrame[];
  /** What was no text at all, with the number of frames before it. */
  noise: { after: number; noise: Noise }[];
  /** Why not every line was sent or answered; empty when all was. */
  stopped: string;
  stop: StopReport;
}

/** Sends the lines of a case by its flow's rules and collects what comes back. Never rejects for what the adapter does. */
export function drive(channel: Channel, options: DriveOptions): Promise<DriveResult> {
  return new Drive(channel, options).run();
}

class Drive {
  private readonly channel: Channel;
  private readonly options: DriveOptions;
  private readonly frames: ReadFrame[] = [];
  private readonly noise: DriveResult["noise"] = [];
  /** Ids of requests that wait for their answer. */
  private readonly pending = new Map<string, RpcMember>();
  /** Requests of the adapter that have come: their names, and their ids as it wrote them. */
  private readonly questions = new Map<string, string>();
  private readonly asksOfMethod = new Map<string, number>();
  private next = 0;
  private stopped = "";
  private phase: "sending" | "expecting" | "draining" | "over" = "sending";
  private pumping = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly finished: Promise<void>;
  private finish: () => void = () => {};

  constructor(channel: Channel, options: DriveOptions) {
    this.channel = channel;
    this.options = options;
    this.finished = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  async run(): Promise<DriveResult> {
    this.channel.open({
      frame: (text) => this.receive(text),
      noise: (noise) => void this.noise.push({ after: this.frames.length, noise }),
      end: (how) => this.ended(how),
    });
    this.pump();
    await this.finished;
    const stop = await this.channel.stop();
    return { frames: this.frames, noise: this.noise, stopped: this.stopped, stop };
  }

  private receive(text: string): void {
    if (this.phase === "over") return;
    const recorded = this.options.recorded[this.frames.length];
    const message = recorded?.text === text ? recorded : readMessage(text);
    this.frames.push(message);
    if (isMessage(message)) {
      for (const member of message.members) {
        if (member.kind === "response") this.pending.delete(member.idKey as string);
        else if (member.kind === "request") this.noteQuestion(member);
      }
    }
    if (this.phase === "sending") this.pump();
    else if (this.phase === "expecting" && this.frames.length >= this.options.recorded.length) this.drain();
  }

  private noteQuestion(member: RpcMember): void {
    const method = member.method as string;
    const nth = this.asksOfMethod.get(method) ?? 0;
    this.asksOfMethod.set(method, nth + 1);
    this.questions.set(questionName(method, nth), member.id as string);
    this.questions.set(questionById(member.idKey as string), member.id as string);
  }

  /** Sends what may be sent. A channel may answer while we send, so this is a loop and not a recursion. */
  private pump(): void {
    if (this.pumping || this.phase !== "sending") return;
    this.pumping = true;
    let sent = false;
    while (this.next < this.options.lines.length) {
      const { planned, text } = this.options.lines[this.next] as DriveOptions["lines"][number];
      if (planned.inTurn && this.pending.size > 0 && this.options.flow === FLOW_LOCKSTEP) break;
      if (planned.answersServer.some(({ question }) => !this.questions.has(question))) break;
      for (const member of planned.awaited) this.pending.set(member.idKey as string, member);
      this.next++;
      sent = true;
      this.channel.send(this.answerToLive(planned, text));
      if (this.phase !== "sending") break;
    }
    this.pumping = false;
    if (this.phase !== "sending") return;
    if (this.next === this.options.lines.length && this.pending.size === 0) this.expectRest();
    // Only an answer that lets the next line go begins a new wait: one who sends progress for ever hangs all the same.
    else if (sent || !this.timer) this.wait(this.options.responseTimeoutMs, () => this.giveUp());
  }

  /** The line with the ids that the adapter has given its requests in this run. */
  private answerToLive(planned: PlannedLine, text: string): string {
    if (planned.answersServer.length === 0) return text;
    const bound = readMessage(text);
    if (!isMessage(bound)) return text;
    const answers = bound.members.filter((member) => member.kind === "response");
    return withIds(bound, (member) => {
      const answer = planned.answersServer[answers.indexOf(member)];
      return answer && this.questions.get(answer.question);
    });
  }

  private giveUp(): void {
    this.stopped = `${this.waitedFor()} did not come within ${formatMs(this.options.responseTimeoutMs)}`;
    this.drain();
  }

  private waitedFor(): string {
    const [request] = this.pending.values();
    if (request) return `the answer to request ${request.id} (${request.method})`;
    const question = this.options.lines[this.next]?.planned.answersServer[0];
    return question ? `the adapter's request that line ${this.next + 1} answers` : "an answer";
  }

  /** Where closing our side closes theirs, frames that are still to come have to be waited for before it. */
  private expectRest(): void {
    if (this.channel.halfCloses || this.frames.length >= this.options.recorded.length) {
      this.drain();
      return;
    }
    this.phase = "expecting";
    this.wait(this.options.drainTimeoutMs, () => this.drain());
  }

  private drain(): void {
    this.phase = "draining";
    this.wait(this.options.drainTimeoutMs, () => this.over());
    this.channel.end();
  }

  private ended(how: string): void {
    if (this.phase === "sending") {
      const missing = this.pending.size > 0 || this.next < this.options.lines.length;
      if (missing) this.stopped = `${how} before ${this.waitedFor()} came`;
    }
    this.over();
  }

  private over(): void {
    this.phase = "over";
    clearTimeout(this.timer);
    this.finish();
  }

  private wait(ms: number, then: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(then, ms);
  }
}

/** A duration as it is written on the command line. */
export function formatMs(ms: number): string {
  return ms >= 1000 && ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
