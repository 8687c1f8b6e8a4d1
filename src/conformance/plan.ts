import { isMessage, type NoMessage, type RpcMember, type RpcMessage, readMessage } from "../wire/json-rpc.ts";
import { type Problem, SuiteError } from "./errors.ts";
import { redactJson } from "./redact.ts";
import { type Manifest, REQUEST_FILE, RESPONSE_FILE, type Transcript } from "./transcript.ts";

/** A line that the client sends. */
export interface PlannedLine {
  message: RpcMessage;
  /** Its members that ask something. */
  requests: RpcMember[];
  /** Those of them that are to be waited for: all that are not listed as unanswered. */
  awaited: RpcMember[];
  /** It waits for the answers to what was asked before it, as requests do. */
  inTurn: boolean;
  /** What it answers, where it answers requests of the adapter. */
  answersServer: { member: RpcMember; question: string }[];
}

/** A request that the adapter asks of the client. */
export interface ServerRequest {
  /** The frame that asks it, from 0. */
  frame: number;
  idKey: string;
  /** The line that answers it, from 0; undefined where the recording holds no answer. */
  answerLine: number | undefined;
  question: string;
}

/** The name of a method's nth request (from 0): a live adapter may number its requests otherwise. */
export function questionName(method: string, nth: number): string {
  return `${method} ${nth}`;
}

/** The name of a request by its id, for a case that has no recording yet. */
export function questionById(idKey: string): string {
  return `id ${idKey}`;
}

/**
 * What a transcript means: which frame answers which request, in both directions. Replaying and playing both go by it,
 * so that they cannot disagree.
 */
export interface Plan {
  lines: PlannedLine[];
  frames: RpcMessage[];
  /** The frame at that place, from 0, with what is volatile masked. */
  masked(at: number): string;
  serverRequests: ServerRequest[];
  /** For each frame, the lines (from 0) whose requests it answers. */
  answeredLines: number[][];
  /** Requests without an answer that the manifest does not excuse, in words. */
  unanswered: Problem[];
  problems: Problem[];
}

interface Waiting {
  line: number;
  member: RpcMember;
}

/**
 * Reads the lines of a case and relates them. Faults are in `problems`.
 *
 * @param recorded false for a case that has still to be recorded: that nothing answers is then no fault.
 */
export function makePlan(transcript: Transcript, recorded = true): Plan {
  const problems: Problem[] = [];
  const requestFile = `${transcript.dir}/${REQUEST_FILE}`;
  const responseFile = `${transcript.dir}/${RESPONSE_FILE}`;
  const lines = readLines(transcript.requests, requestFile, problems);
  const frames = readLines(transcript.recorded, responseFile, problems);
  const masked: string[] = [];
  const plan: Plan = {
    lines: [],
    frames: frames.map((read) => read.message),
    masked(at) {
      masked[at] ??= redactJson(transcript.recorded[at] as string, transcript.manifest.volatile);
      return masked[at];
    },
    serverRequests: [],
    answeredLines: [],
    unanswered: [],
    problems,
  };

  const excused = new Set(transcript.manifest.unanswered.map((id) => JSON.stringify(id)));
  const asked = new Map<string, Waiting[]>();
  for (const { message } of lines) {
    const requests = message.members.filter((member) => member.kind === "request");
    for (const member of requests) push(asked, member.idKey as string, { line: plan.lines.length, member });
    plan.lines.push({
      message,
      requests,
      awaited: requests.filter((member) => !excused.has(member.id as string)),
      inTurn: requests.length > 0 || transcript.manifest.inTurn.includes(plan.lines.length + 1),
      answersServer: [],
    });
  }
  const askedByServer = new Map<string, ServerRequest[]>();
  const asksOfMethod = new Map<string, number>();
  for (const [frame, { message, line }] of frames.entries()) {
    const answered: number[] = [];
    for (const member of message.members) {
      if (member.kind === "response") {
        const request = asked.get(member.idKey as string)?.shift();
        if (request) answered.push(request.line);
        else
          problems.push({
            file: responseFile,
            line,
            message: `this answers the id ${member.id}, and no request asked for that (or it was answered before).`,
          });
      } else if (member.kind === "request") {
        if (!transcript.manifest.serverRequests) {
          problems.push({
            file: responseFile,
            line,
            message: `the adapter asks a request here (${member.method}); say "serverRequests": true in the manifest if it may.`,
          });
        }
        const method = member.method as string;
        const nth = asksOfMethod.get(method) ?? 0;
        asksOfMethod.set(method, nth + 1);
        const question = questionName(method, nth);
        const request = { frame, idKey: member.idKey as string, answerLine: undefined, question };
        push(askedByServer, request.idKey, request);
        plan.serverRequests.push(request);
      }
    }
    plan.answeredLines.push(answered);
  }
  for (const [index, { message, line }] of lines.entries()) {
    for (const member of message.members) {
      if (member.kind !== "response") continue;
      const request = askedByServer.get(member.idKey as string)?.shift();
      if (request) request.answerLine = index;
      else if (recorded || !transcript.manifest.serverRequests)
        problems.push({ file: requestFile, line, message: answersNothing(transcript.manifest, member) });
      plan.lines[index]?.answersServer.push({
        member,
        question: request?.question ?? questionById(member.idKey as string),
      });
    }
  }
  for (const waiting of [...asked.values()].flat().sort((a, b) => a.line - b.line)) {
    if (excused.has(waiting.member.id as string)) continue;
    const message = `the request ${waiting.member.id} (${waiting.member.method}) has no answer in ${RESPONSE_FILE}; record the case again, or list the id in "unanswered" if no answer is right.`;
    plan.unanswered.push({ file: requestFile, line: (lines[waiting.line] as ReadLine).line, message });
  }
  return plan;
}

const plans = new WeakMap<Transcript, Plan>();

/**
 * The plan of a transcript that is about to be replayed or played.
 *
 * @throws SuiteError when it cannot be: above all when a request has no answer, which would be found in the middle of a
 * run that should never have started.
 */
export function planOf(transcript: Transcript): Plan {
  let plan = plans.get(transcript);
  if (!plan) {
    plan = makePlan(transcript);
    plans.set(transcript, plan);
  }
  const problems = [...plan.problems, ...plan.unanswered];
  if (problems.length > 0) throw new SuiteError(problems);
  return plan;
}

interface ReadLine {
  message: RpcMessage;
  line: number;
}

function readLines(texts: readonly string[], file: string, problems: Problem[]): ReadLine[] {
  const read: ReadLine[] = [];
  for (const [index, text] of texts.entries()) {
    const message: RpcMessage | NoMessage = readMessage(text);
    if (isMessage(message)) read.push({ message, line: index + 1 });
    else problems.push({ file, line: index + 1, message: `this is no JSON-RPC message: ${message.reason}.` });
  }
  return read;
}

function answersNothing(manifest: Manifest, member: RpcMember): string {
  if (!manifest.serverRequests)
    return 'this line answers the adapter, which asks nothing; say "serverRequests": true in the manifest if it may.';
  return `this answers the id ${member.id}, and no frame of ${RESPONSE_FILE} asks for that.`;
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
