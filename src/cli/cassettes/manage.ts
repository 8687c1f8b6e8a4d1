import type { Command } from "commander";

/** `stuntdouble cassettes …`: what there is, and what can be done with it. */
export function registerCassettes(program: Command): void {
  const cassettes = program.command("cassettes").description("list, show, compare and rearrange recorded calls");
  const verb = (run: (manage: typeof import("../../cassettes/manage.ts")) => number): Promise<void> =>
    import("../run-verb.ts").then(({ runVerb }) => runVerb(async () => run(await import("../../cassettes/manage.ts"))));
  cassettes
    .command("list")
    .description("a line for each cassette")
    .argument("[path]", "a cassette or a folder", "./cassettes")
    .action((path: string) =>
      verb((manage) => {
        print(table(manage.openCassettes(path).map((opened) => manage.listLine(path, opened))));
        return 0;
      }),
    );
  cassettes
    .command("show")
    .description("draw the timeline of a take")
    .argument("<file>")
    .argument("[take]", "the beginning of its id (the latest)")
    .action((file: string, take?: string) =>
      verb((manage) => {
        for (const opened of manage.openCassettes(file)) {
          print(manage.showLines(manage.takeNamed(opened, take ?? opened.cassette.latest_trace_id)));
        }
        return 0;
      }),
    );
  cassettes
    .command("diff")
    .description("compare two takes; exit code 1 when they say different things")
    .argument("<file>")
    .argument("[before]", "the beginning of an id (the last but one)")
    .argument("[after]", "the beginning of an id (the latest)")
    .action((file: string, before?: string, after?: string) =>
      verb((manage) => {
        const [opened] = manage.openCassettes(file);
        const { cassette } = opened!;
        const last = cassette.latest_trace_id;
        const previous = cassette.history_keys.filter((id) => id !== last).at(-1) ?? last;
        const { lines, same } = manage.takeDifferences(
          manage.takeNamed(opened!, before ?? previous),
          manage.takeNamed(opened!, after ?? last),
        );
        print(lines.length > 0 ? lines : ["The two takes are the same."]);
        return same ? 0 : 1;
      }),
    );
  cassettes
    .command("merge")
    .description("put the takes of one folder into another")
    .argument("<from>")
    .argument("<into>")
    .action((from: string, into: string) =>
      verb((manage) => {
        print(manage.merge(from, into));
        return 0;
      }),
    );
  cassettes
    .command("rename")
    .description("give a scenario another name")
    .argument("<folder>")
    .argument("<scenario>")
    .argument("<name>")
    .action((folder: string, scenario: string, name: string) =>
      verb((manage) => {
        print([`${manage.rename(folder, scenario, name)} cassettes are of the scenario ${name} now.`]);
        return 0;
      }),
    );
  cassettes
    .command("migrate")
    .description("bring cassettes into the form that is written today")
    .argument("<path>")
    .action((path: string) =>
      verb((manage) => {
        const changed = manage.migrate(path);
        print(changed.length > 0 ? changed : ["Nothing had to be changed."]);
        return 0;
      }),
    );
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), []);
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}
