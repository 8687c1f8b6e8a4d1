import type { Envelope, Finish, Native, Part, Usage } from "./reply.ts";

/**
 * One timed piece of a streamed reply, whoever provides it. A part is opened by `start`, grows by `delta`,
 * ends by `stop`; what is not about a part leaves `part` at -1, what is not about a choice `choice` too.
 */
export interface Frame {
  /** Since the request was sent. */
  atMs: number;
  choice: number;
  part: number;
  event: FrameEvent;
}

export type FrameEvent =
  | { type: "start"; part: Part }
  /** More of a text; with `at`, of that text in a list of them. */
  | { type: "delta"; field: string; value: string; at?: number }
  /** A field that comes whole: a signature, annotations, an opaque item's value. */
  | { type: "set"; field: string; value: unknown }
  | { type: "stop" }
  /** With all of the choice's native members that are known by then. A later one takes its place. */
  | { type: "finish"; finish: Finish; native?: Native }
  | { type: "envelope"; envelope: Envelope }
  | { type: "usage"; usage: Usage }
  | { type: "error"; message: string; native?: Native }
  | { type: "keepalive" };
