import type { Readable, Writable } from "node:stream";
import type { Framing, Noise } from "../wire/framing.ts";

/** What comes from the other side. None of them may throw. */
export interface ChannelEvents {
  frame(text: string): void;
  /** What was sent and is no frame. */
  noise(noise: Noise): void;
  /** Nothing more comes. `how` says what ended it, as in "it exited with code 3". Called once. */
  end(how: string): void;
}

/** How a channel went down. */
export interface StopReport {
  /** It had to be killed, because it did not end within its grace. */
  killed: boolean;
  /** It ended, but processes it had started did not; they were killed. */
  leftBehind: boolean;
}

/** A conversation in frames, whatever carries it. */
export interface Channel {
  /** Lets frames flow; called once. What came before is kept until then. */
  open(events: ChannelEvents): void;
  send(text: string): void;
  /** Nothing more will be sent. What the other side still sends is delivered if the transport can close one direction. */
  end(): void;
  /** Whether frames can still come after `end`. Where not, whoever waits for more has to wait before it. */
  readonly halfCloses: boolean;
  /** What the other side logged, bounded; empty where there is no such thing. */
  stderr(): string;
  /** Ends the conversation and frees what it held; done when all of it is gone. */
  stop(): Promise<StopReport>;
}

export const STOPPED_CLEANLY: StopReport = { killed: false, leftBehind: false };

/** A pair of streams as a channel: `input` is what the other side writes, `output` what it reads. */
export function streamChannel(
  input: Readable,
  output: Writable,
  framing: Framing,
  howItEnds = "it closed the stream",
): Channel {
  // A peer that is gone makes writing fail; that it is gone is what `end` reports.
  output.on("error", () => {});
  return {
    halfCloses: true,
    open(events) {
      const decoder = framing.decoder();
      let ended = false;
      const deliver = (frames: (string | Noise)[]) => {
        for (const frame of frames) typeof frame === "string" ? events.frame(frame) : events.noise(frame);
      };
      const finish = (how: string) => {
        if (ended) return;
        ended = true;
        deliver(decoder.end());
        events.end(how);
      };
      input.on("data", (chunk: Buffer) => {
        // What is answered to one chunk leaves in one write: a client that sends many at once has as many answers.
        output.cork();
        deliver(decoder.push(chunk));
        output.uncork();
      });
      input.on("end", () => finish(howItEnds));
      input.on("close", () => finish(howItEnds));
      input.on("error", (error) => finish(`the stream failed (${error.message})`));
    },
    send(text) {
      if (output.writable) output.write(framing.encode(text));
    },
    end() {
      output.end();
    },
    stderr: () => "",
    stop() {
      output.end();
      input.destroy();
      return Promise.resolve(STOPPED_CLEANLY);
    },
  };
}

/**
 * A function as the other side: `receive` is given each frame and sends what it likes, at once or later.
 * Frames are delivered in the turn in which they are sent.
 */
export function functionChannel(
  receive: (frame: string, send: (frame: string) => void) => void,
  ended: (send: (frame: string) => void) => void = () => {},
): Channel {
  let events: ChannelEvents | undefined;
  let over = false;
  const send = (frame: string) => {
    if (!over) events?.frame(frame);
  };
  const finish = () => {
    if (over) return;
    over = true;
    events?.end("it ended");
  };
  return {
    halfCloses: true,
    open(opened) {
      events = opened;
    },
    send(text) {
      if (!over) receive(text, send);
    },
    end() {
      if (!over) ended(send);
      finish();
    },
    stderr: () => "",
    stop() {
      finish();
      return Promise.resolve(STOPPED_CLEANLY);
    },
  };
}
