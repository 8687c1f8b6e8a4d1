import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadContracts, type Suite } from "../../src/conformance/contracts/load.ts";
import { type MockClient, MockDaemon, type MockOptions } from "../../src/conformance/contracts/mock.ts";
import type { Target } from "../../src/conformance/target.ts";
import { SystemClock } from "../../src/state/clock.ts";
import { SeededStamps } from "../../src/state/stamps.ts";
import { type Channel, functionChannel } from "../../src/transport/channel.ts";
import type { DownloadDaemon } from "./daemon.ts";

/** Writes a suite. Contracts get a name and a description where they have none. */
export function writeSuite(root: string, files: Readonly<Record<string, object>>): string {
  for (const [name, content] of Object.entries(files)) {
    const file = join(root, `${name}.json`);
    mkdirSync(dirname(file), { recursive: true });
    const whole = name === "contract" ? content : { name, description: "For a test.", ...content };
    writeFileSync(file, JSON.stringify(whole));
  }
  return root;
}

/** A suite of files that are written down in the test. */
export async function suiteOf(files: Readonly<Record<string, object>>): Promise<Suite> {
  const root = mkdtempSync(join(tmpdir(), "stuntdouble-suite-"));
  try {
    return await loadContracts(writeSuite(root, files));
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** A golden pair. */
export function pair(method: string, params: unknown, answer: { result: unknown } | { error: object }, more = {}) {
  return {
    request: { jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) },
    response: { jsonrpc: "2.0", id: 1, ...answer },
    ...more,
  };
}

/** The live daemon, in this process. */
export function liveTarget(daemon: DownloadDaemon): Target {
  return () => {
    let send: (text: string) => void = () => {};
    const client = daemon.connect(
      (text) => send(text),
      () => void channel.stop(),
    );
    const channel = functionChannel((text, toTester) => {
      send = toTester;
      void daemon.receive(client, text);
    });
    return {
      ...channel,
      stop: () => {
        client.close();
        return channel.stop();
      },
    };
  };
}

export function mockOf(suite: Suite, options: Partial<MockOptions> = {}): MockDaemon {
  return new MockDaemon(suite, { clock: new SystemClock(), stamps: new SeededStamps("test"), ...options });
}

/** A mock in this process, reached as if by a Unix socket. */
export function mockTarget(mock: MockDaemon): Target {
  return () => {
    let client: MockClient;
    const channel: Channel = functionChannel((text) => mock.receive(client, text));
    return {
      ...channel,
      open(events) {
        client = { transport: "unix", send: (text) => events.frame(text), disconnect: () => void channel.stop() };
        channel.open(events);
        mock.connect(client);
      },
      stop() {
        mock.disconnect(client);
        return channel.stop();
      },
    };
  };
}

/** A client of a mock that remembers what it was sent. */
export function clientOf(mock: MockDaemon, transport: MockClient["transport"] = "unix") {
  const received: unknown[] = [];
  const texts: string[] = [];
  const client: MockClient = {
    transport,
    send: (text) => {
      texts.push(text);
      received.push(JSON.parse(text));
    },
    disconnect: () => mock.disconnect(client),
  };
  mock.connect(client);
  return {
    received,
    texts,
    close: () => mock.disconnect(client),
    send: (text: string) => mock.receive(client, text),
    /** The last thing that came after a request. */
    ask(method: string, params?: unknown, id: unknown = 1) {
      received.length = 0;
      mock.receive(client, JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return received[0] as { result?: Record<string, unknown>; error?: { code: number; message: string } };
    },
  };
}
