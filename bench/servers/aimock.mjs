import { LLMock } from "@copilotkit/aimock";
import { fixturesOf } from "../fixtures.mjs";

const mock = new LLMock({ port: 0, logLevel: "silent" });
mock.addFixtures(fixturesOf(JSON.parse(process.argv[2])));
await mock.start();
process.on("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ port: Number(new URL(mock.url).port) }));
