// A double in a process of its own: `fork("recorder.mjs", [MODULE, OPTIONS])`. It says where it listens, and when it is
// told to stop, what it cost and what it could not write.
import process from "node:process";

const [, , url, options] = process.argv;
const { StuntDouble } = await import(url);
const warnings = [];
const double = await StuntDouble.start({ ...JSON.parse(options), onWarning: (message) => warnings.push(message) });
process.send({ url: double.url });
process.once("message", async () => {
  const failure = await double.stop().then(
    () => undefined,
    (error) => error.message,
  );
  process.send({ failure, warnings, mostKilobytes: process.resourceUsage().maxRSS }, () => process.exit(0));
});
