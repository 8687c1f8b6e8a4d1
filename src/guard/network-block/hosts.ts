import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
// Where there is no address to connect to, systems take their own.
LOOPBACK.addAddress("0.0.0.0", "ipv4");
LOOPBACK.addSubnet("::", 127, "ipv6");

/** Whether a name or an address is this machine itself (RFC 6761 reserves `localhost` and what ends with it). */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return /^(.*\.)?localhost\.?$/i.test(host) || host === "";
  return LOOPBACK.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** A host that may be reached: `*` stands for any name before a domain. Without a port, all of them. */
interface Allowed {
  name: string;
  port: number | undefined;
}

/** Hosts besides loopback that may be reached. */
export class AllowedHosts {
  readonly #allowed: readonly Allowed[];

  /** @throws {RangeError} when one is no host */
  constructor(hosts: readonly string[]) {
    this.#allowed = hosts.map(readAllowed);
  }

  /** @param port undefined where only a name is asked about */
  includes(host: string, port: number | undefined): boolean {
    const name = host.toLowerCase().replace(/\.$/, "");
    return this.#allowed.some(
      (allowed) =>
        (allowed.port === undefined || port === undefined || allowed.port === port) &&
        (allowed.name.startsWith("*.") ? name.endsWith(allowed.name.slice(1)) : allowed.name === name),
    );
  }
}

function readAllowed(text: string): Allowed {
  const lower = text.toLowerCase();
  if (isIP(lower) !== 0) return { name: lower, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:/\s]+))(?::(\d+))?$/.exec(lower) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined) {
    throw new RangeError(
      `${JSON.stringify(text)} is no host: expected a name, *.domain or an address, with or without a port.`,
    );
  }
  return { name, port: port === undefined ? undefined : Number(port) };
}
