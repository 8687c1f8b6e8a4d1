import { LLMock } from "@copilotkit/aimock";

const { upstream } = JSON.parse(process.argv[2]);
const mock = new LLMock({ port: 0, logLevel: "silent", record: { providers: { openai: upstream }, proxyOnly: true } });
await mock.start();
process.on("SIGTERM", () => process.exit(0));
console.log(JSON.stringify({ port: Number(new URL(mock.url).port) }));
