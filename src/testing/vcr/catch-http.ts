import http, { type ClientRequest, type RequestOptions } from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { urlToHttpOptions } from "node:url";
import { getRawRequest } from "@mswjs/interceptors";
import { ClientRequestInterceptor } from "@mswjs/interceptors/ClientRequest";
import { httpError } from "./errors.ts";
import type { FindScope, VcrScope } from "./scope.ts";

type Make = (...args: unknown[]) => ClientRequest;
type Slot = { module: Record<string, Make>; name: string; protocol: string };

/** Where `node:http` and `node:https` make requests. */
const SLOTS: readonly Slot[] = [
  { module: http, name: "request", protocol: "http:" },
  { module: http, name: "get", protocol: "http:" },
  { module: http, name: "ClientRequest", protocol: "http:" },
  { module: https, name: "request", protocol: "https:" },
  { module: https, name: "get", protocol: "https:" },
] as unknown as Slot[];

/**
 * Catches what goes through `node:http` and `node:https`. Only what is caught comes near the interceptor: the rest
 * keeps its agents, and its connections with them.
 */
export function catchHttp(find: FindScope): () => void {
  const owners = new WeakMap<ClientRequest, VcrScope>();
  const originals = SLOTS.map(({ module, name }) => module[name]!);
  const interceptor = new ClientRequestInterceptor();
  interceptor.apply();
  interceptor.on("request", async ({ request, controller }) => {
    const client = getRawRequest(request) as ClientRequest | undefined;
    const scope = client && owners.get(client);
    if (client === undefined || scope === undefined) return;
    const gone = new AbortController();
    client.once("close", () => gone.abort());
    tellOnce(client);
    try {
      const { url, method, headers } = request;
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const reply = await scope.answer({ url: new URL(url), method, headers, body, signal: gone.signal });
      controller.respondWith(framed(reply));
    } catch (error) {
      controller.errorWith(httpError(error));
    }
  });
  const ours = SLOTS.map(({ module, name, protocol }, index) => {
    const original = originals[index]!;
    const caught = module[name]!;
    /** @returns undefined where the request is not to be caught */
    const catching = (args: unknown[], make: (args: unknown[]) => ClientRequest): ClientRequest | undefined => {
      const scope = find();
      const asked = scope && optionsOf(args);
      const url = asked && addressOf(asked[0], protocol);
      if (url === undefined || !scope?.catches(url)) return undefined;
      const request = make(asked!);
      owners.set(request, scope);
      return request;
    };
    return new Proxy(original, {
      apply: (target, self, args) =>
        catching(args, (asked) => Reflect.apply(caught, self, asked)) ?? Reflect.apply(target, self, args),
      construct: (target, args, newTarget) =>
        catching(args, (asked) => Reflect.construct(caught, asked) as ClientRequest) ??
        Reflect.construct(target, args, newTarget),
    });
  });
  put(ours);
  return () => {
    const now = SLOTS.map(({ module, name }) => module[name]!);
    interceptor.dispose();
    // Whoever has put something around ours meanwhile keeps it.
    put(now.map((each, index) => (each === ours[index] ? originals[index]! : each)));
  };
}

/** The socket that stands in tells of an error twice, which ends a process that listens for the first one only. */
function tellOnce({ socket }: ClientRequest): void {
  socket?.once("error", () => {
    socket.removeAllListeners("error");
    socket.on("error", () => {});
  });
}

/** With an end that can be told from a break, as every server's reply has. */
function framed(reply: Response): Response {
  const { status, headers, body } = reply;
  if (body === null || headers.has("content-length")) return reply;
  const framing = new Headers(headers);
  framing.set("transfer-encoding", "chunked");
  return new Response(body, { status, headers: framing });
}

function put(functions: readonly Make[]): void {
  for (const [index, { module, name }] of SLOTS.entries()) module[name] = functions[index]!;
  syncBuiltinESMExports();
}

/** The options and the callback that the arguments of `http.request` come to; undefined where they are wrong. */
function optionsOf([first, second, third]: unknown[]): [RequestOptions, unknown] | undefined {
  if (typeof first !== "string" && !(first instanceof URL)) return [first ?? {}, second];
  // Node says what is wrong with it.
  if (!URL.canParse(first)) return undefined;
  // The parts that say the same once more would be taken for more than what the options say.
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(new URL(first));
  const options = { protocol, hostname, path, ...(port !== undefined && { port }), ...(auth && { auth }) };
  return typeof second === "function" ? [options, second] : [{ ...options, ...(second as object) }, third];
}

/** Where a request goes; undefined where that is no host. */
function addressOf(options: RequestOptions, defaultProtocol: string): URL | undefined {
  const { protocol, hostname, host, port, defaultPort, socketPath } = options;
  if (socketPath != null) return undefined;
  const address = `${protocol ?? defaultProtocol}//${bracketed(hostname || host || "localhost")}:${port ?? defaultPort ?? ""}`;
  return URL.canParse(address) ? new URL(address) : undefined;
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
