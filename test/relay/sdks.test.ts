import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFixtures, StuntDouble } from "../../src/index.ts";
import { failures, kinds } from "../support/sdk-kinds.ts";
import type { Sdk } from "../support/sdks/sdk.ts";
import { sdks } from "../support/sdks.ts";
import { everyProvider, temporaryFolder } from "./support.ts";

/**
 * What each SDK hands its user of each kind of reply: straight from a provider, through the relay, and replayed.
 * Locally every kind is asked of every SDK in one of the two ways, by turns; all are asked in both where CI is set.
 */
const WHOLE_TABLE = process.env["CI"] === "true";

let upstream: StuntDouble;
let relay: StuntDouble;
let replay: StuntDouble;
const fixtures = temporaryFolder();
beforeAll(async () => {
  upstream = await StuntDouble.start({ seed: 1 });
  for (const { prompt, response } of [...kinds, ...failures]) upstream.on({ userMessage: prompt }, response);
  relay = await StuntDouble.start({
    record: { providers: everyProvider(upstream.url), fixturePath: fixtures },
    onWarning: () => {},
  });
});
afterAll(async () => {
  await Promise.all([upstream, relay, replay].map((double) => double?.stop()));
});

/** All that an SDK hands its user, or throws at him. */
async function outcome(sdk: Sdk, url: string, prompt: string, streamed: boolean): Promise<unknown> {
  // The same ids, however often it was asked.
  upstream.resetCounts();
  try {
    return await sdk.ask(url, prompt, streamed);
  } catch (error) {
    const { name, message, status, statusCode } = error as Error & { status?: number; statusCode?: number };
    // Some name the URL that they asked.
    return { name, message: message.replaceAll(url, ""), status: status ?? statusCode };
  }
}

const cells = sdks.flatMap((sdk, index) =>
  [...kinds, ...failures].flatMap(({ prompt }, at) =>
    [false, true]
      .filter((streamed) => WHOLE_TABLE || streamed === ((index + at) % 2 === 0))
      .map((streamed) => ({ sdk, name: sdk.name, prompt, streamed, how: streamed ? "streamed" : "whole" })),
  ),
);
const live = new Map<object, unknown>();

describe("through the relay", () => {
  it.each(cells)("$name: $prompt, $how", async (cell) => {
    const { sdk, prompt, streamed } = cell;
    const direct = await outcome(sdk, upstream.url, prompt, streamed);
    live.set(cell, await outcome(sdk, relay.url, prompt, streamed));
    expect(live.get(cell)).toEqual(direct);
  });
});

describe("replayed", () => {
  beforeAll(async () => {
    await relay.stop();
    replay = await StuntDouble.start({ replaySpeed: 1000 });
    replay.load(fixtures);
  });
  it("is whole, all of it, also where a stream ended in an error", () => {
    const recorded = loadFixtures(fixtures);
    // Some clients try once more by themselves.
    expect(recorded.length).toBeGreaterThanOrEqual(cells.length);
    expect(recorded.filter(({ recording }) => recording?.ending !== undefined)).toEqual([]);
  });
  it.each(cells)("$name: $prompt, $how", async (cell) => {
    const { sdk, prompt, streamed } = cell;
    expect(await outcome(sdk, replay.url, prompt, streamed)).toEqual(live.get(cell));
  });
});
