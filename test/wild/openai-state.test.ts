import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StuntDouble } from "../../src/index.ts";

/** What OpenAI answers without a model: conversations, compactions. The double's answers have the same shape. */
const root = process.env["STUNTDOUBLE_WILD"];
if (root === undefined)
  throw new Error("STUNTDOUBLE_WILD must name the folder of the recordings; npm run test:wild sets it.");
const folder = join(root, "http/openai");

interface Recorded {
  request: { method: string; path: string; body?: unknown };
  response: { status: number; body: Record<string, unknown> };
}

const STATE = /^\/v1\/(conversations(\/\w+)?|responses\/compact)$/;

const recordings = readdirSync(folder)
  .map((file) => ({ file, interactions: interactionsOf(file) }))
  .filter(({ interactions }) => interactions.some(({ request }) => STATE.test(request.path)));

test.each(recordings)("$file", async ({ interactions }) => {
  const double = new StuntDouble({ fixtures: [{ match: {}, response: { content: "Yes." } }] });
  // The recorded ids of responses and conversations, and the double's.
  const ids = new Map<string, string>();
  const renamed = (text: string): string => text.replace(/\b(conv|resp)_\w+/g, (id) => ids.get(id) ?? id);
  for (const { request, response } of interactions) {
    const body = request.method === "POST" ? { body: renamed(JSON.stringify(request.body)) } : {};
    const reply = await double.fetch(`http://double${renamed(request.path)}`, { method: request.method, ...body });
    const answer = (await reply.json()) as Record<string, unknown>;
    ids.set(response.body["id"] as string, answer["id"] as string);
    if (!STATE.test(request.path)) continue;
    expect({ status: reply.status, body: shapeOf(answer) }).toEqual({
      status: response.status,
      body: shapeOf(response.body),
    });
  }
});

function interactionsOf(file: string): Recorded[] {
  const { interactions } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { interactions: Recorded[] };
  return interactions.filter(({ request }) => STATE.test(request.path) || request.path === "/v1/responses");
}

/** Names and types of members; of what has a type, that too, since lists hold things of several. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((element) => JSON.stringify(shapeOf(element))))].sort();
  if (typeof value !== "object" || value === null) return typeof value;
  const entries = Object.entries(value).map(([name, member]) => [name, name === "type" ? member : shapeOf(member)]);
  return Object.fromEntries(entries.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)));
}
