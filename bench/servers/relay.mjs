import { StuntDouble } from "../../dist/index.js";

const { upstream } = JSON.parse(process.argv[2]);
const double = await StuntDouble.start({ record: { providers: { openai: upstream }, proxyOnly: true } });
process.on("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ port: double.port }));
