import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { redactionSettings } from "../../src/cli/redact-options.ts";
import { createRedactor } from "../../src/guard/redact.ts";
import { temporaryFolder } from "./support.ts";

const page = readFileSync(new URL("../../docs/redaction.md", import.meta.url), "utf8");
const folder = temporaryFolder();

it("shows a file that does what it says", async () => {
  const file = join(folder, "redact.json");
  writeFileSync(file, /```json\n([\s\S]*?)```/.exec(page)![1]!);
  const redactor = await createRedactor(await redactionSettings({ redact: file }));
  const said = {
    content:
      "PROJECT FALCON, TICKET-4711, +49 170 1234567, at build7.corp.example.com, from support@example.com, " +
      "DE89370400440532013000, Support@Example.com, to ada@example.com",
    metadata: { tenant: 7 },
    users: [{ name: "Ada" }],
    headers: { authorization: "Bearer support@example.com" },
    password: "support@example.com",
  };
  expect(redactor.call().value(said, "request body")).toEqual({
    content:
      "«word:1», TICKET-«ticket:1», +49 170 1234567, at «host-name:1», from support@example.com, " +
      "DE89370400440532013000, Support@Example.com, to «email:1»",
    metadata: { tenant: "«pointer:1»" },
    users: [{ name: "«pointer:2»" }],
    headers: { authorization: "Bearer support@example.com" },
    password: "support@example.com",
  });
});
