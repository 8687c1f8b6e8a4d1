import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { providerNames } from "../../src/upstream/providers.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export function onCleanup(clean: () => unknown): void {
  cleanups.push(clean);
}

export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "stuntdouble-vcr-"));
  onCleanup(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export async function listening(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** A double that stands for every provider. */
export async function provider(): Promise<StuntDouble> {
  const double = await StuntDouble.start({
    chunkSize: 4,
    fixtures: [{ match: { userMessage: "hello" }, response: { content: "Hi from afar!" } }],
  });
  onCleanup(() => double.stop());
  return double;
}

/** All providers at one address. */
export function allAt(url: string): Record<string, string> {
  return Object.fromEntries(providerNames.map((name) => [name, url]));
}
