import { originName } from "../fixtures/origin.ts";
import type { Fixture } from "../fixtures/types.ts";
import type { StuntDouble } from "../server/double.ts";

const MOST_SHOWN = 20;

/** What became of a run: how many calls were answered, what nobody answered, and the fixtures that nobody asked for. */
export function summaryOf(double: StuntDouble): string {
  const { served, missed } = double.summary;
  const unused = double.unusedFixtures();
  const lines = [`served ${counted(served, "call")}, missed ${missed}, ${counted(unused.length, "fixture")} unused`];
  const misses = new Map<string, number>();
  for (const { method, path, detail } of double.misses()) {
    const line = `${method} ${path}: ${detail.split("\n", 1)[0]}`;
    misses.set(line, (misses.get(line) ?? 0) + 1);
  }
  add(
    lines,
    [...misses].map(([line, times]) => `missed ${line}${times > 1 ? ` (${times} times)` : ""}`),
  );
  add(
    lines,
    unused.map((fixture) => `unused ${nameOf(fixture)}`),
  );
  add(
    lines,
    double.unusedCassettes.map((name) => `unused cassette ${name}`),
  );
  return lines.join("\n");
}

function add(lines: string[], more: readonly string[]): void {
  for (const line of more.slice(0, MOST_SHOWN)) lines.push(`  ${line}`);
  if (more.length > MOST_SHOWN) lines.push(`  … and ${more.length - MOST_SHOWN} more`);
}

function nameOf(fixture: Fixture): string {
  return fixture.id ?? originName(fixture) ?? JSON.stringify(fixture.match);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
