import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sharedDouble } from "./support/double.ts";
import { errorRows } from "./support/error-rows.ts";
import { MESSAGE } from "./support/errors/row.ts";

/** What each provider's own client makes of its provider's errors, whole and streamed, and which it tries again. */
const STATUSES = [400, 401, 403, 404, 413, 429, 500, 503];

const double = sharedDouble();
beforeAll(() => {
  // Clients wait before they try again, for seconds together; the limits that they set to a call are longer.
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (then: () => void, ms = 0, ...args: never[]) =>
    setTimeout(then, ms < 30_000 ? 0 : ms, ...args),
  );
});
afterAll(() => void vi.unstubAllGlobals());

describe.each(errorRows)("$name", ({ ask, base, told, hidesMessage, retries, also = [] }) => {
  it.each([...STATUSES, ...also])("%i", async (status) => {
    double.onMessage("hello", { content: "Hi!" });
    for (const stream of [false, true]) {
      double.nextRequestError(status, { message: MESSAGE });
      const error: unknown = await ask(double.url, false, stream).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(base);
      const { class: name, ...fields } = told(status);
      expect((error as Error).constructor.name).toBe(name);
      expect(error).toMatchObject(fields);
      if (!hidesMessage) expect((error as Error).message).toContain(MESSAGE);
    }
    expect(statuses()).toEqual([status, status]);

    double.nextRequestError(status, { message: MESSAGE });
    const patient = ask(double.url, true, false);
    if (retries.has(status)) await patient;
    else await expect(patient).rejects.toBeInstanceOf(base);
    expect(statuses()).toEqual([status, status, status, ...(retries.has(status) ? [200] : [])]);
  });
});

function statuses(): number[] {
  return double.calls().map(({ response }) => response.status);
}
