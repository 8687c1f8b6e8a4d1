import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StuntDouble } from "../../src/index.ts";

/** What Amazon Bedrock answers when it counts tokens: the double's answers have the same members. */
const folder = join(process.env["STUNTDOUBLE_WILD"] ?? "", "http/bedrock");

interface Recorded {
  request: { path: string; body: unknown };
  response: { status: number; body: Record<string, unknown> };
}

const recordings = readdirSync(folder).flatMap((file) => {
  const { interactions } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { interactions: Recorded[] };
  return interactions
    .filter(({ request }) => request.path.endsWith("/count-tokens"))
    .map((recorded) => ({ file, recorded }));
});

test("there are recordings", () => expect(recordings.length).toBeGreaterThan(0));

test.each(recordings)("$file", async ({ recorded: { request, response } }) => {
  const double = new StuntDouble();
  const { status, body } = response;
  if (status !== 200) double.nextRequestError(status, { message: body["message"] as string });
  const reply = await double.fetch(`http://double${request.path}`, {
    method: "POST",
    body: JSON.stringify(request.body),
  });
  expect(reply.status).toBe(status);
  const answer = (await reply.json()) as Record<string, unknown>;
  if (status === 200) expect(answer).toEqual({ inputTokens: expect.any(Number) });
  else expect(answer).toEqual(body);
});
