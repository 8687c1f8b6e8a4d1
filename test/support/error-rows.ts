import { aiRows } from "./errors/ai.ts";
import { claudeRows } from "./errors/claude.ts";
import { openaiRows } from "./errors/openai.ts";
import { amazonRows, googleRows, otherRows } from "./errors/others.ts";
import type { ErrorRow } from "./errors/row.ts";

/** Every provider's own client, and what it makes of its provider's errors. */
export const errorRows: readonly ErrorRow[] = [
  ...openaiRows,
  ...claudeRows,
  ...amazonRows,
  ...googleRows,
  ...otherRows,
  ...aiRows,
];
