import { defineConfig } from "vitest/config";

/** The walk over real recordings: `npm run test:wild`. */
export default defineConfig({
  test: { include: ["test/wild/**/*.test.ts"], testTimeout: 120_000, pool: "threads", maxWorkers: 2 },
});
