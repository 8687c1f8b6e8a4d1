import { valueAt } from "./template.ts";

type Schema = Record<string, unknown>;

/**
 * JSON Schema as TypeScript. A schema that stands under a name (`#/components/schemas/Task`, `#/$defs/Task`) becomes a
 * type of that name; what TypeScript cannot say (patterns, ranges) is left to the validators.
 */
export class SchemaTypes {
  readonly #document: unknown;
  /** Declared types by pointer, in the order in which they are met. */
  readonly #named = new Map<string, string>();
  readonly #declarations: string[] = [];

  constructor(document: unknown) {
    this.#document = document;
  }

  /** The declarations that `typeOf` has asked for. */
  declarations(): string {
    return this.#declarations.join("\n");
  }

  typeOf(schema: unknown): string {
    if (schema === false) return "never";
    if (typeof schema !== "object" || schema === null) return "unknown";
    const own = schema as Schema;
    if (typeof own["$ref"] === "string") return this.#reference(own["$ref"]);
    if ("const" in own) return JSON.stringify(own["const"]);
    if (Array.isArray(own["enum"])) return union(own["enum"].map((value) => JSON.stringify(value)));
    for (const choice of ["oneOf", "anyOf"])
      if (Array.isArray(own[choice])) return union(own[choice].map((branch) => this.typeOf(branch)));
    if (Array.isArray(own["allOf"])) {
      const { allOf, ...rest } = own;
      const parts = [...(own["allOf"] as unknown[]), ...(rest["properties"] ? [rest] : [])];
      return parts.map((part) => `(${this.typeOf(part)})`).join(" & ") || "unknown";
    }
    const types = Array.isArray(own["type"]) ? own["type"] : [own["type"] ?? implied(own)];
    return union(types.map((type) => this.#ofType(type, own)));
  }

  #ofType(type: unknown, schema: Schema): string {
    switch (type) {
      case "string":
        return "string";
      case "integer":
      case "number":
        return "number";
      case "boolean":
        return "boolean";
      case "null":
        return "null";
      case "array":
        return this.#array(schema);
      case "object":
        return this.#object(schema);
      default:
        return "unknown";
    }
  }

  #array(schema: Schema): string {
    const first = schema["prefixItems"] ?? (Array.isArray(schema["items"]) ? schema["items"] : undefined);
    if (!Array.isArray(first)) return `Array<${this.typeOf(schema["items"])}>`;
    const least = typeof schema["minItems"] === "number" ? schema["minItems"] : first.length;
    return `[${first.map((item, index) => `${this.typeOf(item)}${index < least ? "" : "?"}`.replace(/^(.* .*)\?$/, "($1)?")).join(", ")}]`;
  }

  #object(schema: Schema): string {
    const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    const members = Object.entries(properties).map(([name, value]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      return `${documentation(value)}${key}${required.has(name) ? "" : "?"}: ${this.typeOf(value)}`;
    });
    const more = schema["additionalProperties"];
    if (typeof more === "object" && more !== null && members.length === 0)
      return `Record<string, ${this.typeOf(more)}>`;
    if (members.length === 0) return more === false ? "Record<string, never>" : "Record<string, unknown>";
    return `{ ${members.join("; ")} }`;
  }

  #reference(target: string): string {
    const pointer = decodeURIComponent(target.slice(target.indexOf("#") + 1));
    const schema = pointer === "" ? this.#document : valueAt(this.#document, pointer);
    if (schema === undefined) return "unknown";
    const [, name] = /^\/(?:components\/schemas|\$defs|definitions)\/([^/]+)$/.exec(pointer) ?? [];
    if (name === undefined) return this.typeOf(schema);
    const known = this.#named.get(pointer);
    if (known !== undefined) return known;
    const typeName = pascal(name);
    // Before its own type is looked at, or a schema that holds itself would never end.
    this.#named.set(pointer, typeName);
    const declaration = this.typeOf(schema);
    this.#declarations.push(`${documentation(schema)}export type ${typeName} = ${declaration};`);
    return typeName;
  }
}

/** A name for a type: words joined, each with a capital. */
export function pascal(name: string): string {
  const joined = name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
  return /^[A-Za-z]/.test(joined) ? joined : `T${joined}`;
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  if (all.length === 0) return "never";
  return all.length === 1 ? (all[0] as string) : all.map((type) => (/[&]/.test(type) ? `(${type})` : type)).join(" | ");
}

function implied(schema: Schema): string | undefined {
  if (schema["properties"] || schema["required"]) return "object";
  return schema["items"] || schema["prefixItems"] ? "array" : undefined;
}

function documentation(schema: unknown): string {
  const text = (schema as Schema | null)?.["description"];
  return typeof text === "string" ? `/** ${text.replaceAll("*/", "* /").replace(/\s+/g, " ").trim()} */ ` : "";
}
