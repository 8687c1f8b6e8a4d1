import { describe, expect, it } from "vitest";
import type { RawRequest } from "../dialects/raw-request.ts";
import { ManualClock } from "../state/manual-clock.ts";
import { fetchThrough } from "./fetch.ts";

/** What arrives of a request, by the short way that most take and by the platform's own. */
async function arrived(url: string | URL, init?: RequestInit): Promise<[unknown, unknown]> {
  const seen: unknown[] = [];
  const fetch = fetchThrough(({ method, url: path, headers, body }: RawRequest) => {
    seen.push({ method, path, headers, body: Buffer.from(body).toString("base64") });
    return { status: 200, headers: [], body: "ok", streamed: false };
  }, new ManualClock());
  await fetch(url, init);
  await fetch(new Request(url, init));
  return seen as [unknown, unknown];
}

describe("fetch in this process", () => {
  it.each<[string, string | URL, RequestInit?]>([
    ["GET", "http://double/v1/models?a=1#part"],
    ["a URL", new URL("http://double/v1/models/a%20b")],
    ["POST of a text", "http://double/v1", { method: "post", body: "{}" }],
    ["POST with headers", "http://double/v1", { method: "POST", body: "ü", headers: { "X-One": " 1 ", b: "2" } }],
    ["POST with pairs", "http://double/v1", { method: "POST", body: "1", headers: [["Content-Type", "a/b"]] }],
    ["POST of bytes", "http://double/v1", { method: "POST", body: new Uint8Array([0, 200, 255]) }],
    ["POST of a form", "http://double/v1", { method: "POST", body: new URLSearchParams("a=1") }],
    ["POST of nothing", "http://double/v1", { method: "POST" }],
    ["PUT", "http://double/v1", { method: "PUT", body: "1" }],
    ["DELETE", "http://double/v1", { method: "DELETE" }],
  ])("hands on the same of %s whichever way it takes", async (_, url, init) => {
    const [short, whole] = await arrived(url, init);
    expect(short).toEqual(whole);
  });

  it.each<[string, RequestInit?]>([
    ["/v1/models"],
    ["http://user:password@double/v1"],
    ["http://double/v1", { method: "GET", body: "1" }],
    ["http://double/v1", { method: "POST", body: "1", headers: { "not a name": "1" } }],
  ])("refuses what the platform refuses: %s", async (url, init) => {
    await expect(arrived(url, init)).rejects.toThrow(TypeError);
  });

  it("has no body for HEAD", async () => {
    const fetch = fetchThrough(() => ({ status: 200, headers: [], body: "ok", streamed: false }), new ManualClock());
    const reply = await fetch("http://double/v1/models", { method: "HEAD" });
    expect([reply.status, reply.body]).toEqual([200, null]);
  });

  it("is aborted before it begins", async () => {
    const reason = new Error("changed my mind");
    const init = { method: "POST", body: "1", signal: AbortSignal.abort(reason) };
    await expect(arrived("http://double/v1", init)).rejects.toBe(reason);
  });
});
