import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type FixtureResponse, StuntDouble } from "../../src/index.ts";
import { providerNames } from "../../src/upstream/providers.ts";
import type { Sdk, Told } from "../support/sdks/sdk.ts";
import { sdks } from "../support/sdks.ts";

/**
 * What each SDK hands its user live and in replay: over the socket and in process. Locally every kind of reply is asked
 * of every SDK in one of the two ways, by turns; all are asked in both where CI is set.
 */
const WHOLE_TABLE = process.env["CI"] === "true";

const usage = { prompt_tokens: 11, completion_tokens: 7 };
const kinds: Readonly<Record<string, FixtureResponse>> = {
  text: { content: 'Ünïcödé 👩‍👩‍👧, "quotes" and\nlines.', reasoning: "It was asked.", usage },
  tools: {
    content: "Let me see.",
    toolCalls: [
      { id: "call_bern0000", name: "weather", arguments: { city: "Bern" } },
      { id: "call_basel000", name: "weather", arguments: { city: 'Basel, "BS"' } },
    ],
    usage,
  },
  refused: { error: { message: "Slow down, please.", type: "rate_limit_error" }, status: 429 },
  broken: { content: "So far", streamError: { message: "Overloaded for now.", status: 503 } },
};

let provider: StuntDouble;
let providers: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), "stuntdouble-cassette-sdks-"));
beforeAll(async () => {
  provider = await StuntDouble.start();
  for (const [kind, response] of Object.entries(kinds)) provider.on({ userMessage: kind }, response);
  providers = Object.fromEntries(providerNames.map((name) => [name, `${provider.url}/${name}`]));
  // Under Fiber's names, for whatever is asked.
  cpSync("examples/cassettes/kill-switch.json", join(folder, "kill", "fixture_unknown_invoker_long essay.json"));
});
afterAll(async () => {
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What was told, or the error that was thrown in its place. */
async function outcome(asked: Promise<Told>): Promise<unknown> {
  try {
    return { told: await asked };
  } catch (error) {
    // Some say where they had asked.
    const thrown = (error as Error).message.replace(/http:\/\/[^/]+/, "");
    return { thrown, status: statusOf(error) };
  }
}

async function inProcess(double: StuntDouble, ask: (url: string) => Promise<Told>): Promise<unknown> {
  vi.stubGlobal("fetch", double.fetch);
  try {
    return await outcome(ask("http://double.invalid"));
  } finally {
    vi.unstubAllGlobals();
  }
}

describe.each(sdks.map((sdk, index) => ({ ...sdk, index })))("$name", ({ index, ...sdk }) => {
  const cells = Object.keys(kinds).flatMap((kind, at) =>
    [false, true]
      .filter((streamed) => WHOLE_TABLE || streamed === ((index + at) % 2 === 0))
      .map((streamed) => ({ kind, streamed, scenario: `${index} ${kind} ${streamed}` })),
  );
  const path = (scenario: string): string => `/@${encodeURIComponent(scenario)}`;
  const live = new Map<string, unknown>();
  let replaying: StuntDouble;
  let killed: StuntDouble;
  beforeAll(async () => {
    const own = join(folder, String(index));
    const recording = await StuntDouble.start({
      record: { providers },
      cassettes: { mode: "record", folder: own },
    });
    for (const { kind, streamed, scenario } of cells) {
      live.set(scenario, await outcome(sdk.ask(recording.url + path(scenario), kind, streamed)));
    }
    await recording.stop();
    replaying = await StuntDouble.start({ cassettes: { mode: "replay", folder: own } });
    killed = await StuntDouble.start({
      cassettes: { mode: "replay", folder: join(folder, "kill"), scenario: "long essay" },
    });
  });
  afterAll(() => Promise.all([replaying.stop(), killed.stop()]));

  it.each(cells)("$kind, streamed: $streamed", async ({ kind, streamed, scenario }) => {
    const first = live.get(scenario);
    expect(first).toMatchObject(expected(sdk, kind, streamed));
    expect(await outcome(sdk.ask(replaying.url + path(scenario), kind, streamed))).toEqual(first);
    expect(replaying.lastCall()?.response).toMatchObject({ source: "cassette" });
    if (sdk.opensSockets) return;
    replaying.resetCounts();
    expect(await inProcess(replaying, (url) => sdk.ask(url + path(scenario), kind, streamed))).toEqual(first);
  });

  it("is cut off by a kill switch that was written by hand", async () => {
    const asks = [(streamed: boolean) => outcome(sdk.ask(killed.url, "anything", streamed))];
    if (!sdk.opensSockets) {
      asks.push((streamed) => inProcess(killed, (url) => sdk.ask(url, "anything", streamed)));
    }
    for (const ask of asks) {
      expect(await ask(true)).toMatchObject(
        sdk.passesOverErrors === undefined
          ? { thrown: expect.stringMatching(sdk.brokenOff ?? /ran past its quota of tokens/) }
          : { told: { text: "Lighthouses have guided sailors home for centuries; ", finish: sdk.passesOverErrors } },
      );
      expect(await ask(false)).toMatchObject({ status: 403 });
    }
  });
});

const TOKENS = { input: 11, output: 7 };

function expected({ finish, passesOverErrors, brokenOff }: Sdk, kind: string, streamed: boolean): object {
  switch (kind) {
    case "text":
      return { told: { text: (kinds["text"] as { content: string }).content, finish: finish.stop, tokens: TOKENS } };
    case "tools":
      return { told: { text: "Let me see.", finish: finish.calls, tokens: TOKENS } };
    case "refused":
      return { status: 429 };
    default:
      if (!streamed) return { status: 503 };
      return passesOverErrors === undefined
        ? { thrown: expect.stringMatching(brokenOff ?? /Overloaded for now/) }
        : { told: { text: "So far", finish: passesOverErrors } };
  }
}

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, status_code, $metadata } = error as Record<string, number | undefined> & {
    $metadata?: { httpStatusCode?: number };
  };
  return status ?? statusCode ?? status_code ?? $metadata?.httpStatusCode;
}
