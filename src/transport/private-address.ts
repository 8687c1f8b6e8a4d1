import { BlockList, isIP } from "node:net";

const PRIVATE = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(address, prefix, "ipv4");
}
for (const [address, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.addSubnet(address, prefix, "ipv6");
}

/** IPv6 addresses that stand for an IPv4 one in their last 32 bits (RFC 6052), which a gateway would lead to. */
const TRANSLATED = new BlockList();
TRANSLATED.addSubnet("64:ff9b::", 96, "ipv6");

/**
 * Whether an IP address is of this machine, of a network of its own, or of nobody, by the registries of special
 * addresses (https://www.iana.org/assignments/iana-ipv4-special-registry). What is no address counts as one.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  if (family === 4) return PRIVATE.check(address, "ipv4");
  const plain = address.split("%", 1)[0]!;
  // Also tells IPv4 addresses that are written as IPv6 ones.
  return PRIVATE.check(plain, "ipv6") || TRANSLATED.check(plain, "ipv6");
}
