import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { StuntDouble } from "../../src/index.ts";
import { makeCertificate } from "../../src/server/certificate.ts";

const run = promisify(execFile);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function started(): Promise<{ double: StuntDouble; ca: string }> {
  const ca = mkdtempSync(join(tmpdir(), "stuntdouble-ca-"));
  const double = await StuntDouble.start({ proxy: { ca } });
  cleanups.push(
    () => double.stop(),
    () => rmSync(ca, { recursive: true, force: true }),
  );
  return { double, ca };
}

const curl = async (...args: string[]): Promise<string> =>
  (await run("curl", ["-sS", "--max-time", "20", ...args])).stdout;
const ask = [
  "-H",
  "content-type: application/json",
  "-d",
  JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "hello" }] }),
];

it("opens connections to a provider's host for who trusts its authority, also for clients that would speak HTTP/2", async () => {
  const { double, ca } = await started();
  double.onMessage("hello", { content: "from the double" });
  for (const version of ["--http1.1", "--http2"]) {
    const text = await curl(
      version,
      "-x",
      double.url,
      "--cacert",
      join(ca, "ca.pem"),
      ...ask,
      "https://api.openai.com/v1/chat/completions",
    );
    expect(JSON.parse(text).choices[0].message.content).toBe("from the double");
  }
  await expect(curl("-x", double.url, ...ask, "https://api.openai.com/v1/chat/completions")).rejects.toThrow(
    /certificate/,
  );
  expect(statSync(join(ca, "ca-key.pem")).mode & 0o777).toBe(0o600);
});

it("passes other hosts through with their own certificates, and plain HTTP too", async () => {
  const { double } = await started();
  const secure = createTlsServer(await makeCertificate(), (_, response) => response.end("own TLS"));
  const plain = createServer((request, response) => response.end(`plain ${request.url}`));
  for (const server of [secure, plain]) {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  const port = (server: typeof plain): number => (server.address() as AddressInfo).port;
  expect(await curl("-k", "-x", double.url, "--noproxy", "", `https://localhost:${port(secure)}/`)).toBe("own TLS");
  expect(await curl("-x", double.url, "--noproxy", "", `http://localhost:${port(plain)}/a?b=1`)).toBe("plain /a?b=1");
  expect(double.calls()).toEqual([]);
});

it("keeps its authority from run to run", async () => {
  const { double, ca } = await started();
  double.onMessage("hello", { content: "one" });
  await double.stop();
  const again = await StuntDouble.start({ proxy: { ca } });
  cleanups.push(() => again.stop());
  again.onMessage("hello", { content: "two" });
  const text = await curl(
    "-x",
    again.url,
    "--cacert",
    join(ca, "ca.pem"),
    ...ask,
    "https://api.openai.com/v1/chat/completions",
  );
  expect(JSON.parse(text).choices[0].message.content).toBe("two");
});
