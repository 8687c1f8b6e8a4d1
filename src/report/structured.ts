import { formatDifference, placeOf } from "./difference.ts";
import type { Output } from "./output.ts";
import { countsOf, type Reporter, type Summary, type Verdict } from "./verdict.ts";

/** One JSON document with all that is known. */
export function jsonReporter(output: Output): Reporter {
  return atEnd((summary) => output.write(`${JSON.stringify(summary, null, 2)}\n`));
}

/** JUnit XML, in the form that CI servers read (https://github.com/testmoapp/junitxml). */
export function junitReporter(output: Output): Reporter {
  return atEnd((summary) => {
    const seconds = (ms: number) => (ms / 1000).toFixed(3);
    const total = `tests="${summary.verdicts.length}" failures="${summary.failed}" skipped="${summary.skipped}" time="${seconds(summary.durationMs)}"`;
    const lines = [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<testsuites ${total}>`,
      `  <testsuite name="${xml(summary.suite)}" ${total}>`,
    ];
    for (const verdict of summary.verdicts) {
      const open = `    <testcase name="${xml(verdict.case)}" classname="${xml(summary.suite)}" file="${xml(verdict.file)}" time="${seconds(verdict.durationMs)}"`;
      const inside: string[] = [];
      if (verdict.status === "failed") {
        const text = [...verdict.differences.map(formatDifference), ...verdict.notes].join("\n");
        inside.push(`      <failure message="${xml(headline(verdict))}">${xml(text)}</failure>`);
      }
      if (verdict.status === "skipped") inside.push(`      <skipped message="${xml(verdict.notes.join(" "))}"/>`);
      if (verdict.status === "failed" && verdict.stderr !== "")
        inside.push(`      <system-err>${xml(verdict.stderr)}</system-err>`);
      lines.push(...(inside.length === 0 ? [`${open}/>`] : [`${open}>`, ...inside, "    </testcase>"]));
    }
    output.write(`${[...lines, "  </testsuite>", "</testsuites>"].join("\n")}\n`);
  });
}

/** TAP version 14 (https://testanything.org/tap-version-14-specification.html), as the run goes. */
export function tapReporter(output: Output): Reporter {
  let number = 0;
  return {
    begin(_suite, cases) {
      number = 0;
      output.write(`TAP version 14\n1..${cases}\n`);
    },
    verdict(verdict) {
      const name = verdict.case.replaceAll("\\", "\\\\").replaceAll("#", "\\#");
      const skip = verdict.status === "skipped" ? ` # SKIP ${verdict.notes.join(" ")}` : "";
      output.write(`${verdict.status === "failed" ? "not ok" : "ok"} ${++number} - ${name}${skip}\n`);
      if (verdict.status !== "failed") return;
      // JSON strings are YAML strings.
      const entries = [...verdict.differences.map(formatDifference), ...verdict.notes].map(
        (line) => `    - ${JSON.stringify(line)}\n`,
      );
      output.write(`  ---\n  differences:\n${entries.join("")}  ...\n`);
    },
    end() {},
  };
}

/**
 * GitHub's workflow commands, which show a failure at its file
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
 */
export function githubReporter(output: Output): Reporter {
  return {
    begin() {},
    verdict(verdict) {
      if (verdict.status === "passed") return;
      const level = verdict.status === "failed" ? "error" : "notice";
      const said =
        verdict.status === "failed"
          ? [...verdict.differences.map(formatDifference), ...verdict.notes]
          : ["skipped", ...verdict.notes];
      output.write(
        `::${level} file=${githubProperty(verdict.file)},title=${githubProperty(verdict.case)}::${githubData(said.join("\n"))}\n`,
      );
    },
    end: (summary) => output.write(`${summary.suite}: ${countsOf(summary)}\n`),
  };
}

function atEnd(end: (summary: Summary) => void): Reporter {
  return { begin() {}, verdict() {}, end };
}

function headline(verdict: Verdict): string {
  const [first] = verdict.differences;
  if (!first) return verdict.notes[0] ?? "failed";
  const more = verdict.differences.length - 1;
  return `${placeOf(first)}${first.detail === "" ? "" : `: ${first.detail}`}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Text in XML. Control characters that XML 1.0 has no way to write become their names, or the file could not be read. */
function xml(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    )
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function githubData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function githubProperty(text: string): string {
  return githubData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
