import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CreateMessageRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { command, framings, load, replay } from "../../src/conformance/index.ts";
import { CLI, runCli, temporaryFolder } from "./support.ts";

const suite = temporaryFolder();
const fixture = temporaryFolder();
writeFileSync(join(fixture, "a.txt"), "two\nlines");
// What the command replaces in a target's arguments.
const tokens = { fixture: "$" + "{FIXTURE}", workdir: "$" + "{WORKDIR}" };
const limits = { responseTimeoutMs: 25_000, drainTimeoutMs: 5_000, stopGraceMs: 5_000 };
const bin = (name: string, file: string) => resolve("node_modules", name, file);

/** Connects the official client to a command, uses it, and gives what it saw. */
async function withClient(args: string[], use: (client: Client) => Promise<unknown>): Promise<unknown> {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "sampled by the test" },
  }));
  const transport = new StdioClientTransport({ command: process.execPath, args: [CLI, ...args], stderr: "ignore" });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const text = (result: unknown) => (result as { content: { text: string }[] }).content.map((part) => part.text);

const servers = [
  {
    name: "everything",
    run: [process.execPath, bin("@modelcontextprotocol/server-everything", "dist/index.js")],
    async use(client: Client) {
      const { tools } = await client.listTools();
      const echo = await client.callTool({ name: "echo", arguments: { message: "Grüße \u2028 9007199254740993" } });
      const sampled = await client.callTool({
        name: "trigger-sampling-request",
        arguments: { prompt: "say something", maxTokens: 5 },
      });
      return {
        tools: tools.map((tool) => tool.name),
        echo: text(echo),
        sampled: text(sampled).join().includes("sampled by the test"),
      };
    },
    check: (seen: unknown) =>
      expect(seen).toMatchObject({ echo: ["Echo: Grüße \u2028 9007199254740993"], sampled: true }),
    serverRequests: true,
  },
  {
    name: "filesystem",
    run: [process.execPath, bin("@modelcontextprotocol/server-filesystem", "dist/index.js"), tokens.fixture],
    async use(client: Client) {
      const read = await client.callTool({ name: "read_text_file", arguments: { path: join(fixture, "a.txt") } });
      const listed = await client.callTool({ name: "list_directory", arguments: { path: fixture } });
      return { read: text(read), listed: text(listed) };
    },
    check: (seen: unknown) => expect(seen).toEqual({ read: ["two\nlines"], listed: ["[FILE] a.txt"] }),
    serverRequests: false,
  },
  {
    name: "memory",
    run: [
      "env",
      `MEMORY_FILE_PATH=${tokens.workdir}/memory.json`,
      process.execPath,
      bin("@modelcontextprotocol/server-memory", "dist/index.js"),
    ],
    async use(client: Client) {
      const entities = [{ name: "Ada", entityType: "person", observations: ["wrote notes"] }];
      await client.callTool({ name: "create_entities", arguments: { entities } });
      const graph = await client.callTool({ name: "read_graph", arguments: {} });
      return text(graph).map((part) => JSON.parse(part));
    },
    check: (seen: unknown) => expect(seen).toMatchObject([{ entities: [{ name: "Ada" }] }]),
    serverRequests: false,
  },
];

describe.each(servers)("the MCP server $name", ({ name, run, use, check, serverRequests }) => {
  it("is tapped, passes its own transcript, and its stand-in satisfies the official client", async () => {
    const live = await withClient(
      ["record", "--tap", suite, "--case", name, "--description", "a session", "--fixture", fixture, "--", ...run],
      use,
    );
    check(live);
    const transcript = await load(join(suite, name));
    expect(transcript.manifest.serverRequests).toBe(serverRequests);
    expect([...transcript.requests, ...transcript.recorded].filter((line) => line.includes(fixture))).toEqual([]);

    const [program = "", ...args] = run;
    const result = await replay(transcript, command(program, args), limits);
    expect(result.differences).toEqual([]);

    expect(await withClient(["play", join(suite, name)], use)).toEqual(live);
  });
});

/** A language client of a few lines: it waits for each answer and answers what the server asks with null. */
class LanguageClient {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (answer: unknown) => void>();
  private lastId = 0;

  constructor(args: string[]) {
    this.child = spawn(process.execPath, [CLI, ...args], { stdio: ["pipe", "pipe", "ignore"] });
    const decoder = framings["content-length"].decoder();
    this.child.stdout?.on("data", (chunk: Buffer) => {
      for (const frame of decoder.push(chunk)) this.receive(JSON.parse(frame as string));
    });
  }

  request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.lastId;
    this.send({ id, method, params });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params });
  }

  async exit(): Promise<number | null> {
    const closed = new Promise<number | null>((done) => this.child.on("close", done));
    this.child.stdin?.end();
    return closed;
  }

  private receive(message: { id?: number; method?: string; result?: unknown }): void {
    if (message.method !== undefined && message.id !== undefined) this.send({ id: message.id, result: null });
    else if (message.id !== undefined) this.waiting.get(message.id)?.(message.result);
  }

  private send(message: object): void {
    this.child.stdin?.write(framings["content-length"].encode(JSON.stringify({ jsonrpc: "2.0", ...message })));
  }
}

const languages = [
  {
    name: "json-language-server",
    run: [process.execPath, bin("vscode-json-languageserver", "bin/vscode-json-languageserver"), "--stdio"],
    document: { uri: "file:///ä.json", languageId: "json", version: 1, text: '{ "grüße": { "inner": 1 } }' },
    names: ["grüße"],
  },
  {
    name: "typescript-language-server",
    run: [process.execPath, bin("typescript-language-server", "lib/cli.mjs"), "--stdio"],
    document: {
      uri: "file:///nowhere/a.ts",
      languageId: "typescript",
      version: 1,
      text: '/// <reference no-default-lib="true"/>\nexport function grüßen(): void {}\n',
    },
    names: ["grüßen"],
  },
];

describe.each(languages)("the language server $name", ({ name, run, document, names }) => {
  const session = async (args: string[]) => {
    const client = new LanguageClient(args);
    await client.request("initialize", {
      processId: null,
      rootUri: null,
      capabilities: { textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } } },
      initializationOptions: {
        // One server process, and no download of types.
        disableAutomaticTypingAcquisition: true,
        tsserver: { path: resolve("node_modules/typescript/lib/tsserver.js"), useSyntaxServer: "never" },
      },
    });
    client.notify("initialized", {});
    client.notify("textDocument/didOpen", { textDocument: document });
    const symbols = (await client.request("textDocument/documentSymbol", { textDocument: { uri: document.uri } })) as {
      name: string;
    }[];
    const shutdown = await client.request("shutdown", undefined);
    client.notify("exit", undefined);
    const code = await client.exit();
    return { names: symbols.map((symbol) => symbol.name), shutdown, code };
  };

  it("is tapped, passes its own transcript, and its stand-in satisfies the same client", async () => {
    const live = await session(["record", "--tap", suite, "--case", name, "--description", "a session", "--", ...run]);
    expect(live).toEqual({ names, shutdown: null, code: 0 });
    const transcript = await load(join(suite, name));
    expect(transcript.manifest.framing).toBe("content-length");
    const [program = "", ...args] = run;
    const result = await replay(transcript, command(program, args), limits);
    expect(result.differences).toEqual([]);
    expect(await session(["play", join(suite, name)])).toEqual(live);
    // The TypeScript server takes its time to start, twice, on a machine that does other things as well.
  }, 120_000);
});

describe("the command", () => {
  it("verifies what was tapped from a published server", async () => {
    const { name, run } = languages[0] as (typeof languages)[0];
    const ran = await runCli(["verify", suite, "--filter", name, "--reporter", "json", "--", ...run]);
    expect(ran.stderr).toBe("");
    expect({ code: ran.code, summary: JSON.parse(ran.stdout) }).toMatchObject({
      code: 0,
      summary: { passed: 1, failed: 0 },
    });
  });
});
