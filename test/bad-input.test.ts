import { describe, expect, test } from "vitest";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();

async function post(path: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(double.url + path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

describe("a short request for too much is refused", () => {
  const chat = { model: "m", messages: [{ role: "user", content: "x" }] };
  const completion = { model: "m", prompt: "x" };

  test.each([
    ["/v1/chat/completions", chat],
    ["/v1/completions", completion],
    ["/openai/deployments/d/completions", completion],
  ])("%s: n from 1 to 128", async (path, body) => {
    double.on({}, { content: "Hi!" });
    for (const n of [-1, 0, 0.5, 129, 30_000_000, 1e99]) {
      const { status, text } = await post(path, { ...body, n });
      expect([status, JSON.parse(text).error.param], `n = ${n}`).toEqual([400, "n"]);
    }
    const { text } = await post(path, { ...body, n: 128 });
    expect(JSON.parse(text).choices.map(({ index }: { index: number }) => index)).toEqual([...Array(128).keys()]);
  });

  test("n is for each prompt", async () => {
    double.on({}, { content: "Hi!" });
    const prompts = (length: number) => ({ model: "m", prompt: Array(length).fill("x"), n: 128 });
    expect(JSON.parse((await post("/v1/completions", prompts(16))).text).choices).toHaveLength(2048);
    expect(await post("/v1/completions", prompts(17))).toMatchObject({
      status: 400,
      text: expect.stringContaining("expected at most 2048 choices for all prompts, but got 2176"),
    });
  });

  const part = { content: { parts: [{ text: "x" }] } };
  const embeddings: [string, (inputs: number, dimensions: number) => object][] = [
    ["/v1/embeddings", (inputs, dimensions) => ({ model: "m", input: Array(inputs).fill("x"), dimensions })],
    ["/openai/deployments/d/embeddings", (inputs, dimensions) => ({ input: Array(inputs).fill("x"), dimensions })],
    ["/api/embed", (inputs, dimensions) => ({ model: "m", input: Array(inputs).fill("x"), dimensions })],
    [
      "/v2/embed",
      (inputs, output_dimension) => ({
        model: "m",
        texts: Array(inputs).fill("x"),
        input_type: "search_query",
        output_dimension,
      }),
    ],
    [
      "/v1beta/models/g:batchEmbedContents",
      (inputs, outputDimensionality) => ({ requests: Array(inputs).fill({ ...part, outputDimensionality }) }),
    ],
    [
      "/v1/projects/p/locations/l/publishers/google/models/g:predict",
      (inputs, outputDimensionality) => ({
        instances: Array(inputs).fill({ content: "x" }),
        parameters: { outputDimensionality },
      }),
    ],
  ];

  test.each(embeddings)("%s: inputs and the length of their vectors", async (path, body) => {
    const refusal = async (inputs: number, dimensions: number) => {
      const { status, text } = await post(path, body(inputs, dimensions));
      return [status, text.match(/[\d]+ inputs [^"]*/)?.[0]];
    };
    expect(await refusal(2049, 1)).toEqual([400, "2049 inputs are too many; send at most 2048 at once."]);
    expect(await refusal(97, 65_536)).toEqual([
      400,
      "97 inputs with vectors of 65536 numbers are too many; send at most 96 at once.",
    ]);
    expect((await post(path, body(2048, 1))).status).toBe(200);
  });
});
