import type { FramingName } from "../wire/framing.ts";
import { isMessage, onOneLine, type RpcMember, readMessage } from "../wire/json-rpc.ts";
import { jsonEscaped, tokenOf, tokensIn } from "./bind.ts";
import { FLOW_LOCKSTEP, FLOW_PIPELINED, type Manifest } from "./transcript.ts";

/** Paths that the placeholders stood for while the conversation was recorded. */
export interface TappedPaths {
  fixture: string | undefined;
  workdir: string | undefined;
}

/** Listens to a conversation and makes a case of it. */
export class Tap {
  readonly requests: string[] = [];
  readonly frames: string[] = [];
  /** What was seen and is no message, in words. */
  readonly noise: string[] = [];
  private readonly pending = new Map<string, RpcMember>();
  /** Lines whose notifications came when all was answered; replayed earlier they could mean something else. */
  private readonly inTurn: number[] = [];
  private asked = false;
  private overlapping = false;
  private serverRequests = false;

  fromClient(text: string): void {
    const message = readMessage(text);
    if (!isMessage(message)) {
      this.noise.push(`the client wrote what is no message: ${message.reason}`);
      return;
    }
    const notifies = message.members.every((member) => member.kind === "notification");
    if (notifies && this.asked && this.pending.size === 0) this.inTurn.push(this.requests.length + 1);
    const asks = message.members.filter((member) => member.kind === "request");
    if (asks.length > 0 && this.pending.size > 0) this.overlapping = true;
    if (asks.length > 0) this.asked = true;
    for (const member of asks) this.pending.set(member.idKey as string, member);
    this.requests.push(onOneLine(text));
  }

  fromAdapter(text: string): void {
    const message = readMessage(text);
    if (!isMessage(message)) {
      this.noise.push(`the adapter wrote what is no message: ${message.reason}`);
      return;
    }
    for (const member of message.members) {
      if (member.kind === "response") this.pending.delete(member.idKey as string);
      if (member.kind === "request") this.serverRequests = true;
    }
    this.frames.push(onOneLine(text));
  }

  /** The request lines, with the placeholders put back where the paths stand. */
  boundRequests(paths: TappedPaths): string[] {
    const known = [
      [tokenOf("WORKDIR"), paths.workdir],
      [tokenOf("FIXTURE"), paths.fixture],
    ] as const;
    return this.requests.map((line) => {
      // A text that only looks like a placeholder has to survive the binding as it is.
      let bound = line.replace(/\$(?=\{[A-Za-z_])/g, "\\u0024");
      for (const [token, path] of known) if (path) bound = bound.replaceAll(jsonEscaped(path), token);
      return bound;
    });
  }

  /** The manifest. Extensions are named only where the conversation needs them. */
  manifest(
    name: string,
    description: string,
    requests: readonly string[],
    volatile: readonly string[],
    framing: FramingName,
  ): object {
    const meanings: Record<string, string> = {
      FIXTURE: "absolute path of the case's fixture folder",
      WORKDIR: "absolute path of a fresh, writable, empty folder",
    };
    const tokens = [...new Set(requests.flatMap(tokensIn))];
    const unanswered = [...this.pending.values()].map((member) => JSON.parse(member.id as string) as string | number);
    const manifest: Partial<Manifest> = {
      case: name,
      description,
      flow: this.overlapping ? FLOW_PIPELINED : FLOW_LOCKSTEP,
      placeholders: Object.fromEntries(tokens.map((token) => [token, meanings[token] ?? ""])),
      volatile,
      responses: this.frames.length,
      ...(this.serverRequests ? { serverRequests: true } : {}),
      ...(unanswered.length > 0 ? { unanswered } : {}),
      ...(this.inTurn.length > 0 ? { inTurn: this.inTurn } : {}),
      ...(framing === "lines" ? {} : { framing }),
    };
    return manifest;
  }
}
