// What it costs to find the fixture for a call, apart from everything around it.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { BENCH, scratch, words } from "./harness.mjs";

const SOURCES = ["chat/view", "fixtures/answerer", "fixtures/pool", "state/counters"];
const POOLS = [1, 10, 100, 1_000, 10_000, 100_000];
const TEXTS = [80, 800, 64_000];
/** Calls are timed in short batches and the quickest tells, since whatever else the machine does only adds. */
const BATCHES = 2_000;

const question = (index) => `question number ${index} about topic ${index % 97}.`;
const operation = { endpoint: "chat", output: "chat" };

export async function matching() {
  const { ChatView, FixturePool, MemoryCounters, fixtureAnswerer } = await productSources();
  console.log(
    ["fixtures", "first call", ...TEXTS.map((size) => `${size} chars`)].map((cell) => cell.padStart(14)).join(""),
  );
  for (const count of POOLS) {
    const fixtures = Array.from({ length: count }, (_, index) => ({
      match: { userMessage: question(index) },
      response: { content: "x" },
    }));
    const answer = fixtureAnswerer(new FixturePool(fixtures), new MemoryCounters());
    const ask = (request) => answer({ operation, view: new ChatView(request), context: undefined, testId: "t" });
    const start = performance.now();
    ask(requests(count, 80)[0]);
    const first = performance.now() - start;
    const cells = TEXTS.map((size) => `${quickest(requests(count, size), ask, size > 10_000 ? 2 : 50).toFixed(2)} µs`);
    console.log(
      [count.toLocaleString("en"), `${first.toFixed(1)} ms`, ...cells].map((cell) => cell.padStart(14)).join(""),
    );
  }
}

/** The product's own modules, bundled as they are in the package. */
async function productSources() {
  const bundle = await rolldown({
    input: "entry",
    platform: "node",
    resolve: { mainFields: ["module", "main"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? id : undefined),
        load: (id) =>
          id === "entry"
            ? SOURCES.map((name) => `export * from ${JSON.stringify(join(BENCH, "../src", `${name}.ts`))};`).join("\n")
            : undefined,
      },
    ],
  });
  const file = join(scratch, "matching.mjs");
  await bundle.write({ file, format: "esm" });
  return import(pathToFileURL(file));
}

/** Requests for fixtures all over the pool, with the question in the middle of other words. */
function requests(count, size) {
  return Array.from({ length: 100 }, (_, index) => {
    const wanted = question((index * 7919) % count);
    const around = words(Math.max(0, (size - wanted.length) >> 1));
    // Through JSON, as a request comes: the text is then one flat string.
    return JSON.parse(
      JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: `${around} ${wanted} ${around}` }] }),
    );
  });
}

/** Microseconds a call. */
function quickest(list, ask, batch) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < BATCHES; round++) {
    const start = process.hrtime.bigint();
    for (let index = 0; index < batch; index++) {
      if (ask(list[(round * batch + index) % list.length]) === undefined) throw new Error("A call found no fixture.");
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / batch / 1000);
  }
  return best;
}
