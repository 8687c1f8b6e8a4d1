import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { HttpMethod } from "../src/dialects/operation.ts";
import { RawRequest } from "../src/dialects/raw-request.ts";
import { Router } from "../src/server/router.ts";
import { dialects } from "../src/services/registry.ts";

const operations = new Map(dialects.flatMap((dialect) => dialect.operations).map((one) => [one.name, one]));

/** The tables of docs/providers.md: an operation, and every path that is printed for it. */
const printed = [...readFileSync("docs/providers.md", "utf8").matchAll(/^\| `([\w-]+)` \| [^|]+ \| ([^|]+) \|/gm)]
  .map(([, name, paths]) => [name!, [...paths!.matchAll(/`(\w+) ([^`]+)`/g)].map(([, ...way]) => way)] as const)
  .flatMap(([name, ways]) => ways.map(([method, path]) => ({ name, method: method as HttpMethod, path: path! })));

it("prints every operation", () => {
  expect(new Set(printed.map(({ name }) => name))).toEqual(new Set(operations.keys()));
});

it.each(printed)("$method $path leads to $name", ({ name, method, path }) => {
  // Who shares a path with others is found by more than that.
  const { claims: _, ...operation } = operations.get(name)!;
  const alone = new Router([{ name, providers: [], operations: [operation] }]);
  const raw = new RawRequest(method, path.replace(/\{(\w+)\}/g, "a-$1").replace("…", "b"), {}, new Uint8Array());
  expect(alone.find(raw)?.operation.name).toBe(name);
  const { ends } = operation.routes.find((route) => route.path === raw.route)!;
  if (ends !== undefined) expect(ends).toContain(raw.path.split("/").at(-1));
});
