import { basename, join } from "node:path";
import type { FramingName } from "../wire/framing.ts";

export const MANIFEST_FILE = "manifest.json";
export const REQUEST_FILE = "request.jsonl";
export const RESPONSE_FILE = "response.jsonl";
export const FIXTURE_DIR = "fixture";

/** A request waits for the answer to the one before it; a notification goes out at once. */
export const FLOW_LOCKSTEP = "lockstep";
/** Nothing waits. An extension: a case has to ask for it. */
export const FLOW_PIPELINED = "pipelined";

/** `manifest.json`: what a case is, and how to replay it. */
export interface Manifest {
  /** The case folder's name. */
  case: string;
  /** The behaviour that the transcript proves; not empty. */
  description: string;
  flow: typeof FLOW_LOCKSTEP | typeof FLOW_PIPELINED;
  /** What each `${NAME}` in the requests stands for, in prose. */
  placeholders: Readonly<Record<string, string>>;
  /** JSON Pointers from a response frame's root to what no adapter can reproduce; `*` matches every element or member. */
  volatile: readonly string[];
  /** How many frames the adapter writes, those read while draining included. */
  responses: number;
  /** `any`: answers are matched by id and notifications compared method by method. An extension, `recorded` where not given. */
  order: "recorded" | "any";
  /** Whether the adapter asks requests of its own. An extension, false where not given. */
  serverRequests: boolean;
  /** Ids of requests that are never answered, as a cancelled one in some protocols. An extension. */
  unanswered: readonly (string | number)[];
  /**
   * Lines of `request.jsonl`, from 1, whose notifications wait for the answers to all requests before them. An extension:
   * otherwise a notification goes out at once, and one that means "now that you have answered" would come too early.
   */
  inTurn: readonly number[];
  /** How frames are told apart. An extension, `lines` where not given. */
  framing: FramingName;
  /** Names of further members of the file, which nothing reads. */
  unknownMembers: readonly string[];
}

/** One loaded case. Lines are kept as they were written: what is sent is what was recorded, never a re-encoding of it. */
export interface Transcript {
  /** Absolute path of the case folder. */
  dir: string;
  manifest: Manifest;
  requests: readonly string[];
  recorded: readonly string[];
}

/** What the placeholders stand for on this machine, in this run. Both are absolute paths. */
export interface Bindings {
  fixture: string;
  /** Fresh, writable and empty: a warm folder would be a state that the recording never had. */
  workdir: string;
}

/** The case's source data; the folder may be absent. */
export function fixtureOf(transcript: Pick<Transcript, "dir">): string {
  return join(transcript.dir, FIXTURE_DIR);
}

export function caseNameOf(dir: string): string {
  return basename(dir);
}
