import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { temporaryFolder } from "../conformance/support.ts";

test("what the documentation shows can be loaded", async () => {
  const text = readFileSync("docs/contracts.md", "utf8");
  const blocks = [...text.matchAll(/^```json (contract|suite)\n(.*?)^```$/gms)].map(([, kind, block]) => ({
    kind,
    block,
  }));
  expect(blocks.map(({ kind }) => kind)).toEqual(["contract", "suite"]);
  const root = temporaryFolder();
  mkdirSync(join(root, "events"));
  writeFileSync(join(root, "note.get.json"), blocks[0]?.block as string);
  writeFileSync(join(root, "contract.json"), blocks[1]?.block as string);
  writeFileSync(join(root, "openrpc.json"), '{"openrpc":"1.3.2","methods":[]}');
  for (const method of ["note.added", "clock"])
    writeFileSync(
      join(root, "events", `${method}.json`),
      JSON.stringify({ name: method, description: "shown", notification: { jsonrpc: "2.0", method } }),
    );
  const { contracts } = await loadContracts(root);
  expect(contracts.map(({ id, kind }) => `${kind} ${id}`)).toEqual([
    "success note.get.json",
    "event events/clock.json",
    "event events/note.added.json",
  ]);
});
