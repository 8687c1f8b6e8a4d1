import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLI } from "./conformance/support.ts";

const DIST = join(CLI, "../..");
/** ws asks for them, and does without. */
const OPTIONAL = ["bufferutil", "utf-8-validate"];
// As the bundler leaves them: import … from "x", import("x"), require("x"), createRequire(…)("x").
const ASKED = /(?:\bfrom|\bimport|\brequire|\bcreateRequire\([^()]*\))\s*\(?\s*(["'`])([@\w][^"'`\s]*)\1/g;

test("what the built package asks for at run time is among its dependencies", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, Record<string, string>>;
  const known = new Set([
    ...Object.keys({ ...manifest["dependencies"], ...manifest["peerDependencies"] }),
    ...builtinModules,
    ...OPTIONAL,
  ]);
  const asked = new Map<string, string>();
  for (const file of readdirSync(DIST, { recursive: true, encoding: "utf8" })) {
    if (!/\.c?js$/.test(file)) continue;
    for (const [, , id = ""] of readFileSync(join(DIST, file), "utf8").matchAll(ASKED)) {
      const name = id
        .split("/")
        .slice(0, id.startsWith("@") ? 2 : 1)
        .join("/");
      if (!id.startsWith("node:")) asked.set(name, file);
    }
  }
  expect(asked.has("ajv")).toBe(true);
  expect([...asked].filter(([name]) => !known.has(name))).toEqual([]);
});
