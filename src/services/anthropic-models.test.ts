import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ApiError } from "../dialects/api-error.ts";
import { type JsonObject, RawRequest } from "../dialects/raw-request.ts";
import { anthropicModels, decodeModelsRequest, encodeModels } from "./anthropic-models.ts";

const list = (query: string) =>
  encodeModels(decodeModelsRequest(new RawRequest("GET", `/v1/models${query}`, {}, Buffer.alloc(0))));
const ids = (page: JsonObject) => (page["data"] as { id: string }[]).map(({ id }) => id);

it("claims the path from clients that send this API's headers", () => {
  const claims = (headers: Record<string, string>) =>
    anthropicModels.claims?.(new RawRequest("GET", "/v1/models", headers, Buffer.alloc(0)));
  expect(claims({ "x-api-key": "x", "anthropic-version": "2023-06-01" })).toBe(true);
  expect(claims({ "anthropic-beta": "x" })).toBe(true);
  expect(claims({ authorization: "Bearer x" })).toBe(false);
  expect(claims({ "x-api-key": "x" })).toBe(false);
});

it("tells of one model, also one that is not in its list", () => {
  const { id, display_name, type } = encodeModels({
    id: "claude-haiku-9-1-20401001",
    limit: 1,
    afterId: null,
    beforeId: null,
  });
  expect([id, display_name, type]).toEqual(["claude-haiku-9-1-20401001", "Claude Haiku 9.1", "model"]);
  const unknown = () => encodeModels({ id: "gpt-5", limit: 1, afterId: null, beforeId: null });
  expect(unknown).toThrow(new ApiError({ status: 404, message: "model: gpt-5" }));
});

it("pages both ways without losing one", () => {
  const all = ids(list("?limit=1000"));
  expect(all.length).toBeGreaterThan(2);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: all.length + 1 }), (limit) => {
      const forth: string[] = [];
      let page = list(`?limit=${limit}`);
      for (;;) {
        forth.push(...ids(page));
        if (page["has_more"] !== true) break;
        page = list(`?limit=${limit}&after_id=${page["last_id"]}`);
      }
      expect(forth).toEqual(all);
      const back = [all.at(-1)!];
      do {
        page = list(`?limit=${limit}&before_id=${back[0]}`);
        back.unshift(...ids(page));
      } while (page["has_more"] === true);
      expect(back).toEqual(all);
    }),
  );
});

it.each(["0", "1001", "x", "1.5"])("refuses a limit of %s", (limit) => {
  expect(() => list(`?limit=${limit}`)).toThrow("limit: Input should be an integer from 1 to 1000");
});

it("is what the official client walks through", async () => {
  const client = new Anthropic({
    apiKey: "x",
    fetch: async (url) => Response.json(list(new URL(String(url)).search)),
  });
  const seen: string[] = [];
  for await (const model of client.models.list({ limit: 2 })) seen.push(model.id);
  expect(seen).toEqual(ids(list("")));
});
