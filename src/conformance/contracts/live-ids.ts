import type { Contract, SetupCall } from "./contract.ts";
import type { Placeholders } from "./placeholders.ts";
import { type Random, uuid } from "./sample.ts";
import { literalOf, placeholderIn } from "./template.ts";

/** Values that one method gives out at one place of its response, such as the ids of tasks. */
export interface IdKind {
  /** The method that gives them out, and where in its response. */
  method: string;
  pointer: string;
  /** The placeholders that stand for one: `$taskId`, `$taskId2`. */
  names: ReadonlySet<string>;
  /** Methods that make one name nothing any more; undefined for those that are called so. */
  deletedBy: readonly string[] | undefined;
  /** Methods that change what one names; undefined for those that are called so. */
  changedBy: readonly string[] | undefined;
}

/** What is said of an id under a member's name. */
export interface Said {
  /** JSON. */
  text: string;
  /** Whether a client gave it. */
  given: boolean;
}

/** How many values of a kind are kept; a client in a loop would otherwise fill the memory. The oldest are forgotten. */
const MOST_LIVE = 100_000;

const DELETES = /(?:^|[._/:-])(?:remove|delete|destroy)[^._/:-]*$/i;
const CHANGES =
  /(?:^|[._/:-])(?:set|update|change|edit|patch|replace|put|rename|move|mark|pause|resume|start|stop|cancel|finish|complete|close|open|reopen|archive|restore|enable|disable|lock|unlock)[^._/:-]*$/i;

/** Which ids a mock has given out and not taken back. Ids are JSON text: they leave as they came. */
export class LiveIds {
  readonly kinds: readonly IdKind[];
  readonly #byName = new Map<string, IdKind>();
  /** By kind the live ids, oldest first, each with the values that were said of it. */
  readonly #live = new Map<IdKind, Map<string, Map<string, Said>>>();
  readonly #placeholders: Placeholders;
  #count = 0;

  constructor(setup: readonly SetupCall[], contracts: readonly Contract[], placeholders: Placeholders) {
    this.#placeholders = placeholders;
    const kinds = new Map<string, IdKind & { names: Set<string> }>();
    for (const call of [...setup, ...contracts.flatMap((contract) => contract.setup ?? [])]) {
      for (const [name, pointer] of call.bind) {
        const key = `${call.method} ${pointer}`;
        const kind = kinds.get(key) ?? {
          method: call.method,
          pointer,
          names: new Set(),
          deletedBy: undefined,
          changedBy: undefined,
        };
        kind.names.add(name);
        kind.deletedBy ??= placeholders.deletedBy(name);
        kind.changedBy ??= placeholders.changedBy(name);
        kinds.set(key, kind);
        this.#byName.set(name, kind);
      }
    }
    this.kinds = [...kinds.values()];
    this.clear();
  }

  /** The kind of value that a placeholder stands for; undefined for one that no set-up call binds. */
  kindOf(name: string): IdKind | undefined {
    return this.#byName.get(name);
  }

  isLive(kind: IdKind, id: string): boolean {
    return this.#live.get(kind)?.has(id) ?? false;
  }

  all(kind: IdKind): string[] {
    return [...(this.#live.get(kind)?.keys() ?? [])];
  }

  latest(kind: IdKind): string | undefined {
    return this.all(kind).at(-1);
  }

  /**
   * A new id, which lives from now on.
   *
   * @param golden what stands in its place in the golden response; a literal is followed in its form
   */
  create(kind: IdKind, golden: unknown, random: Random, wallMs: number): string {
    const id = JSON.stringify(this.#make(kind, golden, random, wallMs));
    this.adopt(kind, id);
    return id;
  }

  /** An id that the client chose lives from now on. */
  adopt(kind: IdKind, id: string): void {
    const live = this.#live.get(kind) as Map<string, Map<string, Said>>;
    live.set(id, new Map());
    if (live.size > MOST_LIVE) live.delete(live.keys().next().value as string);
  }

  remove(kind: IdKind, id: string): void {
    this.#live.get(kind)?.delete(id);
  }

  /** What was said of an id under a member's name; undefined where nothing was. */
  said(kind: IdKind, id: string, member: string): Said | undefined {
    return this.#live.get(kind)?.get(id)?.get(member);
  }

  say(kind: IdKind, id: string, member: string, said: Said): void {
    this.#live.get(kind)?.get(id)?.set(member, said);
  }

  /** Whether the method's success ends the life of the ids of this kind that it is given. */
  deletes(kind: IdKind, method: string): boolean {
    return kind.deletedBy?.includes(method) ?? DELETES.test(method);
  }

  /** Whether the method's success changes what the ids of this kind that it is given name. */
  changes(kind: IdKind, method: string): boolean {
    return kind.changedBy?.includes(method) ?? CHANGES.test(method);
  }

  clear(): void {
    for (const kind of this.kinds) this.#live.set(kind, new Map());
  }

  #make(kind: IdKind, golden: unknown, random: Random, wallMs: number): unknown {
    this.#count++;
    const name = placeholderIn(golden);
    if (name !== undefined && this.#placeholders.isBuiltIn(name)) return this.#placeholders.make(name, random, wallMs);
    const shaped = [name, ...kind.names].find((other) => other !== undefined && this.#placeholders.hasShape(other));
    if (shaped !== undefined) return this.#placeholders.make(shaped, random, wallMs);
    if (name !== undefined) return uuid(random);
    const literal = literalOf(golden);
    if (typeof literal === "number") return this.#count;
    if (typeof literal !== "string" || this.#placeholders.accepts("$uuid", literal)) return uuid(random);
    return `${literal.replace(/\d+$/, "")}${this.#count}`;
  }
}
