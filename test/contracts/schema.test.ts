import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { coverageOf } from "../../src/conformance/contracts/coverage.ts";
import { generate } from "../../src/conformance/contracts/generate.ts";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { clientOf, mockOf, pair, suiteOf } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "stuntdouble-contracts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ethereum = await loadContracts("test/contracts/ethereum");
const document = (name: string) => JSON.parse(readFileSync(`test/contracts/${name}/openrpc.json`, "utf8"));

test("a published document alone gives a mock: its examples by their params, and samples where it has none", () => {
  const client = clientOf(mockOf(ethereum));
  const balance = (address: string) => client.ask("eth_getBalance", [address, "latest"]);
  expect(client.ask("eth_chainId", []).result).toBe("0x1");
  expect(balance("0x00000000000000000000000000000000000000aa").result).toBe("0x1cfe56f3795885980000");
  expect(balance("0x00000000000000000000000000000000000000bb").result).toBe("0x0");
  expect(balance("nobody").error?.code).toBe(-32602);
  expect(client.ask("eth_nothing", []).error?.code).toBe(-32601);
  const block = client.ask("eth_getBlockByNumber", ["latest", false]).result;
  expect(ethereum.schema?.faults("eth_getBlockByNumber", "result", block)).toEqual([]);
  expect(block?.["hash"]).toMatch(/^0x[0-9a-f]{64}$/);
});

test("coverage names every method, event and error that no contract holds", async () => {
  expect(coverageOf(ethereum)).toEqual({
    asked: 4,
    missing: [
      "eth_chainId: no contract in which it succeeds",
      "eth_getBalance: no contract in which it succeeds",
      "eth_getBalance: no contract in which it fails with -32000 (header not found)",
      "eth_getBlockByNumber: no contract in which it succeeds",
    ],
    unknown: [],
  });
  const copy = join(folder, "gaps");
  cpSync("test/contracts/download-manager", copy, { recursive: true });
  for (const file of ["download.pause.json", "errors/pairing.begin.transport.json", "events/download.removed.json"])
    rmSync(join(copy, file));
  const settings = JSON.parse(readFileSync(join(copy, "contract.json"), "utf8"));
  delete settings.events["download.removed"];
  writeFileSync(join(copy, "contract.json"), JSON.stringify(settings));
  expect(coverageOf(await loadContracts(copy))?.missing).toEqual([
    "download.pause: no contract in which it succeeds",
    "pairing.begin: no contract in which it fails with -32002 (pairing begins on the local socket)",
    "download.removed: no contract of the event",
  ]);
});

test("generated validators run where no package is installed, and the types compile for both sides", async () => {
  const files = await generate(document("download-manager"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  // Code of other packages goes with its license.
  for (const name of ["ajv", "ajv-formats"]) {
    const license = readFileSync(`node_modules/${name}/LICENSE`, "utf8");
    for (const line of license.split("\n")) expect(files["validators.js"]).toContain(line.trim());
    expect(files["validators.js"]).toContain(`Holds code of ${name}:`);
  }
  const script = `
    import { notificationFaults, paramsFaults, resultFaults } from "./validators.js";
    console.log(JSON.stringify([
      paramsFaults("download.get", { id: "00000000-0000-4000-8000-000000000000" }),
      paramsFaults("download.get", { id: "7" }),
      paramsFaults("download.add", {}),
      resultFaults("download.pause", { id: "00000000-0000-4000-8000-000000000000", state: "halted" }),
      notificationFaults("download.removed", { id: 1, more: 2 }).map(({ pointer }) => pointer),
      resultFaults("unknown", 1),
      resultFaults("download.add", { addedAt: "2026-02-30T00:00:00Z" }).filter(({ pointer }) => pointer === "/addedAt"),
    ]));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toEqual([
    [],
    [{ pointer: "/id", message: 'must match format "uuid"' }],
    [{ pointer: "/url", message: "is missing" }],
    [{ pointer: "/state", message: "must be equal to one of the allowed values" }],
    ["/more", "/id"],
    [],
    [{ pointer: "/addedAt", message: 'must match format "date-time"' }],
  ]);
  const use = `
    import type { Client, Methods, Server } from "./types.ts";
    export async function run(client: Client): Promise<string> {
      const task = await client.call("download.add", { url: "https://example.org/" });
      client.on("download.changed", ({ state }) => state satisfies "waiting" | "running" | "paused");
      // @ts-expect-error a state that there is not
      const wrong: Methods["download.pause"]["result"]["state"] = "halted";
      // @ts-expect-error the URL is missing
      await client.call("download.add", { category: "x" });
      return task.category ?? wrong;
    }
    export const server: Pick<Server, "download.get"> = {
      "download.get": ({ id }) => ({ id, url: "", state: "paused", category: null, size: 1, addedAt: "" }),
    };`;
  writeFileSync(join(folder, "use.ts"), use);
  const program = ts.createProgram([join(folder, "use.ts")], {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: [],
    lib: ["lib.es2022.d.ts"],
    skipLibCheck: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
  });
  expect(
    ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
  ).toEqual([]);
});

test("a published document gives validators of params by position and of results", async () => {
  const files = await generate(document("ethereum"));
  writeFileSync(join(folder, "ethereum.js"), files["validators.js"]);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const script = `
    import { paramsFaults, resultFaults } from "./ethereum.js";
    const pointers = (faults) => faults.map(({ pointer }) => pointer);
    console.log(JSON.stringify([
      pointers(paramsFaults("eth_getBalance", ["0x00000000000000000000000000000000000000aa", "latest"])),
      pointers(paramsFaults("eth_getBalance", ["nobody", "latest"])),
      pointers(resultFaults("eth_chainId", "0x1")),
      pointers(resultFaults("eth_chainId", "1")),
    ]));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toEqual([[], ["/0"], [], [""]]);
  expect(files["types.ts"]).toContain('"eth_getBalance": { params: ');
});

test.each([
  [7, "the schema is no JSON object"],
  [{}, 'the schema has no "methods": expected an OpenRPC document, or JSON Schemas by method'],
  [{ methods: [{ name: "a", params: [{ $ref: "#/nowhere" }] }] }, "nothing stands at /nowhere"],
  [
    { methods: [{ name: "a", params: [{ $ref: "https://example.org/x" }] }] },
    "/methods/0/params/0 refers to https://example.org/x; only places in the document can be used",
  ],
])("what is no schema is refused with a reason", async (schema, reason) => {
  await expect(generate(schema)).rejects.toThrow(reason);
});

test("patterns of schemas and placeholders take linear time, and each is held to its own", async () => {
  const suite = await suiteOf({
    contract: {
      schema: {
        methods: {
          a: {
            params: {
              properties: {
                slow: { type: "string", pattern: "^(a+)+$" },
                word: { type: "string", pattern: "^[a-z]+$" },
              },
              patternProperties: { "^(x+)+y$": { type: "number" } },
            },
            result: {},
          },
        },
      },
      placeholders: { $slow: { pattern: "^(b+)+$" }, $digits: { pattern: "^\\d{3}$" } },
    },
    a: pair("a", {}, { result: null }),
  });
  // With backtracking each of these would take longer than anybody waits.
  const long = (letter: string) => `${letter.repeat(100_000)}!`;
  const faults = (params: object) => suite.schema?.faults("a", "params", params).map(({ pointer }) => pointer);
  expect(faults({ slow: long("a"), word: "A", [long("x")]: "" })).toEqual(["/slow", "/word"]);
  expect(faults({ slow: "aaa", word: "a", xxy: "" })).toEqual(["/xxy"]);
  expect(suite.placeholders.accepts("$slow", long("b"))).toBe(false);
  expect(["123", "12a"].map((text) => suite.placeholders.accepts("$digits", text))).toEqual([true, false]);
});

test("a pattern that no linear engine takes is refused with its reason", async () => {
  const schema = { methods: { a: { params: { properties: { b: { type: "string", pattern: "^(?!no)" } } } } } };
  await expect(suiteOf({ contract: { schema } })).rejects.toThrow(
    /its pattern "\^\(\?!no\)" cannot be used.*look-around/s,
  );
});
