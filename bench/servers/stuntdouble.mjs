import { StuntDouble } from "../../dist/index.js";
import { fixturesOf } from "../fixtures.mjs";

const settings = JSON.parse(process.argv[2]);
const lateness = [];
const options = { ...settings.options };
if (settings.measureLateness) {
  // The machine's clock, which also notes how long after its moment each alarm rings.
  const { SystemClock } = await import("../../dist/index.js");
  const clock = new SystemClock();
  options.clock = {
    now: () => clock.now(),
    wall: () => clock.wall(),
    at: (moment, run) =>
      clock.at(moment, () => {
        lateness.push(clock.now() - moment);
        run();
      }),
  };
}
const double = await StuntDouble.start({ fixtures: fixturesOf(settings), ...options });
process.on("message", () => {});
process.on("SIGUSR2", () => {
  const { writeFileSync } = process.getBuiltinModule("node:fs");
  writeFileSync(settings.latenessFile, JSON.stringify(lateness));
  lateness.length = 0;
});
process.on("SIGUSR1", () => {});
process.on("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ port: double.port }));
