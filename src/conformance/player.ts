import type { Readable, Writable } from "node:stream";
import { type Channel, streamChannel } from "../transport/channel.ts";
import { framings } from "../wire/framings.ts";
import { errorResponse, isMessage, type RpcMessage, readMessage, withIds } from "../wire/json-rpc.ts";
import { type Plan, type PlannedLine, planOf, type ServerRequest } from "./plan.ts";
import type { Transcript } from "./transcript.ts";

/** JSON-RPC's code for a request that is not valid at this place. */
const INVALID_REQUEST = -32600;

/** How a play ended. */
export interface PlayReport {
  /** Every recorded line was asked for. */
  complete: boolean;
  /** Why the play was ended: what was asked and not recorded, in words. Empty when it was not. */
  refused: string;
  /** How many of the recorded lines were asked for. */
  consumed: number;
  recorded: number;
}

/**
 * Answers a live client from a recording, in the adapter's place.
 *
 * It matches by position and method, and by nothing else: parameters differ from run to run (folders, deadlines). A
 * method out of the recorded order is refused rather than answered from the nearest frame, since evidence for a question
 * that nobody asked is worse than none. The answer carries the live request's id; all else is the recording as written.
 *
 * When a request comes, everything is sent that the adapter wrote up to its answer, and after the last request all that
 * is left. What the adapter wrote after asking the client something waits for the client's answer, unless the recorded
 * client went on without it.
 */
export class Player {
  private readonly plan: Plan;
  private readonly transcript: Transcript;
  /** The recorded lines that are matched by position: all but answers to the adapter. */
  private readonly asking: number[];
  private position = 0;
  private frame = 0;
  private readonly liveIds = new Map<string, string[]>();
  private readonly openQuestions: ServerRequest[] = [];
  private answersGiven = 0;
  private refusal = "";

  /** @throws SuiteError for a transcript that cannot be played, such as one that misses an answer. */
  constructor(transcript: Transcript) {
    this.transcript = transcript;
    this.plan = planOf(transcript);
    this.asking = this.plan.lines.flatMap((line, index) => (isAnswer(line) ? [] : [index]));
  }

  /** Whether the play is over, because something was asked that is not recorded. */
  get ended(): boolean {
    return this.refusal !== "";
  }

  /** The client's next line, and the frames to send for it. */
  receive(text: string): string[] {
    if (this.ended) return [];
    const live = readMessage(text);
    if (!isMessage(live)) return this.refuse(`A line is no JSON-RPC message: ${live.reason}.`, ["null"]);
    const answers = live.members.filter((member) => member.kind === "response");
    for (const member of answers) {
      const at = this.openQuestions.findIndex((question) => question.idKey === member.idKey);
      if (at < 0) return this.refuse(`The client answers the id ${member.id}, which nobody asks.`, []);
      this.openQuestions.splice(at, 1);
      this.answersGiven++;
    }
    if (answers.length < live.members.length) {
      const refused = this.match(live);
      if (refused !== undefined)
        return this.refuse(
          refused,
          live.members.flatMap((member) => (member.kind === "request" ? [member.id as string] : [])),
        );
    }
    return this.play();
  }

  report(): PlayReport {
    const consumed = this.position + this.answersGiven;
    return {
      complete: this.refusal === "" && consumed >= this.plan.lines.length,
      refused: this.refusal,
      consumed,
      recorded: this.plan.lines.length,
    };
  }

  /** Answers what comes from the stream until it ends or the play does. */
  serve(input: Readable, output: Writable): Promise<PlayReport> {
    return this.serveChannel(streamChannel(input, output, framings[this.transcript.manifest.framing]));
  }

  /** Like `serve`, over any channel. */
  serveChannel(channel: Channel): Promise<PlayReport> {
    return new Promise((resolve) => {
      channel.open({
        frame: (text) => {
          if (this.ended) return;
          for (const frame of this.receive(text)) channel.send(frame);
          if (!this.ended) return;
          channel.end();
          resolve(this.report());
        },
        noise: (noise) => {
          if (this.ended) return;
          for (const frame of this.refuse(`What came is no frame: ${noise.reason}.`, ["null"])) channel.send(frame);
          channel.end();
          resolve(this.report());
        },
        end: () => {
          channel.end();
          resolve(this.report());
        },
      });
    });
  }

  /** Takes the recorded line that comes next, or says why the live one is not it. */
  private match(live: RpcMessage): string | undefined {
    const at = this.asking[this.position];
    const asked = describe(live);
    const where = `of the transcript "${this.transcript.manifest.case}"`;
    if (at === undefined) return `${asked} comes after the last of the ${this.asking.length} recorded lines ${where}.`;
    const line = this.plan.lines[at] as PlannedLine;
    const want = line.message.members.filter((member) => member.kind !== "response");
    const got = live.members.filter((member) => member.kind !== "response");
    const same =
      want.length === got.length &&
      want.every((member, index) => member.kind === got[index]?.kind && member.method === got[index]?.method);
    if (!same || line.message.batch !== live.batch)
      return `${asked} is not what comes next: line ${at + 1} ${where} is ${describe(line.message)}.`;
    for (const [index, member] of want.entries()) {
      if (member.kind !== "request") continue;
      const ids = this.liveIds.get(member.idKey as string) ?? [];
      ids.push(got[index]?.id as string);
      this.liveIds.set(member.idKey as string, ids);
    }
    this.position++;
    return undefined;
  }

  /** The frames that may go out now. */
  private play(): string[] {
    const frames: string[] = [];
    const nextRequest = this.nextRequest();
    // With no request to come, nothing would ever call for what is left.
    let end = nextRequest === undefined ? this.plan.frames.length : this.frame;
    for (let at = this.frame; at < this.plan.frames.length; at++) {
      const answered = this.plan.answeredLines[at] as number[];
      if (answered.length === 0) continue;
      if (answered.some((line) => nextRequest !== undefined && line >= nextRequest)) break;
      end = Math.max(end, at + 1);
    }
    while (this.frame < end && !this.openQuestions.some((question) => mustBeAnsweredFirst(question, nextRequest))) {
      const message = this.plan.frames[this.frame] as RpcMessage;
      this.openQuestions.push(
        ...this.plan.serverRequests.filter(
          (question) => question.frame === this.frame && question.answerLine !== undefined,
        ),
      );
      frames.push(
        withIds(message, (member) =>
          member.kind === "response" ? this.liveIds.get(member.idKey as string)?.shift() : undefined,
        ),
      );
      this.frame++;
    }
    return frames;
  }

  /** The first recorded line that asks something and has not been asked yet. */
  private nextRequest(): number | undefined {
    return this.asking.slice(this.position).find((line) => (this.plan.lines[line] as PlannedLine).requests.length > 0);
  }

  private refuse(reason: string, ids: readonly string[]): string[] {
    this.refusal = reason;
    return ids.map((id) => errorResponse(id, INVALID_REQUEST, `Stuntdouble has no recorded answer. ${reason}`));
  }
}

/** Whether the recorded client answered the question before it asked anything else. */
function mustBeAnsweredFirst(question: ServerRequest, nextRequest: number | undefined): boolean {
  return question.answerLine !== undefined && (nextRequest === undefined || question.answerLine < nextRequest);
}

function isAnswer(line: PlannedLine): boolean {
  return line.answersServer.length === line.message.members.length;
}

function describe(message: RpcMessage): string {
  const members = message.members.map((member) =>
    member.kind === "response" ? "an answer" : `the ${member.kind} "${member.method}"`,
  );
  return message.batch ? `a batch of ${members.join(", ")}` : (members[0] as string);
}
