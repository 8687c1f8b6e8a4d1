import type { RawRequest } from "../dialects/raw-request.ts";
import type { Clock } from "../state/clock.ts";
import type { NodeRequest } from "./body.ts";
import { NO_BODY, type Otherwise, rawOf } from "./listener.ts";
import type { Outcome } from "./outcome.ts";
import { type NodeResponse, respond } from "./respond.ts";

/**
 * Answers a request, or leaves it.
 * @param path of the request, without the prefix and the query; begins with a slash
 * @returns whether it has answered, or will
 */
export type MountHandler = (request: NodeRequest, response: NodeResponse, path: string) => boolean | Promise<boolean>;

interface Mount {
  prefix: string;
  handler: MountHandler;
}

/** Handlers of parts of the path that the double itself does not know. */
export class Mounts {
  readonly #mounts: Mount[] = [];
  readonly #refusal: (raw: RawRequest) => Outcome | undefined;
  readonly #clock: Clock;

  /** @param refusal the answer to a caller that is not let in */
  constructor(refusal: (raw: RawRequest) => Outcome | undefined, clock: Clock) {
    this.#refusal = refusal;
    this.#clock = clock;
  }

  /** @throws {Error} when the prefix is no path */
  add(prefix: string, handler: MountHandler): void {
    if (!prefix.startsWith("/")) throw new Error(`A mount needs a path that begins with a slash, but got "${prefix}".`);
    this.#mounts.push({ prefix: prefix.replace(/\/+$/, ""), handler });
  }

  /**
   * True when some handler has the request's prefix. `otherwise` is called if none of those answers it.
   */
  readonly intercept = (request: NodeRequest, response: NodeResponse, otherwise: Otherwise): boolean => {
    if (this.#mounts.length === 0 || request.method === "OPTIONS") return false;
    const path = (request.url ?? "/").split("?", 1)[0]!;
    const mounts = this.#mounts.filter(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (mounts.length === 0) return false;
    const refused = this.#refusal(rawOf(request, NO_BODY));
    if (refused !== undefined) respond(refused, response, this.#clock, request.method === "HEAD");
    else void ask(mounts, request, response, path, otherwise);
    return true;
  };
}

async function ask(
  mounts: readonly Mount[],
  request: NodeRequest,
  response: NodeResponse,
  path: string,
  otherwise: Otherwise,
): Promise<void> {
  for (const { prefix, handler } of mounts) {
    try {
      if (await handler(request, response, path.slice(prefix.length) || "/")) return;
    } catch (error) {
      failed(response, prefix, error);
      return;
    }
  }
  otherwise(request, response);
}

/** A handler's fault must not take the process down, nor leave its caller waiting. */
function failed(response: NodeResponse, prefix: string, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const message = `The handler mounted at ${prefix} failed: ${error instanceof Error ? error.message : String(error)}`;
  response.writeHead(500, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message, type: "server_error", code: "mount_failed" } }));
}
