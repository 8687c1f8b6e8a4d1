import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadContracts } from "../../src/conformance/contracts/load.ts";
import { recordContracts } from "../../src/conformance/contracts/record.ts";
import type { Target } from "../../src/conformance/target.ts";
import { functionChannel } from "../../src/transport/channel.ts";
import { temporaryFolder } from "../relay/support.ts";
import { writeSuite } from "./support.ts";

const folder = temporaryFolder();

/** A service that answers everything with one result. */
const answering =
  (result: unknown): Target =>
  () =>
    functionChannel((text, send) => send(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, result })));

test("what is recorded holds no secret, by its looks, by its name and by what the user says", async () => {
  const request = { jsonrpc: "2.0", id: 1, method: "login" };
  const root = writeSuite(join(folder, "suite"), { login: { request } });
  const result = {
    mail: "ada@example.com",
    support: "support@example.com",
    password: "hunter2-and-more",
    pin: { password: "17" },
    note: "Write to bob@example.com",
    project: "Falcon-9",
    tenant: { id: 4711 },
  };
  const redact = { words: ["falcon"], pointers: ["/result/tenant"], allow: ["support@example.com"] };
  await recordContracts(await loadContracts(root), answering(result), [], { transport: "stdio", redact });
  expect(JSON.parse(readFileSync(join(root, "login.json"), "utf8")).response.result).toEqual({
    mail: "$opaque",
    support: "support@example.com",
    password: "$opaque",
    pin: { password: "$any" },
    note: "$any",
    project: "$opaque",
    tenant: "$any",
  });
});
