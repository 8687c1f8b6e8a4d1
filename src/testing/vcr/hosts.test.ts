import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { providers } from "../../upstream/providers.ts";
import { CaughtHosts } from "./hosts.ts";

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const path = fc.array(label, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const query = fc.option(label, { nil: undefined }).map((text) => (text === undefined ? "" : `?${text}=1`));
const port = fc.integer({ min: 1, max: 65_535 });

/** A host of every provider that has one for all, or a pattern of them. */
const known = fc.constantFrom(
  ...Object.values(providers).flatMap(({ url, hosts = [] }) => [
    ...(url?.startsWith("https:") ? [new URL(url).host] : []),
    ...hosts.map((host) => host.replace("*", "some")),
  ]),
);

describe("the hosts of a scope", () => {
  test("are those of every provider, whatever the path and the port, and the path stays", () => {
    fc.assert(
      fc.property(known, port, path, query, (host, number, asked, more) => {
        const hosts = new CaughtHosts({});
        expect(hosts.pathOf(new URL(`https://${host}:${number}${asked}${more}`))).toBe(asked + more);
      }),
    );
  });

  test("are no others, though their names look like it", () => {
    fc.assert(
      fc.property(known, label, path, (host, name, asked) => {
        const hosts = new CaughtHosts({});
        for (const other of [
          `${host}.${name}.example`,
          `${name}-${host.replaceAll(".", "-")}.example`,
          "127.0.0.1:9",
        ]) {
          expect(hosts.pathOf(new URL(`https://${other}${asked}`))).toBeUndefined();
        }
      }),
    );
  });

  test("are those of base URLs, at their port alone, and the path says whose they are", () => {
    fc.assert(
      fc.property(label, port, path, query, (name, number, asked, more) => {
        const hosts = new CaughtHosts({ groq: `http://${name}.example:${number}/base`, openai: undefined });
        const url = new URL(`http://${name}.example:${number}${asked}${more}`);
        expect(hosts.pathOf(url)).toBe(`/groq${asked}${more}`);
        url.port = String(number === 65_535 ? 1 : number + 1);
        expect(hosts.pathOf(url)).toBeUndefined();
      }),
    );
  });

  test("are Ollama's on this machine, by both of its names", () => {
    const hosts = new CaughtHosts({});
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(hosts.pathOf(new URL(`http://${host}:11434/api/chat`))).toBe("/ollama/api/chat");
    }
  });
});
