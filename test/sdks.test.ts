import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StuntDouble } from "../src/index.ts";
import { failures, kinds, loops, OVERLOADED, SLOW_DOWN } from "./support/sdk-kinds.ts";
import { inForm } from "./support/sdks/sdk.ts";
import { sdks } from "./support/sdks.ts";

/**
 * What each SDK hands its user of each kind of reply, whole and streamed. Locally every kind is asked of every SDK in
 * one of the two ways, by turns; all are asked in both where CI is set.
 */
const WHOLE_TABLE = process.env["CI"] === "true";

let double: StuntDouble;
beforeAll(async () => {
  double = await StuntDouble.start();
  for (const { prompt, response } of [...kinds, ...failures]) double.on({ userMessage: prompt }, response);
  for (const { prompt, response } of loops) {
    double.on({ userMessage: prompt, hasToolResult: false }, response);
    double.on({ userMessage: prompt, toolResultContains: "sun in Bern" }, { content: "It is sunny in Bern." });
  }
});
afterAll(() => double.stop());

describe.each(sdks.map((sdk, index) => ({ ...sdk, index })))("$name", ({ index, ...sdk }) => {
  const cells = kinds.flatMap((kind, at) =>
    [false, true]
      .filter((streamed) => WHOLE_TABLE || streamed === ((index + at) % 2 === 0))
      .map((streamed) => ({ ...kind, streamed, how: streamed ? "streamed" : "whole" })),
  );
  it.each(cells)("$prompt, $how", async ({ prompt, told, fails, streamed }) => {
    const asked = sdk.ask(double.url, prompt, streamed);
    const failure = inForm(fails?.(sdk), streamed);
    if (failure === undefined) expect(await asked).toMatchObject(told(sdk, streamed));
    else await expect(asked).rejects.toThrow(failure);
  });

  const forms = WHOLE_TABLE ? [false, true] : [index % 2 === 0];
  it.each(sdk.loop === undefined ? [] : forms)("takes a tool through two steps, streamed: %s", async (streamed) => {
    const { prompt } = loops.find(({ after }) => after === (sdk.loopsAfter ?? "tool_calls"))!;
    expect(await sdk.loop!(double.url, prompt, streamed)).toBe("It is sunny in Bern.");
  });

  it.each(forms)("says why it is refused, streamed: %s", async (streamed) => {
    const error = await sdk.ask(double.url, "refuse", streamed).catch((thrown: unknown) => thrown);
    expect(statusOf(error)).toBe(429);
    expect((error as Error).message).toMatch(sdk.turnedDown ?? SLOW_DOWN);
  });

  it("says that a reply broke off", async () => {
    const streamed = sdk.ask(double.url, "break off", true);
    if (sdk.passesOverErrors === undefined) await expect(streamed).rejects.toThrow(sdk.brokenOff ?? OVERLOADED);
    else expect(await streamed).toMatchObject({ text: "So far", finish: sdk.passesOverErrors });
    // Whoever does not stream has nothing of it.
    const error = await sdk.ask(double.url, "break off", false).catch((thrown: unknown) => thrown);
    expect(statusOf(error)).toBe(503);
  });
});

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, status_code, $metadata } = error as Record<string, number | undefined> & {
    $metadata?: { httpStatusCode?: number };
  };
  return status ?? statusCode ?? status_code ?? $metadata?.httpStatusCode;
}
