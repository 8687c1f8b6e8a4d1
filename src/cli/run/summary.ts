import type { Figures } from "./figures.ts";
import type { RunCall, SourceOutcome } from "./tape-source.ts";

const MOST_SHOWN = 20;

/** What a run was, for the end of its output. */
export function summaryLines(
  figures: Figures,
  { calls, unused }: SourceOutcome,
  run: { mode: string; scenario: string; pruned?: boolean },
): string[] {
  const counts = [
    counted(figures.calls, "call"),
    ...(["recorded", "replayed", "missed", "unused"] as const).map((name) => `${figures[name]} ${name}`),
    ...(figures.blocked > 0 ? [`${figures.blocked} blocked`] : []),
  ];
  const lines = [`stuntdouble ${run.mode} ${run.scenario}: ${counts.join(", ")}`];
  const worth = worthOf(figures);
  if (worth.length > 0) lines.push(`  ${worth.join(", ")}`);
  const failed = calls.filter(({ outcome, status }) => outcome === "recorded" && (status >= 400 || status === 0));
  lines.push(
    ...shown(
      toldOnce(failed, ({ name, status }) => `recorded a failure of ${name}: ${status === 0 ? "broken off" : status}`),
    ),
    ...shown(
      toldOnce(
        calls.filter(({ outcome }) => outcome === "missed"),
        ({ name, detail, status }) => `missed ${name}: ${detail?.split("\n", 1)[0] ?? `answered ${status}`}`,
      ),
    ),
    ...shown(unused.map((name) => `unused ${name}${run.pruned ? ", and removed" : ""}`)),
  );
  return lines;
}

/** Tokens, time and money, as far as there were any. */
function worthOf(figures: Figures): string[] {
  const { promptTokens, completionTokens, savedMs, notSpent, spent, currency, unpriced } = figures;
  const parts: string[] = [];
  if (promptTokens + completionTokens > 0) parts.push(`${promptTokens} tokens in, ${completionTokens} out`);
  if (savedMs > 0) parts.push(`${duration(savedMs)} saved`);
  if (notSpent > 0) parts.push(`${money(notSpent, currency)} not spent`);
  if (spent > 0) parts.push(`${money(spent, currency)} spent`);
  if (unpriced.length > 0) parts.push(`no price is known of ${unpriced.join(", ")}`);
  return parts;
}

function shown(lines: readonly string[]): string[] {
  const more = lines.length > MOST_SHOWN ? [`  … and ${lines.length - MOST_SHOWN} more`] : [];
  return [...lines.slice(0, MOST_SHOWN).map((line) => `  ${line}`), ...more];
}

function toldOnce(calls: readonly RunCall[], line: (call: RunCall) => string): string[] {
  const found = new Map<string, number>();
  for (const told of calls.map(line)) found.set(told, (found.get(told) ?? 0) + 1);
  return [...found].map(([told, times]) => (times > 1 ? `${told} (${times} times)` : told));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** With two digits that say something: fractions of a cent are what calls cost. */
export function money(amount: number, currency: string): string {
  const digits = amount >= 1 || amount === 0 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(amount)));
  const number = amount.toFixed(Math.max(2, digits));
  return currency === "USD" ? `$${number}` : `${number} ${currency}`;
}
