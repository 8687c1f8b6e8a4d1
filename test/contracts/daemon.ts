import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { createServer as createHttpServer, get } from "node:http";
import { createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";

/** Ways in which the daemon can be wrong, each against one rule. */
export type Fault =
  | "misses a member"
  | "has a member too many"
  | "retypes a member"
  | "retypes an element's member"
  | "misspells a state"
  | "null url"
  | "bad uuid"
  | "bad date"
  | "short token"
  | "gets another task"
  | "other error code"
  | "fails"
  | "succeeds"
  | "no version"
  | "no event"
  | "event twice"
  | "event of another task"
  | "answers the offer"
  | "hangs after the offer"
  | "answers the offer late"
  | "writes noise"
  | "answers twice"
  | "closes instead of answering";

export interface DaemonOptions {
  fault?: Fault;
  /** Where downloads go. */
  root?: string;
  /** Offers are taken and never answered. */
  wedged?: boolean;
}

interface Task {
  id: string;
  url: string;
  state: "waiting" | "paused" | "running";
  category: string | null;
  size: number | null;
  addedAt: string;
}

interface Request {
  id?: unknown;
  method: string;
  params?: Record<string, unknown>;
}

interface Client {
  transport: "unix" | "tcp" | "ws";
  send(text: string): void;
  close(): void;
}

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const METHODS: Readonly<Record<string, readonly string[]>> = {
  "download.add": ["url"],
  "download.list": [],
  "download.get": ["id"],
  "download.pause": ["id"],
  "download.resume": ["id"],
  "download.remove": ["id"],
  "settings.get": [],
  "settings.set": ["token", "maxActive"],
  "pairing.begin": [],
  "pairing.confirm": ["code"],
  "capture.offer": ["url"],
};

/**
 * A download manager as the tests' live service. It is written without the product: with node's own sockets and ws,
 * so that what passes against it does not pass because both sides share a mistake.
 */
export class DownloadDaemon {
  readonly #options: DaemonOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #tokens = new Set<string>();
  readonly #clients = new Set<Client>();
  readonly #closing: (() => void)[] = [];
  #maxActive = 3;
  #attempts = 0;
  #pairingCode = "000000";

  constructor(options: DaemonOptions = {}) {
    this.#options = options;
  }

  async listenUnix(path: string): Promise<string> {
    const server = createServer((socket) => this.#serveSocket("unix", socket));
    server.listen(path);
    await once(server, "listening");
    this.#closing.push(() => server.close());
    return `unix:${path}`;
  }

  async listenTcp(): Promise<string> {
    const server = createServer((socket) => this.#serveSocket("tcp", socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#closing.push(() => server.close());
    return `tcp://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  async listenWebSocket(): Promise<string> {
    const http = createHttpServer();
    const server = new WebSocketServer({ server: http });
    server.on("connection", (socket) => {
      const client: Client = { transport: "ws", send: (text) => socket.send(text), close: () => socket.close() };
      this.#clients.add(client);
      socket.on("message", (data) => void this.receive(client, String(data)));
      socket.on("close", () => this.#clients.delete(client));
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    this.#closing.push(
      () => server.close(),
      () => http.close(),
    );
    return `ws://127.0.0.1:${(http.address() as { port: number }).port}`;
  }

  close(): void {
    for (const client of this.#clients) client.close();
    for (const close of this.#closing) close();
  }

  /** A client in this process. */
  connect(send: (text: string) => void, close: () => void): Client {
    const client: Client = {
      transport: "unix",
      send,
      close: () => {
        this.#clients.delete(client);
        close();
      },
    };
    this.#clients.add(client);
    return client;
  }

  #serveSocket(transport: "unix" | "tcp", socket: Socket): void {
    const client: Client = { transport, send: (text) => void socket.write(`${text}\n`), close: () => socket.destroy() };
    this.#clients.add(client);
    // A client may go while an answer or an event is on its way to it; the lines have its errors as their own.
    const lines = createInterface({ input: socket });
    lines.on("line", (line) => void this.receive(client, line));
    for (const part of [lines, socket]) part.on("error", () => {});
    socket.on("close", () => this.#clients.delete(client));
  }

  async receive(client: Client, text: string): Promise<void> {
    const request = JSON.parse(text) as Request;
    const { fault } = this.#options;
    const version = fault === "no version" ? {} : { jsonrpc: "2.0" };
    const { id } = request;
    let body: { result: unknown } | { error: { code: number; message: string } };
    const notices: object[] = [];
    try {
      const result = await this.#answer(client, request, notices);
      if (result === undefined) return;
      body =
        fault === "fails" && request.method === "download.get"
          ? { error: { code: -32000, message: "no" } }
          : { result };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      body = { error: { code: fault === "other error code" ? error.code - 1 : error.code, message: error.message } };
      if (fault === "succeeds" && request.method === "download.get") body = { result: null };
    }
    if (fault === "closes instead of answering" && request.method === "settings.get") return client.close();
    if (fault === "writes noise" && request.method === "settings.get") client.send("starting up");
    const reply = JSON.stringify({ ...version, id, ...body });
    client.send(reply);
    if (fault === "answers twice" && request.method === "settings.get") client.send(reply);
    for (const notice of notices)
      for (const one of this.#clients) one.send(JSON.stringify({ jsonrpc: "2.0", ...notice }));
  }

  async #answer(client: Client, { id, method, params = {} }: Request, notices: object[]): Promise<unknown> {
    const { fault } = this.#options;
    const needed = METHODS[method];
    if (!needed) throw new Refused(-32601, `there is no ${method}`);
    for (const name of needed) if (params[name] === undefined) throw new Refused(-32602, `${name} is missing`);
    switch (method) {
      case "download.add": {
        const task = await this.#add(params);
        this.#notify(notices, "download.added", {
          task: fault === "event of another task" ? { ...task, id: randomUUID() } : task,
        });
        return fault === "bad uuid"
          ? { ...task, id: "17" }
          : fault === "bad date"
            ? { ...task, addedAt: "yesterday" }
            : task;
      }
      case "download.list":
        return {
          tasks: [...this.#tasks.values()].map((task) =>
            fault === "retypes an element's member" ? { ...task, state: 1 } : task,
          ),
        };
      case "download.get":
        return this.#broken(this.#find(params));
      case "download.pause":
      case "download.resume": {
        const task = this.#find(params);
        task.state = method === "download.pause" ? "paused" : "waiting";
        notices.push({ method: "download.changed", params: { id: task.id, state: task.state } });
        return { id: task.id, state: fault === "misspells a state" ? "halted" : task.state };
      }
      case "download.remove": {
        const task = this.#find(params);
        this.#tasks.delete(task.id);
        notices.push({ method: "download.removed", params: { id: task.id } });
        return { id: task.id, removed: true };
      }
      case "settings.get":
        return { maxActive: this.#maxActive, hosts: [] };
      case "settings.set":
        if (!this.#tokens.has(String(params["token"]))) throw new Refused(-32001, "this client is not paired");
        if (!Number.isInteger(params["maxActive"]) || Number(params["maxActive"]) < 1)
          throw new Refused(-32602, "maxActive is out of range");
        this.#maxActive = Number(params["maxActive"]);
        return { maxActive: this.#maxActive, hosts: [] };
      case "pairing.begin":
        if (client.transport !== "unix") throw new Refused(-32002, "pairing begins on the local socket");
        if (this.#attempts >= 3) throw new Refused(-32007, "locked out");
        this.#pairingCode = String(100_000 + Math.floor(Math.random() * 900_000));
        return { code: this.#pairingCode };
      case "pairing.confirm": {
        if (this.#attempts >= 3) throw new Refused(-32007, "locked out");
        if (params["code"] !== this.#pairingCode) {
          this.#attempts++;
          throw new Refused(-32001, "that is not the code");
        }
        const token = fault === "short token" ? "abc" : randomBytes(16).toString("hex");
        this.#tokens.add(token);
        return { token };
      }
      default:
        return this.#offer(client, id);
    }
  }

  #offer(client: Client, id: unknown): unknown {
    const { fault, wedged } = this.#options;
    if (fault === "answers the offer") return { taken: true };
    if (fault === "answers the offer late") {
      // The next request is what tells that the limit has passed; a clock of ours would only guess.
      const receive = this.receive.bind(this);
      this.receive = async (from, text) => {
        this.receive = receive;
        await receive(from, text);
        client.send(JSON.stringify({ jsonrpc: "2.0", id, result: { taken: true } }));
      };
      return undefined;
    }
    if (fault === "hangs after the offer") this.receive = async () => {};
    return wedged || fault === "hangs after the offer" ? undefined : { taken: true };
  }

  /** A real write into the folder, and a real request to the origin, where the download starts at once. */
  async #add(params: Record<string, unknown>): Promise<Task> {
    const saveDir = params["saveDir"];
    const root = this.#options.root ?? "/nowhere";
    if (typeof saveDir === "string" && !resolve(root, saveDir).startsWith(root))
      throw new Refused(-32005, "outside of the downloads folder");
    const task: Task = {
      id: randomUUID(),
      url: String(params["url"]),
      state: "waiting",
      category: typeof params["category"] === "string" ? params["category"] : null,
      size: null,
      addedAt: new Date().toISOString(),
    };
    if (params["startMode"] === "now") await this.#start(task, root, Number(params["expectedBytes"] ?? 0));
    this.#tasks.set(task.id, task);
    return task;
  }

  async #start(task: Task, root: string, bytes: number): Promise<void> {
    if (bytes > 0) {
      const file = join(root, `${task.id}.part`);
      const handle = openSync(file, "w");
      try {
        for (let left = bytes; left > 0; left -= 65_536) writeSync(handle, Buffer.alloc(Math.min(left, 65_536)));
        fsyncSync(handle);
      } catch (error) {
        rmSync(file);
        if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw new Refused(-32006, "the disk is full");
        throw error;
      } finally {
        closeSync(handle);
      }
    } else {
      const [response] = await once(get(task.url), "response");
      response.resume();
      if (response.statusCode === 403) throw new Refused(-32008, "the origin refuses it");
    }
    task.state = "running";
  }

  #find(params: Record<string, unknown>): Task {
    const task = this.#tasks.get(String(params["id"]));
    if (!task) throw new Refused(-32004, "there is no such task");
    return task;
  }

  #broken(task: Task): unknown {
    switch (this.#options.fault) {
      case "misses a member": {
        const { category: _, ...rest } = task;
        return rest;
      }
      case "has a member too many":
        return { ...task, debug: true };
      case "retypes a member":
        return { ...task, url: 7 };
      case "null url":
        return { ...task, url: null };
      case "gets another task":
        return { ...task, id: randomUUID() };
      default:
        return task;
    }
  }

  #notify(notices: object[], method: string, params: object): void {
    const { fault } = this.#options;
    if (fault === "no event") return;
    notices.push({ method, params });
    if (fault === "event twice") notices.push({ method, params });
  }
}
