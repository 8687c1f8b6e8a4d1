import { expect, it } from "vitest";
import { sharedDouble } from "./support/double.ts";

const double = sharedDouble();

interface Kind {
  path: string;
  body: object;
  /** How many entries of the memory one of them takes. */
  entries: number;
}

const KINDS: Record<string, Kind> = {
  responses: { path: "/v1/responses", body: { model: "m", input: "hello" }, entries: 2 },
  conversations: { path: "/v1/conversations", body: {}, entries: 1 },
  interactions: { path: "/v1beta/interactions", body: { model: "m", input: "hello" }, entries: 1 },
};
/** As docs/server.md says. */
const LIMIT = 1000;

async function create({ path, body }: Kind): Promise<string> {
  const reply = await double.fetch(`http://double${path}`, { method: "POST", body: JSON.stringify(body) });
  return `${path}/${((await reply.json()) as { id: string }).id}`;
}

const statusOf = async (path: string): Promise<number> => (await double.fetch(`http://double${path}`)).status;

it.each(Object.entries(KINDS))("as many %s are remembered as the limit lets", async (_, kind) => {
  double.onMessage("hello", { content: "Hi!" });
  const most = LIMIT / kind.entries;
  const first = await create(kind);
  for (let others = 1; others < most; others++) await create(kind);
  // Asked for, it is the one that was used last.
  expect(await statusOf(first)).toBe(200);
  for (let others = 1; others < most; others++) await create(kind);
  expect(await statusOf(first)).toBe(200);
  for (let others = 0; others < most; others++) await create(kind);
  expect(await statusOf(first)).toBe(404);
});
