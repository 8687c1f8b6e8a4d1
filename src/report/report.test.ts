import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cut, cutAroundDifference, type Difference, formatDifference } from "./difference.ts";
import { REPORTER_NAMES, reporterNamed } from "./reporters.ts";
import { EXIT_DIFFERENCES, EXIT_NOT_RUN, EXIT_PASSED, exitCodeOf, summarize, type Verdict } from "./verdict.ts";

const difference: Difference = { case: "b<&>", response: 3, pointer: "/result/a", want: '"1"', got: "1", detail: "" };
const missing: Difference = {
  case: "b<&>",
  response: 4,
  pointer: "",
  want: "{}",
  got: "",
  detail: "this frame never came",
};
const verdict = (name: string, status: Verdict["status"], more: Partial<Verdict> = {}): Verdict => ({
  case: name,
  status,
  durationMs: 12,
  differences: [],
  notes: [],
  stderr: "",
  file: `suite/${name}`,
  ...more,
});
const run = [
  verdict("a", "passed"),
  verdict("b<&>", "failed", {
    differences: [difference, missing],
    notes: ["stopped: it\nhung"],
    stderr: "line 1\n\u0007line 2",
  }),
  verdict("c", "skipped", { notes: ["not run"] }),
];

function report(name: string, verdicts: readonly Verdict[] = run, terminal = false, colors = false): string {
  let text = "";
  const reporter = reporterNamed(name, {
    write: (part) => {
      text += part;
    },
    terminal,
    colors,
  });
  reporter?.begin("suite", verdicts.length);
  for (const one of verdicts) reporter?.verdict(one);
  reporter?.end(summarize("suite", verdicts, 40));
  return text;
}

describe("reporters", () => {
  it("pretty shows each case, what differs, and why", () => {
    expect(report("pretty")).toBe(
      [
        "suite, 3 cases",
        "✓ a 12 ms",
        "✗ b<&> 12 ms",
        "    frame 3 /result/a",
        '      want "1"',
        "      got  1",
        "    frame 4 this frame never came",
        "      want {}",
        "    note stopped: it\nhung",
        "    stderr",
        "      line 1",
        "      \u0007line 2",
        "- c 12 ms",
        "    note not run",
        "",
        "1 passed, 1 failed, 1 skipped in 40 ms",
        "",
      ].join("\n"),
    );
  });

  it("pretty has colours and progress on a terminal only", () => {
    expect(report("pretty", run, true, true)).toContain("\u001b[31m✗\u001b[39m b<&>");
    expect(report("pretty", run, true, true)).toContain("… 1 of 3");
    expect(report("pretty")).not.toContain("\u001b");
  });

  it("pretty says when nothing was checked", () => {
    expect(report("pretty", [verdict("c", "skipped")])).toContain("Nothing was checked.");
  });

  it("json has all of it", () => {
    expect(JSON.parse(report("json"))).toEqual({
      suite: "suite",
      passed: 1,
      failed: 1,
      skipped: 1,
      durationMs: 40,
      verdicts: run,
    });
  });

  it("junit is XML whatever is in it", () => {
    expect(report("junit")).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" skipped="1" time="0.040">
  <testsuite name="suite" tests="3" failures="1" skipped="1" time="0.040">
    <testcase name="a" classname="suite" file="suite/a" time="0.012"/>
    <testcase name="b&lt;&amp;&gt;" classname="suite" file="suite/b&lt;&amp;&gt;" time="0.012">
      <failure message="frame 3 /result/a and 1 more">b&lt;&amp;&gt;: frame 3 /result/a: want &quot;1&quot;, got 1
b&lt;&amp;&gt;: frame 4: this frame never came: want {}
stopped: it
hung</failure>
      <system-err>line 1
\\u0007line 2</system-err>
    </testcase>
    <testcase name="c" classname="suite" file="suite/c" time="0.012">
      <skipped message="not run"/>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it("tap numbers the cases", () => {
    expect(report("tap")).toBe(`TAP version 14
1..3
ok 1 - a
not ok 2 - b<&>
  ---
  differences:
    - ${JSON.stringify(formatDifference(difference))}
    - ${JSON.stringify(formatDifference(missing))}
    - "stopped: it\\nhung"
  ...
ok 3 - c # SKIP not run
`);
  });

  it("github points at the case, on one line each", () => {
    expect(report("github").split("\n").slice(0, 2)).toEqual([
      '::error file=suite/b<&>,title=b<&>::b<&>: frame 3 /result/a: want "1", got 1%0Ab<&>: frame 4: this frame never came: want {}%0Astopped: it%0Ahung',
      "::notice file=suite/c,title=c::skipped%0Anot run",
    ]);
  });

  it("are known by name", () => {
    expect(REPORTER_NAMES).toEqual(["pretty", "json", "junit", "tap", "github"]);
    expect(reporterNamed("toString", { write() {}, terminal: false, colors: false })).toBeUndefined();
  });
});

describe("exit codes", () => {
  it.each([
    [["passed", "skipped"], EXIT_PASSED],
    [["passed", "failed"], EXIT_DIFFERENCES],
    [["skipped"], EXIT_NOT_RUN],
    [[], EXIT_NOT_RUN],
  ] as const)("%j is %i", (statuses, code) => {
    expect(
      exitCodeOf(
        summarize(
          "s",
          statuses.map((status, index) => verdict(String(index), status)),
          1,
        ),
      ),
    ).toBe(code);
  });
});

describe("cutting", () => {
  it("keeps the difference in view, and never halves a character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 400 }),
        fc.string({ unit: "binary", maxLength: 400 }),
        (common, rest) => {
          const [want, got] = cutAroundDifference(`${common}A${rest}`, `${common}B${rest}`, 40);
          expect(want).not.toBe(got);
          expect(want.length).toBeLessThanOrEqual(42);
          for (const shown of [want, got]) expect(shown).not.toMatch(/\p{Surrogate}/u);
        },
      ),
    );
    expect(cut("abcdef", 3, 2)).toBe("…de…");
    expect(cut("abc", 0, 3)).toBe("abc");
  });
});
