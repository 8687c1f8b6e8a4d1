import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Output, standardOutput } from "../report/output.ts";
import { REPORTER_NAMES, reporterNamed } from "../report/reporters.ts";
import type { Reporter } from "../report/verdict.ts";
import { UsageError } from "./run-verb.ts";

/**
 * The reporters that `--reporter name[=file]` asks for, as one. Throws a `UsageError` for a name that there is not.
 *
 * @param names `pretty` alone where empty.
 */
export function reportersFor(names: readonly string[] = ["pretty"]): Reporter {
  const reporters = names.map((text) => {
    const [name = "", ...file] = text.split("=");
    const output = file.length > 0 ? fileOutput(file.join("=")) : { output: standardOutput(), close: () => {} };
    const reporter = reporterNamed(name, output.output);
    if (!reporter)
      throw new UsageError(`There is no reporter "${name}"; expected one of ${REPORTER_NAMES.join(", ")}.`);
    return { reporter, close: output.close };
  });
  return {
    begin: (suite, cases) => {
      for (const { reporter } of reporters) reporter.begin(suite, cases);
    },
    verdict: (verdict) => {
      for (const { reporter } of reporters) reporter.verdict(verdict);
    },
    end: (summary) => {
      for (const { reporter, close } of reporters) {
        reporter.end(summary);
        close();
      }
    },
  };
}

function fileOutput(file: string): { output: Output; close: () => void } {
  let text = "";
  return {
    output: {
      write(part) {
        text += part;
      },
      terminal: false,
      colors: false,
    },
    close() {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      text = "";
    },
  };
}
