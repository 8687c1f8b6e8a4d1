import { parsePointer } from "../../wire/json-pointer.ts";
import { fitsGolden, type Given } from "./echo.ts";
import type { IdKind, LiveIds } from "./live-ids.ts";
import type { Placeholders } from "./placeholders.ts";
import { type Beside, type EchoHole, fillMessage, isEcho, type MessagePlan } from "./response-plan.ts";
import type { Random } from "./sample.ts";
import type { Hole } from "./template.ts";

/** The thing that an element of a list is about. */
type Element = { kind: IdKind; id: string } | undefined;

/** What comes from the request. */
export interface Requested {
  /** What the contract's placeholders stand for, as JSON text. */
  captured: ReadonlyMap<string, string>;
  given: Given;
  /** Whether the method changes what the ids name that it is given. */
  changes(kind: IdKind): boolean;
}

export const NOTHING_REQUESTED: Requested = { captured: new Map(), given: new Map(), changes: () => false };

/** One request with its answer and the events that it causes: all of them speak of the same things. */
export class Exchange {
  readonly #requested: Requested;
  readonly #ids: LiveIds;
  readonly #placeholders: Placeholders;
  readonly #random: Random;
  readonly #wallMs: number;
  readonly #created = new Map<IdKind, string>();
  /** Values of the suite's own placeholders, the same throughout. */
  readonly #own = new Map<string, string>();
  /** What the request is about, where the method changes that. */
  #changed: Element;

  constructor(requested: Requested, ids: LiveIds, placeholders: Placeholders, random: Random, wallMs: number) {
    this.#requested = requested;
    this.#ids = ids;
    this.#placeholders = placeholders;
    this.#random = random;
    this.#wallMs = wallMs;
  }

  /** The request succeeds: gives out the ids that the response has, and keeps what the client said of them. */
  begin(plan: MessagePlan): void {
    for (const { kind, golden, param } of plan.creates.values()) {
      const chosen = param === undefined ? undefined : this.#requested.given.get(param);
      if (chosen !== undefined) this.#ids.adopt(kind, chosen);
      const id = chosen ?? this.#ids.create(kind, golden, this.#random, this.#wallMs);
      this.#created.set(kind, id);
      this.#keep(kind, id);
    }
    if (this.#created.size > 0) return;
    this.#changed = this.#named((kind) => this.#requested.changes(kind));
    if (this.#changed) this.#keep(this.#changed.kind, this.#changed.id);
  }

  /** The message as text. `id` is the request's, as JSON text. */
  text(plan: MessagePlan, id: string): string {
    return fillMessage(plan, this.#ids, {
      value: (hole, element) =>
        hole.pointer === "/id" && element === undefined && hole.name === "" ? id : this.#value(plan, hole, element),
    });
  }

  #keep(kind: IdKind, id: string): void {
    for (const [name, text] of this.#requested.given) this.#ids.say(kind, id, name, { text, given: true });
  }

  #value(plan: MessagePlan, hole: Hole, element: Element): string {
    const created = element === undefined ? plan.creates.get(hole.pointer) : undefined;
    if (created) return this.#created.get(created.kind) as string;
    if (isEcho(hole)) return this.#echoed(hole, element);
    const kind = this.#ids.kindOf(hole.name);
    if (kind) {
      return (
        this.#known({ kind, name: hole.name }, element) ??
        this.#saidOf(hole, element ?? this.#about()) ??
        this.#ids.latest(kind) ??
        this.#ids.create(kind, hole.name, this.#random, this.#wallMs)
      );
    }
    if (hole.isMemberName && !this.#placeholders.knows(hole.name)) return JSON.stringify(hole.name);
    if (!this.#placeholders.isBuiltIn(hole.name)) {
      const own = this.#requested.captured.get(hole.name) ?? this.#own.get(hole.name) ?? this.#make(hole.name);
      this.#own.set(hole.name, own);
      return own;
    }
    return this.#detail(hole, element);
  }

  /** A placeholder's value, the same whenever it is said of the same thing. */
  #detail(hole: Hole, element: Element): string {
    const about = element ?? this.#about();
    const said = this.#saidOf(hole, about);
    if (said !== undefined) return said;
    const made = this.#make(hole.name);
    if (about) this.#ids.say(about.kind, about.id, memberOf(hole), { text: made, given: false });
    return made;
  }

  #echoed(hole: EchoHole, element: Element): string {
    const { param, literal, beside, effect } = hole;
    const given = param === undefined ? undefined : this.#requested.given.get(param);
    if (given !== undefined && this.#fits(hole, given)) return given;
    if (literal === undefined) return this.#detail(hole, element);
    const id = beside && this.#known(beside, element);
    if (!beside || id === undefined) return literal;
    const member = memberOf(hole);
    const said = this.#ids.said(beside.kind, id, member);
    if (this.#changed?.id === id && (effect || !said?.given)) {
      this.#ids.say(beside.kind, id, member, { text: literal, given: false });
      return literal;
    }
    return said && this.#fits(hole, said.text) ? said.text : literal;
  }

  #fits({ literal, name }: EchoHole, text: string): boolean {
    return literal === undefined ? this.#placeholders.accepts(name, JSON.parse(text)) : fitsGolden(literal, text);
  }

  #saidOf(hole: Hole, about: Element): string | undefined {
    const said = about && this.#ids.said(about.kind, about.id, memberOf(hole));
    return said && this.#placeholders.accepts(hole.name, JSON.parse(said.text)) ? said.text : undefined;
  }

  /** The id that a placeholder stands for here; undefined where neither the request nor the response says. */
  #known({ kind, name }: Beside, element: Element): string | undefined {
    if (element?.kind === kind) return element.id;
    return (name === undefined ? undefined : this.#requested.captured.get(name)) ?? this.#created.get(kind);
  }

  /** The one thing that the exchange is about. */
  #about(): Element {
    for (const [kind, id] of this.#created) return { kind, id };
    return this.#named(() => true);
  }

  /** The first thing that the request names. */
  #named(counts: (kind: IdKind) => boolean): Element {
    for (const [name, id] of this.#requested.captured) {
      const kind = this.#ids.kindOf(name);
      if (kind && counts(kind)) return { kind, id };
    }
    return undefined;
  }

  #make(name: string): string {
    return JSON.stringify(this.#placeholders.make(name, this.#random, this.#wallMs));
  }
}

function memberOf({ pointer }: Hole): string {
  return parsePointer(pointer.slice(pointer.lastIndexOf("/")))[0] as string;
}
