import type { Finish, Native, Part, Usage } from "./reply.ts";

/**
 * One timed piece of a streamed reply, whoever provides it. A part is opened by `start`, grows by `delta`,
 * ends by `stop`; what is not about a part leaves `part` at -1.
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
  | { type: "delta"; field: string; value: string }
  | { type: "stop" }
  | { type: "finish"; finish: Finish }
  | { type: "usage"; usage: Usage }
  | { type: "error"; message: string; native?: Native }
  | { type: "keepalive" };
