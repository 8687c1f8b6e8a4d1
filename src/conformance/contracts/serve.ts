import type { Channel } from "../../transport/channel.ts";
import { errorResponse } from "../../wire/json-rpc.ts";
import { PARSE_ERROR, type TransportName } from "./contract.ts";
import type { MockClient, MockDaemon } from "./mock.ts";

/** Lets the daemon answer what comes over the channel. Done when the client has gone. */
export function serveChannel(daemon: MockDaemon, channel: Channel, transport: TransportName): Promise<void> {
  return new Promise((resolve) => {
    const client: MockClient = {
      transport,
      send: (text) => channel.send(text),
      disconnect: () => void channel.stop(),
    };
    daemon.connect(client);
    channel.open({
      frame: (text) => daemon.receive(client, text),
      noise: ({ reason }) => channel.send(errorResponse("null", PARSE_ERROR, `Parse error: ${reason}`)),
      end: () => {
        daemon.disconnect(client);
        channel.end();
        resolve();
      },
    });
  });
}
