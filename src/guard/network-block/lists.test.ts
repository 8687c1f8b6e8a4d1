import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allowsCommand } from "./commands.ts";
import { AllowedHosts, isLoopback } from "./hosts.ts";

const octet = fc.integer({ min: 0, max: 255 });

describe("loopback", () => {
  test("is 127.0.0.0/8, in both of its forms, and nothing else that has an address", () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, (...octets) => {
        const address = octets.join(".");
        const own = octets[0] === 127 || address === "0.0.0.0";
        expect(isLoopback(address)).toBe(own);
        expect(isLoopback(`::ffff:${address}`)).toBe(own);
      }),
    );
  });

  test("is localhost and what ends with it as a name does", () => {
    for (const name of ["localhost", "LocalHost.", "app.localhost", "::1", "[::1]".slice(1, -1)]) {
      expect(isLoopback(name)).toBe(true);
    }
    for (const name of ["localhost.example", "notlocalhost", "127.0.0.1.example", "2001:db8::1", "fe80::1%lo"]) {
      expect(isLoopback(name)).toBe(false);
    }
  });
});

describe("hosts on the list", () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);

  test("are found whatever their case, and a domain's star stands for something", () => {
    fc.assert(
      fc.property(label, label, (name, domain) => {
        const hosts = new AllowedHosts([`${domain}.example`, `*.${domain}.test`]);
        expect(hosts.includes(`${domain.toUpperCase()}.example.`, 443)).toBe(true);
        expect(hosts.includes(`${name}.${domain}.test`, undefined)).toBe(true);
        expect(hosts.includes(`${domain}.test`, 443)).toBe(false);
        expect(hosts.includes(`${name}.${domain}.example`, 443)).toBe(false);
        expect(hosts.includes(`${name}${domain}.test`, 443)).toBe(false);
      }),
    );
  });
});

describe("a shell's line", () => {
  const word = fc.stringMatching(/^[a-z0-9 ./=-]{0,12}$/);
  const more = fc.constantFrom(";", "&", "|", "`", "$(", "\n", ">", "<(", "&&", "||");

  test("with more than the command on the list is not started, wherever the rest is", () => {
    fc.assert(
      fc.property(word, more, word, (before, sign, after) => {
        expect(allowsCommand(["echo"], "/bin/sh", `echo ${before}${sign}${after}`)).toBe(false);
        expect(allowsCommand(["echo"], "/bin/sh", `echo "${before}$(${after})"`)).toBe(false);
        expect(allowsCommand(["echo"], "/bin/sh", `echo '${before}' ${sign} '${after}'`)).toBe(false);
      }),
    );
  });

  test("may quote what would be more", () => {
    fc.assert(
      fc.property(word, more, word, (before, sign, after) => {
        expect(allowsCommand(["echo"], "/bin/sh", `echo '${before}${sign}${after}'`)).toBe(true);
        expect(allowsCommand(["echo"], "/bin/sh", `'echo' ${before}`)).toBe(true);
        expect(allowsCommand(["echo"], "/bin/sh", `echoes ${before}`)).toBe(false);
        expect(allowsCommand(["echo"], "/bin/sh", `A=${after.trim()} echo`)).toBe(false);
      }),
    );
  });
});
