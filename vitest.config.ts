import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/wild/**", "node_modules/**"],
    testTimeout: 30_000,
    pool: "threads",
    maxWorkers: 2,
  },
});
