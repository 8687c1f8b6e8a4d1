import type { WebSocket } from "ws";
import { type Channel, type ChannelEvents, STOPPED_CLEANLY } from "./channel.ts";

/** A WebSocket as a channel, on either side of it: one message, one frame. */
export function webSocketChannel(socket: WebSocket): Channel {
  let events: ChannelEvents | undefined;
  const early: ((to: ChannelEvents) => void)[] = [];
  const deliver = (event: (to: ChannelEvents) => void) => {
    if (events) event(events);
    else early.push(event);
  };
  socket.on("message", (data, binary) => {
    const text = String(data);
    deliver((to) =>
      binary ? to.noise({ noise: text.slice(0, 1024), reason: "it is a binary message" }) : to.frame(text),
    );
  });
  socket.on("close", (code) => deliver((to) => to.end(`it closed the WebSocket (${code})`)));
  socket.on("error", () => {});
  return {
    halfCloses: false,
    open(opened) {
      events = opened;
      for (const event of early.splice(0)) event(opened);
    },
    send(text) {
      if (socket.readyState === socket.OPEN) socket.send(text);
    },
    end: () => socket.close(1000),
    stderr: () => "",
    stop() {
      socket.terminate();
      return Promise.resolve(STOPPED_CLEANLY);
    },
  };
}
