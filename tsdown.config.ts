import { defineConfig } from "tsdown";

const shared = {
  outDir: "dist",
  platform: "node",
  target: "node20.19",
  sourcemap: false,
  fixedExtension: false,
  // What is read at a start has no comments and no dead code. Names stay, for stack traces, and so do lines: Node prints
  // the one from which an error came that nobody caught.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  outputOptions: { comments: { legal: true, annotation: false, jsdoc: false } },
  // jsonc-parser's CommonJS form requires its parts in a way that no bundler follows.
  inputOptions: { resolve: { mainFields: ["module", "main"] as string[] } },
} as const;

export default defineConfig([
  {
    ...shared,
    entry: {
      index: "src/index.ts",
      "conformance/index": "src/conformance/index.ts",
      "guard/block": "src/guard/block.ts",
      "contracts/index": "src/conformance/contracts/index.ts",
      "testing/aimock/index": "src/testing/aimock/index.ts",
      "testing/aimock/jest": "src/testing/aimock/jest.ts",
      "testing/aimock/vitest": "src/testing/aimock/vitest.ts",
      "testing/jest": "src/testing/jest.ts",
      "testing/node-test": "src/testing/node-test.ts",
      "testing/playwright": "src/testing/playwright.ts",
      "testing/vcr/index": "src/testing/vcr/index.ts",
      "testing/vitest": "src/testing/vitest.ts",
    },
    format: ["esm", "cjs"],
    dts: true,
    clean: true,
  },
  {
    // The command is ES modules only; what its start needs is bundled, the rest loads when it is used.
    ...shared,
    entry: { "cli/main": "src/cli/main.ts" },
    format: ["esm"],
    dts: false,
    clean: false,
  },
]);
