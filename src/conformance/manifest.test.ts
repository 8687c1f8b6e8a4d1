import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { MANIFEST_MEMBERS, readManifest } from "./manifest.ts";

const schema = JSON.parse(readFileSync("schemas/transcript-manifest.schema.json", "utf8"));
const valid = new Ajv2020({ allowUnionTypes: true }).compile(schema);

const good = { case: "c", description: "d", flow: "lockstep", responses: 1 };
const reads = (manifest: unknown) => readManifest(manifest, "c", () => {}) !== undefined;

describe("the published schema of manifests", () => {
  it("knows the members that are read", () => {
    expect(Object.keys(schema.properties).sort()).toEqual([...MANIFEST_MEMBERS].sort());
  });

  it.each<[object, boolean]>([
    [{}, true],
    [
      {
        flow: "pipelined",
        order: "any",
        serverRequests: true,
        unanswered: [1, "a"],
        inTurn: [2],
        framing: "content-length",
      },
      true,
    ],
    [{ volatile: ["", "/a/*/b~0~1"], placeholders: { FIXTURE: "data" } }, true],
    [{ another: 1 }, true],
    [{ description: " " }, false],
    [{ flow: "whenever" }, false],
    [{ responses: -1 }, false],
    [{ responses: 1.5 }, false],
    [{ volatile: ["a"] }, false],
    [{ volatile: ["/a~2"] }, false],
    [{ volatile: "/a" }, false],
    [{ placeholders: [] }, false],
    [{ placeholders: { A: 1 } }, false],
    [{ order: "some" }, false],
    [{ serverRequests: 1 }, false],
    [{ unanswered: [null] }, false],
    [{ inTurn: [0] }, false],
    [{ framing: "x" }, false],
  ])("agrees with the loader on %j", (more, accepted) => {
    const manifest = { ...good, ...more };
    expect([valid(manifest), reads(manifest)]).toEqual([accepted, accepted]);
  });

  it("accepts the manifests of this repository", () => {
    for (const suite of ["notes", "mail", "extensions"]) {
      for (const name of readdirSync(`test/conformance/suites/${suite}`)) {
        const manifest = JSON.parse(readFileSync(`test/conformance/suites/${suite}/${name}/manifest.json`, "utf8"));
        expect([name, valid(manifest), valid.errors]).toEqual([name, true, null]);
      }
    }
  });
});
