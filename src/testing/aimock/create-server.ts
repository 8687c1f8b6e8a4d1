import type { Server } from "node:http";
import type { Fixture } from "../../fixtures/types.ts";
import { doubleBehind, mountOn } from "./behind.ts";
import type { AimockJournal } from "./journal.ts";
import type { MockServerOptions, Mountable } from "./types.ts";

export interface ServerInstance {
  /** Node's. Closing it directly works too. */
  server: Server;
  journal: AimockJournal;
  url: string;
  /** Lets calls under way end, for two seconds at most, and closes. */
  close(): Promise<void>;
}

/**
 * A server for an array of fixtures that stays yours: what is pushed to it, taken from it or changed in it, the next
 * call sees.
 * @throws {Error} when the port is taken (`code` EADDRINUSE)
 */
export async function createServer(
  fixtures: Fixture[],
  options: MockServerOptions = {},
  mounts: readonly { path: string; handler: Mountable }[] = [],
): Promise<ServerInstance> {
  const behind = doubleBehind(fixtures, options);
  const { double, journal } = behind;
  for (const { path, handler } of mounts) mountOn(behind, path, handler);
  await double.start();
  for (const { path, handler } of mounts) handler.setBaseUrl?.(double.url + path);
  const { server, url } = double;
  return { server, journal, url, close: () => double.stop() };
}
