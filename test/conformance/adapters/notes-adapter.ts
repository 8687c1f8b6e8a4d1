/**
 * An adapter for tests: notes from `notes.json` in the fixture folder, searched and expanded over JSON-RPC on stdio.
 * `BREAK` names a fault for it to have; each of them is what one rule of the format exists to catch.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Note {
  id: string;
  title: string;
  revision: number;
  sections: { heading: string; text: string }[];
}

interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const PROTOCOL = 1;
const broken = process.env["BREAK"] ?? "";
const slow = new Map<string | number, Message>();
let folder = "";
let workdir = "";
let confirmed: ((result: unknown) => void) | undefined;

function send(frame: object): void {
  const line = `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`;
  if (broken !== "split-writes") {
    process.stdout.write(line);
    return;
  }
  for (const byte of Buffer.from(line)) process.stdout.write(Buffer.of(byte));
}

function notes(): Note[] {
  try {
    return JSON.parse(readFileSync(join(folder, "notes.json"), "utf8")) as Note[];
  } catch {
    throw new RpcError(-32005, "source unavailable", { retryable: true });
  }
}

function initialize(params: Record<string, unknown>): unknown {
  if (params["protocol"] !== PROTOCOL)
    throw new RpcError(-32001, "protocol version not supported", { supported: [PROTOCOL] });
  folder = String(params["fixture"]);
  workdir = String(params["workdir"]);
  const result = {
    protocol: PROTOCOL,
    adapter: { name: "notes", version: "1.4.0" },
    capabilities: { expand: true, partial: true, levels: 3 },
  };
  return broken === "null-for-absent" ? { ...result, instructions: null } : result;
}

function search(message: Message): unknown {
  const params = message.params ?? {};
  const words = String(params["query"]).toLowerCase().split(" ");
  const ranked = notes()
    .map((note) => {
      const text = JSON.stringify(note).toLowerCase();
      const hits = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
      return { note, score: hits / 8 };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.note.id.localeCompare(b.note.id));
  const items = ranked.map(({ note, score }, rank) => ({
    locator: `note:${note.id}@${note.revision}`,
    title: note.title,
    rank: rank + 1,
    score: broken === "deep-number" && rank === 1 ? score + 0.125 : score,
    ...(broken === "missing-field" && rank === 0 ? {} : { sections: note.sections.length }),
    ...(broken === "extra-field" && rank === 0 ? { debug: true } : {}),
  }));
  const result = { items, total: items.length, checked_at: new Date().toISOString() };
  if (params["partial"] !== true) return result;
  const partials = broken === "one-too-few" ? items.slice(0, -1) : items;
  const sendPartials = () => {
    for (const item of partials)
      send({ method: "source/partial", params: { request: message.id, locator: item.locator } });
  };
  if (broken === "out-of-order") {
    setImmediate(sendPartials);
    return result;
  }
  sendPartials();
  return result;
}

function expand(params: Record<string, unknown>): unknown {
  if (broken === "crash") process.exit(3);
  const [, id, revision] = /^note:(.*)@(\d+)$/.exec(String(params["locator"])) ?? [];
  const note = notes().find((candidate) => candidate.id === id);
  if (!note || note.revision !== Number(revision))
    throw new RpcError(-32004, "locator expired", { locator: params["locator"] });
  const limit = Number(params["limit"] ?? 10_000);
  const full = note.sections.map(({ heading, text }) => `${heading}\n${text}`).join("\n\n");
  const texts: Record<string, string> = { summary: note.title, section: note.sections[0]?.text ?? "", full };
  const text = texts[String(params["level"])];
  if (text === undefined) throw new RpcError(-32602, "unknown level");
  return {
    locator: params["locator"],
    level: params["level"],
    text: text.slice(0, limit),
    truncated: text.length > limit,
  };
}

function refresh(): unknown {
  const count = notes().length;
  writeFileSync(join(workdir, "index.json"), JSON.stringify({ count }));
  return { indexed: count, index: join(workdir, "index.json") };
}

/** Asks the client before it answers. */
function forget(message: Message): void {
  confirmed = (result) => send({ id: message.id, result: { forgotten: (result as { agreed: boolean }).agreed } });
  send({
    id: `confirm-${process.env["CONFIRM"] ?? "1"}`,
    method: "client/confirm",
    params: { text: "Forget this note?" },
  });
}

function answer(message: Message): unknown {
  switch (message.method) {
    case "source/initialize":
      return initialize(message.params ?? {});
    case "source/search":
      return search(message);
    case "source/expand":
      return expand(message.params ?? {});
    case "source/refresh":
      return refresh();
    case "source/shutdown":
      if (broken === "extra-after-shutdown")
        setImmediate(() => send({ method: "source/log", params: { text: "bye" } }));
      if (broken === "orphan") spawn("sleep", ["60"], { stdio: "ignore" }).unref();
      return null;
    default:
      throw new RpcError(-32601, "method not found");
  }
}

function cancel(id: string | number): void {
  const message = slow.get(id);
  if (!message) return;
  slow.delete(id);
  send({ id, error: { code: -32800, message: "cancelled" } });
  if (broken === "late-answer") send({ id, result: { items: [], total: 0 } });
}

function receive(message: Message): void {
  if (message.method === undefined) {
    confirmed?.(message.result);
    return;
  }
  if (message.method === "source/cancel") cancel(message.params?.["request"] as string | number);
  if (message.id === undefined) return;
  if (message.params?.["slow"] === true) {
    slow.set(message.id, message);
    return;
  }
  if (message.method === "source/forget") {
    forget(message);
    return;
  }
  if (broken === "hang" && message.method === "source/expand") return;
  if (broken === "garbage" && message.method === "source/search") process.stdout.write("debug: searching\n");
  if (broken === "loud-stderr" && message.method === "source/search")
    for (let i = 0; i < 50; i++) process.stderr.write("x".repeat(1024 * 1024));
  const id = broken === "id-type" && message.method === "source/search" ? String(message.id) : message.id;
  // In `delayMs` milliseconds, so that a request that came later can be answered sooner.
  const respond = () => {
    try {
      send({ id, result: answer(message) });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      send({
        id,
        error: { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) },
      });
    }
  };
  if (typeof message.params?.["delayMs"] === "number") setTimeout(respond, message.params["delayMs"]);
  else respond();
}

process.stderr.write("notes adapter: started\n");
createInterface({ input: process.stdin }).on("line", (line) => receive(JSON.parse(line) as Message));
