import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DETECTORS } from "./detectors.ts";

describe("the table of detectors", () => {
  it("is that of docs/redaction.md", () => {
    const page = readFileSync(new URL("../../docs/redaction.md", import.meta.url), "utf8");
    const rows = DETECTORS.map(
      ({ name, family, finds, byDefault }) => `| \`${name}\` | ${family} | ${finds} | ${byDefault ? "on" : "off"} |`,
    );
    expect(
      page.split("\n").filter((line) => /^\| `[a-z-]+` \| (?!.*--)/.test(line) && / \| o(?:n|ff) \|$/.test(line)),
    ).toEqual(rows);
  });

  it("has hints that JSON does not write in another way", () => {
    const hints = DETECTORS.flatMap((detector) => detector.hints ?? []);
    expect(hints.filter((hint) => hint === "" || /["\\\s]/.test(hint))).toEqual([]);
    const lower = DETECTORS.filter(({ anyCase }) => anyCase).flatMap((detector) => detector.hints ?? []);
    expect(lower).toEqual(lower.map((hint) => hint.toLowerCase()));
  });
});
