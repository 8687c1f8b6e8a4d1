// The floors of the house, from the ground up. A folder imports only from floors below,
// or from its own floor as long as no circle comes of it.
const floors = [
  ["chat", "wire"],
  ["transport", "report", "dialects", "guard", "state"],
  ["fixtures", "cassettes", "conformance"],
  ["upstream"],
  ["services", "agents"],
  ["server"],
  ["testing", "cli"],
];
const folder = (names) => `^src/(${names.join("|")})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floors.slice(0, -1).map((names, floor) => ({
      name: `floor-${floor}-looks-down`,
      severity: "error",
      from: { path: folder(names) },
      to: { path: folder(floors.slice(floor + 1).flat()) },
    })),
    {
      name: "entries-on-top",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: "^src/(cli|testing)/|\\.test\\.ts$" },
      to: { path: "^src/[^/]+\\.ts$" },
    },
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, pathNot: "\\.test\\.ts$|\\.d\\.ts$|^src/[^/]+\\.ts$|^src/cli/" },
      to: {},
    },
    {
      name: "no-tests-in-product",
      severity: "error",
      from: { pathNot: "\\.test\\.ts$" },
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "pure-ground",
      severity: "error",
      from: { path: "^src/(chat|wire)/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(buffer|util)$" },
    },
    {
      name: "dialects-know-no-tape",
      severity: "error",
      from: { path: "^src/dialects/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"], path: "^(node:)?(fs|net|http|https|http2|child_process)" },
    },
    {
      name: "conformance-knows-no-provider",
      severity: "error",
      from: { path: "^src/conformance/" },
      to: { path: "^src/(dialects|chat|fixtures)/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|generated)/" },
  },
};
