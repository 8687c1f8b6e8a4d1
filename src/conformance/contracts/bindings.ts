import type { Placeholders } from "./placeholders.ts";
import type { Random } from "./sample.ts";
import { type Hole, render, type Template } from "./template.ts";

/** What placeholders stand for in one run, as JSON text. */
export class Bindings {
  readonly bound = new Map<string, string>();
  readonly #placeholders: Placeholders;
  readonly #random: Random;
  readonly #wallMs: () => number;

  constructor(placeholders: Placeholders, random: Random, wallMs: () => number) {
    this.#placeholders = placeholders;
    this.#random = random;
    this.#wallMs = wallMs;
  }

  /**
   * A request as it is sent. A placeholder that nothing is bound to gets a new value; one of the suite's own keeps it,
   * so that the response has to give it back.
   */
  fill(template: Template): string {
    return render(template, (hole) => this.#value(hole));
  }

  #value({ name, isMemberName }: Hole): string {
    const bound = this.bound.get(name);
    if (bound !== undefined) return bound;
    if (isMemberName && !this.#placeholders.knows(name)) return JSON.stringify(name);
    const made = JSON.stringify(this.#placeholders.make(name, this.#random, this.#wallMs()));
    if (!this.#placeholders.isBuiltIn(name)) this.bound.set(name, made);
    return made;
  }
}

/** Names in a template that nothing gives a value to: neither the format, nor the suite, nor a set-up call. */
export function unboundIn(template: Template, placeholders: Placeholders, bound: ReadonlySet<string>): Hole[] {
  return template.holes.filter(
    ({ name, isMemberName }) => name !== "" && !isMemberName && !placeholders.knows(name) && !bound.has(name),
  );
}
