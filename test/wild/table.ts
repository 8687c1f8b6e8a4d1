import { writeFileSync } from "node:fs";

/** A row of the table that `npm run test:wild` prints. */
export class Row {
  readonly files = new Set<string>();
  readonly listed = new Set<string>();
  /** Replies, each with its file, until they are found equal. */
  readonly unequal = new Map<string, string>();
  throughEvents = 0;
  unknownEvents = 0;

  counts(): Record<string, number> {
    const unequal = new Set(this.unequal.values());
    const listed = [...this.listed].filter((file) => !unequal.has(file)).length;
    const files = this.files.size;
    const equal = files - unequal.size - listed;
    const { throughEvents, unknownEvents } = this;
    return { files, equal, listed, unequal: unequal.size, throughEvents, unknownEvents };
  }
}

/**
 * Leaves the rows, and what else was recorded, for the script that prints them.
 * @param others each with why it is no row's
 */
export function writeReport(table: ReadonlyMap<string, Row>, others: readonly string[]): void {
  const file = process.env["STUNTDOUBLE_WILD_REPORT"];
  if (file === undefined) return;
  const rows = [...table].map(([name, row]) => ({ name, ...row.counts() }));
  const counts: Record<string, number> = {};
  for (const other of others) counts[other] = (counts[other] ?? 0) + 1;
  writeFileSync(file, JSON.stringify({ rows, others: counts }));
}
