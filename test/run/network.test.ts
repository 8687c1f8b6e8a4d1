import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { RunReport } from "../../src/cli/run/run-report.ts";
import { newFolder, startProvider, stuntdouble } from "./support.ts";

const HELLO = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] };
const ASK = `
import json, os, socket, urllib.request
def ask():
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", data=${JSON.stringify(JSON.stringify(HELLO))}.encode(), headers={"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
`;

let folder: string;
beforeEach(async () => {
  folder = newFolder();
  const provider = await startProvider();
  const args = ["record", "--scenario", "s", "--provider-openai", provider.url, "--", "python3", "-c", `${ASK}ask()`];
  expect((await stuntdouble(args, { cwd: folder }).ended()).code).toBe(0);
  await provider.stop();
});

/** Namespaces can be made by root alone, and in a container not always. A pipeline has to be able to. */
const canSandbox = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"]).status === 0;

describe.skipIf(!canSandbox && process.env["CI"] !== "true")("--sandbox", () => {
  it("lets a Python child reach the double, and nothing outside", async () => {
    const outside = createServer((_, response) => response.end("outside")).listen(0, "0.0.0.0");
    await new Promise((done) => outside.once("listening", done));
    const { port } = outside.address() as AddressInfo;
    // Addresses of this machine that are not loopback, which anybody reaches who has a route.
    const own = Object.values(networkInterfaces()).flatMap((found = []) =>
      found.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address),
    );
    const program = `${ASK}
for address in json.loads(${JSON.stringify(JSON.stringify(["127.0.0.1", ...own, "192.0.2.1"]))}):
    try:
        socket.create_connection((address, ${port}), timeout=5)
        print("reached")
    except OSError as error:
        print(error.strerror)
print(ask())
`;
    const args = ["replay", "--scenario", "s", "--sandbox", "--", "python3", "-c", program];
    const { code, output, errors } = await stuntdouble(args, { cwd: folder }).ended();
    outside.close();
    expect({ code, lines: output.trim().split("\n") }).toEqual({
      code: 0,
      lines: ["Connection refused", ...own.map(() => "Network is unreachable"), "Network is unreachable", "Hi!"],
    });
    expect(errors).toContain("1 call, 0 recorded, 1 replayed");
  });

  it("passes exit codes and signals through", async () => {
    const sandboxed = ["replay", "--allow-empty", "--sandbox", "--"];
    expect((await stuntdouble([...sandboxed, "sh", "-c", "exit 4"], { cwd: folder }).ended()).code).toBe(4);
    const waits = stuntdouble([...sandboxed, "sh", "-c", "echo ready; exec sleep 1000"], { cwd: folder });
    await waits.says("ready");
    waits.kill("SIGTERM");
    expect((await waits.ended()).code).toBe(143);
  });
});

describe("the block of the network", () => {
  const PROGRAM = `
    import { execFileSync } from "node:child_process";
    const tried = async (what) => { try { console.log(await what()); } catch (error) { console.log((error.cause ?? error).code); } };
    await tried(() => fetch("http://192.0.2.1:81/"));
    await tried(() => execFileSync("echo", ["started"], { encoding: "utf8" }).trim());
    await tried(async () => {
      const body = ${JSON.stringify(JSON.stringify(HELLO))};
      const headers = { "content-type": "application/json" };
      const reply = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", headers, body });
      return (await reply.json()).choices[0].message.content;
    });
  `;
  const ran = async (...flags: string[]): Promise<{ lines: string[]; errors: string; report: RunReport }> => {
    writeFileSync(join(folder, "program.mjs"), PROGRAM);
    // Through a shell: the block goes with the environment.
    const script = `"${process.execPath}" program.mjs`;
    const args = ["replay", "--scenario", "s", "--report", "run.json", ...flags, "--", "sh", "-c", script];
    const { output, errors } = await stuntdouble(args, { cwd: folder }).ended();
    const report = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as RunReport;
    return { lines: output.trim().split("\n"), errors, report };
  };

  it("is there in a replay, for Node's children, and tells what it refused", async () => {
    const { lines, errors, report } = await ran();
    expect(lines).toEqual(["ECONNREFUSED", "started", "Hi!"]);
    expect(errors).toContain("  refused connection 192.0.2.1:81\n");
    expect(report.refused).toEqual([
      {
        kind: "connection",
        target: "192.0.2.1:81",
        pid: expect.any(Number),
        stack: expect.stringContaining("program.mjs"),
      },
    ]);
  });

  it("lets no command be started with --offline, but for those that are allowed", async () => {
    expect((await ran("--offline")).lines).toEqual(["ECONNREFUSED", "EACCES", "Hi!"]);
    expect((await ran("--offline", "--allow-command", "echo")).lines).toEqual(["ECONNREFUSED", "started", "Hi!"]);
  });

  it("is lifted for hosts, and as a whole", async () => {
    const refused = async (...flags: string[]) => (await ran(...flags)).report.refused;
    // That nobody is there is found out by the system; within a sandbox it is at once.
    const inside = canSandbox ? ["--sandbox"] : [];
    expect(await refused("--allow-host", "192.0.2.1", ...inside)).toEqual([]);
    expect(await refused("--online", ...inside)).toEqual([]);
  });
});
