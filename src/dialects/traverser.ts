export type { Rules } from "./rules.ts";
