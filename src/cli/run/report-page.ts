import type { RunReport } from "./run-report.ts";
import { duration, money } from "./summary.ts";

/** A report as a page of its own, which loads nothing. */
export function reportPage(report: RunReport): string {
  const { command, mode, scenario, startedAt, durationMs, commandExitCode, exitCode, faults, figures } = report;
  const { calls, recorded, replayed, missed, unused, promptTokens, completionTokens, currency, unpriced } = figures;
  const verdict = exitCode === 0 ? "passed" : "failed";
  const numbers: [string, string][] = [
    ["calls", String(calls)],
    ["recorded", String(recorded)],
    ["replayed", String(replayed)],
    ["missed", String(missed)],
    ["blocked", String(figures.blocked)],
    ["unused", String(unused)],
    ["tokens in", String(promptTokens)],
    ["tokens out", String(completionTokens)],
    ["time saved", duration(figures.savedMs)],
    ["not spent", money(figures.notSpent, currency)],
    ["spent", money(figures.spent, currency)],
  ];
  const notes = [
    ...faults,
    ...(commandExitCode === 0 ? [] : [`The command ended with exit code ${commandExitCode}.`]),
    ...(unpriced.length === 0 ? [] : [`No price is known of ${unpriced.join(", ")}.`]),
    ...report.refused.map(({ kind, target, pid }) => `Refused ${kind} of process ${pid}: ${target}.`),
    ...report.leftBehind.map((name) => `Left behind and ended: ${name}.`),
  ];
  const callRows = report.calls.map(({ name, outcome, status, tape, detail }) => [
    name,
    outcome,
    status === 0 ? "" : String(status),
    tape ?? detail ?? "",
  ]);
  const takeRows = report.takes.map((take) => [
    take.tape,
    take.how,
    `${take.provider} ${take.model}`,
    String(take.promptTokens),
    String(take.completionTokens),
    duration(take.recordedMs),
    take.cost === undefined ? "" : money(take.cost, currency),
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(`${scenario}: ${verdict}`)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
code { font-family: ui-monospace, monospace; }
h1 span { font-size: 1rem; padding: .2rem .6rem; border-radius: 1rem; color: #fff; vertical-align: middle; }
.passed { background: #1a7f37; } .failed { background: #cf222e; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1.5rem 0; } dt { opacity: .7; } dd { margin: 0; font-size: 1.3rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; white-space: pre-wrap; overflow-wrap: anywhere; }
.outcome-missed { color: #cf222e; font-weight: 600; }
</style>
</head>
<body>
<h1>${escaped(scenario)} <span class="${verdict}">${verdict}</span></h1>
<p><code>${escaped(command.join(" "))}</code><br>${escaped(mode)}, ${escaped(startedAt)}, ${escaped(duration(durationMs))}</p>
<dl>${numbers.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("")}</dl>
${list("Notes", notes)}
${table("Calls", ["call", "outcome", "status", "tape, or why there was none"], callRows)}
${table("Takes", ["tape", "", "model", "tokens in", "tokens out", "took", "cost"], takeRows)}
${list("Unused", report.unused)}
</body>
</html>
`;
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return "";
  return `<h2>${title}</h2>\n<ul>${items.map((item) => `<li>${escaped(item)}</li>`).join("")}</ul>`;
}

function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const head = heads.map((text) => `<th>${escaped(text)}</th>`).join("");
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell) => `<td${classOf(cell)}>${escaped(cell)}</td>`).join("")}</tr>`,
  );
  return `<h2>${title}</h2>\n<table>\n<tr>${head}</tr>\n${body.join("\n")}\n</table>`;
}

function classOf(cell: string): string {
  return cell === "missed" ? ' class="outcome-missed"' : "";
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
