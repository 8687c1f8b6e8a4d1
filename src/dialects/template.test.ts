import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Call } from "./operation.ts";
import { HoleContext, Template } from "./template.ts";

const callOf = (model: string): Call => ({ view: { model } }) as unknown as Call;

/** A piece of a text: what it is with holes, and what it comes to. */
type Piece = (context: HoleContext) => { text: string; filled(model: string, id: string, created: number): string };

const literal = fc.string({ unit: "grapheme" }).map(
  (text): Piece =>
    () => ({ text: inString(text), filled: () => inString(text) }),
);
const hole = fc.constantFrom<Piece>(
  (context) => {
    const text = context.id("msg_");
    return { text, filled: (_, id) => `msg_${id}${text.slice(-4)}` };
  },
  (context) => ({ text: context.model, filled: (model) => inString(model) }),
  (context) => ({ text: context.createdIso, filled: (_, __, created) => new Date(created * 1000).toISOString() }),
  (context) => ({ text: JSON.stringify(context.created), filled: (_, __, created) => String(created) }),
  (context) => ({
    text: JSON.stringify(context.echo((call) => ({ "gefragt ist": call.view.model }))),
    filled: (model) => JSON.stringify({ "gefragt ist": model }),
  }),
  (context) => ({ text: JSON.stringify(context.echo(() => undefined)), filled: () => "null" }),
);
const inString = (text: string): string => JSON.stringify(text).slice(1, -1);
const calls = fc.array(
  fc.record({
    model: fc.oneof(fc.constant("gpt-5"), fc.string({ unit: "grapheme" })),
    id: fc.stringMatching(/^[a-z0-9]{20}$/),
    created: fc.integer({ min: 1, max: 4_000_000_000 }),
  }),
  { minLength: 1, maxLength: 12 },
);

describe("a template", () => {
  it("fills its holes for each call anew, whoever holds what of the calls before", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(literal, hole)), calls, fc.boolean(), (pieces, asked, done) => {
        const context = new HoleContext({}, 20);
        const made = pieces.map((piece) => piece(context));
        const template = new Template(made.map(({ text }) => text).join(""), context.echoes);
        const held: { lent: Uint8Array[]; expected: string }[] = [];
        for (const { model, id, created } of asked) {
          const expected = made.map(({ filled }) => filled(model, id, created)).join("");
          const print = template.print(callOf(model), { id, created });
          expect(print.length).toBe(Buffer.byteLength(expected));
          expect(print.bytes().toString()).toBe(expected);
          expect(Buffer.from(print.latin1(), "latin1").toString()).toBe(expected);
          print.lend((lent) => {
            expect(Buffer.concat(lent).toString()).toBe(expected);
            if (!done) held.push({ lent, expected });
            return done;
          });
        }
        for (const { lent, expected } of held) expect(Buffer.concat(lent).toString()).toBe(expected);
      }),
    );
  });

  it("knows whether it is the same for every call", () => {
    const context = new HoleContext({}, 20);
    expect(new Template("{}", []).isFixed).toBe(true);
    expect(new Template(`{"id":"${context.id("x")}"}`, []).isFixed).toBe(false);
  });
});
