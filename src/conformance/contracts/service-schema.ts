import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { compileLinearRegex } from "../../guard/linear-regex.ts";
import { pointerSegment } from "../../wire/json-pointer.ts";
import { valueAt } from "./template.ts";

/** One thing that a value breaks. */
export interface SchemaFault {
  pointer: string;
  message: string;
}

/** An error that the schema names. */
export interface NamedError {
  code: number;
  message: string;
}

export interface ParamSchema {
  name: string;
  required: boolean;
  /** Pointer to the schema from the document's root. */
  pointer: string;
}

export interface MethodSchema {
  name: string;
  /** One by one, as OpenRPC has them; undefined where one schema describes them all. */
  params: readonly ParamSchema[] | undefined;
  /** How the document lets them be passed. */
  structure: "by-name" | "by-position" | "either";
  /** Pointer to the schema of all params together. */
  paramsPointer: string | undefined;
  /** Undefined where nothing is said of it. */
  resultPointer: string | undefined;
  errors: readonly NamedError[];
  examples: readonly MethodExample[];
}

/** A pair that the document itself gives. */
export interface MethodExample {
  pointer: string;
  params: Readonly<Record<string, unknown>> | readonly unknown[];
  result: unknown;
}

export type MessagePart = "params" | "result";

type Document = Record<string, unknown>;
const DOCUMENT_KEY = "stuntdouble:service";

/**
 * What a service may be asked and may answer: an OpenRPC document (https://spec.open-rpc.org), in which a method
 * without a result is a notification of the server, or JSON Schemas by method:
 * `{"methods": {"NAME": {"params": …, "result": …, "errors": […]}}, "notifications": {"NAME": {"params": …}}}`.
 */
export class ServiceSchema {
  readonly document: Document;
  readonly methods: ReadonlyMap<string, MethodSchema>;
  readonly notifications: ReadonlyMap<string, MethodSchema>;
  /** Errors that any method may answer. */
  readonly errors: readonly NamedError[];
  readonly #ajv: Ajv;
  readonly #validators = {
    params: new Map<string, ValidateFunction | undefined>(),
    positional: new Map<string, ValidateFunction | undefined>(),
    result: new Map<string, ValidateFunction | undefined>(),
  };

  constructor(document: Document, ajv: Ajv) {
    this.document = document;
    this.#ajv = ajv;
    ajv.addSchema(document, DOCUMENT_KEY);
    const { methods, notifications } = Array.isArray(document["methods"])
      ? readOpenRpc(document)
      : readByMethod(document);
    this.methods = methods;
    this.notifications = notifications;
    this.errors = namedErrors(document, document["errors"]);
  }

  /** Whether a method's params or result are described at all. */
  describes(method: string, part: MessagePart): boolean {
    return this.#validator(method, part, false) !== undefined;
  }

  /** What is wrong with a message's params or result; pointers begin at it. Nothing where nothing is said of it. */
  faults(method: string, part: MessagePart, value: unknown): SchemaFault[] {
    const positional = part === "params" && Array.isArray(value);
    const validate = this.#validator(method, part, positional);
    const subject = part === "params" && value === undefined ? {} : value;
    if (validate === undefined || validate(subject)) return [];
    return faultsOf(validate.errors ?? []);
  }

  /** Every schema with the name that generated code gives it. */
  describedMethods(): MethodSchema[] {
    return [...this.methods.values(), ...this.notifications.values()];
  }

  /** The schema of a message's part, as an object that refers to the document. */
  schemaOf(method: MethodSchema, part: MessagePart, positional: boolean): unknown {
    if (part === "result") return method.resultPointer === undefined ? undefined : reference(method.resultPointer);
    if (method.params === undefined)
      return method.paramsPointer === undefined ? undefined : reference(method.paramsPointer);
    const { params } = method;
    if (!positional) {
      return {
        type: "object",
        properties: Object.fromEntries(params.map((param) => [param.name, reference(param.pointer)])),
        required: params.filter((param) => param.required).map((param) => param.name),
        additionalProperties: false,
      };
    }
    const least = params.filter((param) => param.required).length;
    const items = params.map((param) => reference(param.pointer));
    const closed = isDraft7(this.document)
      ? { ...(items.length > 0 && { items }), additionalItems: false }
      : { ...(items.length > 0 && { prefixItems: items }), items: false };
    return { type: "array", minItems: least, maxItems: params.length, ...closed };
  }

  #validator(name: string, part: MessagePart, positional: boolean): ValidateFunction | undefined {
    const validators = this.#validators[positional ? "positional" : part];
    let validate = validators.get(name);
    if (validate === undefined && !validators.has(name)) {
      const method = this.methods.get(name) ?? this.notifications.get(name);
      const schema = method && this.schemaOf(method, part, positional);
      validate = schema === undefined ? undefined : this.#ajv.compile(schema as object);
      validators.set(name, validate);
    }
    return validate;
  }
}

/** A schema of its own, such as a placeholder's. */
export interface ValueSchema {
  accepts(value: unknown): boolean;
}

/** @throws Error for a document that is no schema, with what is wrong */
export async function loadServiceSchema(document: unknown): Promise<ServiceSchema> {
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new Error("the schema is no JSON object");
  const { methods } = document as Document;
  if (typeof methods !== "object" || methods === null)
    throw new Error('the schema has no "methods": expected an OpenRPC document, or JSON Schemas by method');
  const schema = new ServiceSchema(document as Document, await makeAjv(isDraft7(document as Document), "check"));
  for (const { name } of schema.describedMethods()) {
    try {
      schema.describes(name, "params");
      schema.describes(name, "result");
    } catch (error) {
      throw new Error(`the schema of "${name}" cannot be used: ${(error as Error).message}`);
    }
  }
  return schema;
}

export async function compileSchema(schema: unknown): Promise<ValueSchema> {
  const validate = (await makeAjv(false, "check")).compile(schema as object);
  return { accepts: (value) => validate(value) };
}

/** A pattern that ajv asks. Its text is what ajv tells it from others by. */
class SchemaPattern {
  readonly #regex: ReturnType<typeof compileLinearRegex>;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
    try {
      this.#regex = compileLinearRegex(source);
    } catch (error) {
      throw new Error(`its pattern ${JSON.stringify(source)} cannot be used: ${(error as Error).message}`);
    }
  }

  test(text: string): boolean {
    return this.#regex.test(text);
  }

  toString(): string {
    return this.#source;
  }
}

/** `code` is what generated code would call; code is generated with native patterns only. */
const linearPatterns = Object.assign((source: string) => new SchemaPattern(source), { code: "linearPattern" });

/**
 * @param use `check` schemas from files, whose patterns take linear time whoever wrote them; `own` ones, for which that
 * engine need not be loaded; `generate` code of validators, to be written into a file
 */
export async function makeAjv(draft7: boolean, use: "check" | "own" | "generate"): Promise<Ajv> {
  const [ajvModule, formats] = await Promise.all([
    draft7 ? import("ajv") : import("ajv/dist/2020.js"),
    import("ajv-formats"),
  ]);
  const Validator = "Ajv2020" in ajvModule ? ajvModule.Ajv2020 : ajvModule.Ajv;
  const source = use === "generate";
  // A service's document has many members that are no keywords, and formats that only its authors know.
  const ajv = new Validator({
    strict: false,
    allErrors: true,
    validateSchema: false,
    logger: false,
    code: { source, esm: source, ...(use === "check" && { regExp: linearPatterns }) },
  });
  const addFormats = formats.default as unknown as { default?: (ajv: Ajv) => void } & ((ajv: Ajv) => void);
  (addFormats.default ?? addFormats)(ajv);
  return ajv;
}

/** OpenRPC has draft 7 (https://spec.open-rpc.org/#schema-object). */
export function isDraft7(document: Document): boolean {
  const dialect = document["$schema"];
  return typeof dialect === "string" ? dialect.includes("draft-07") : "openrpc" in document;
}

function reference(pointer: string): { $ref: string } {
  // In a URI fragment characters beyond a few are percent-encoded (RFC 6901, 6).
  return { $ref: `${DOCUMENT_KEY}#${pointer.split("/").map(encodeURIComponent).join("/")}` };
}

export function faultsOf(errors: readonly ErrorObject[]): SchemaFault[] {
  return errors.map(({ instancePath, keyword, params, message = "is wrong" }) => {
    const at = (name: unknown) => instancePath + pointerSegment(String(name));
    switch (keyword) {
      case "required":
        return { pointer: at(params["missingProperty"]), message: "is missing" };
      case "additionalProperties":
        return { pointer: at(params["additionalProperty"]), message: "is no member that the schema has" };
      case "enum":
        return { pointer: instancePath, message: `must be one of ${JSON.stringify(params["allowedValues"])}` };
      case "const":
        return { pointer: instancePath, message: `must be ${JSON.stringify(params["allowedValue"])}` };
      default:
        return { pointer: instancePath, message };
    }
  });
}

interface Described {
  methods: Map<string, MethodSchema>;
  notifications: Map<string, MethodSchema>;
}

function readOpenRpc(document: Document): Described {
  const described: Described = { methods: new Map(), notifications: new Map() };
  for (const [index] of (document["methods"] as unknown[]).entries()) {
    const { pointer, value: method } = follow(document, `/methods/${index}`);
    const name = String(method["name"]);
    const params = list(method["params"]).map((_, at): ParamSchema => {
      const { pointer: place, value } = follow(document, `${pointer}/params/${at}`);
      return { name: String(value["name"]), required: value["required"] === true, pointer: `${place}/schema` };
    });
    const result = method["result"] === undefined ? undefined : follow(document, `${pointer}/result`);
    const into = result || method["x-sent-by"] === "client" ? described.methods : described.notifications;
    const structure = method["paramStructure"];
    into.set(name, {
      name,
      params,
      structure: structure === "by-name" || structure === "by-position" ? structure : "either",
      paramsPointer: undefined,
      resultPointer: result && "schema" in result.value ? `${result.pointer}/schema` : undefined,
      errors: namedErrors(document, method["errors"]),
      examples: openRpcExamples(document, pointer, method, params, structure === "by-position"),
    });
  }
  return described;
}

function openRpcExamples(
  document: Document,
  pointer: string,
  method: Document,
  params: readonly ParamSchema[],
  positional: boolean,
): MethodExample[] {
  return list(method["examples"]).flatMap((_, index) => {
    const place = `${pointer}/examples/${index}`;
    const { pointer: at, value: example } = follow(document, place);
    if (example["result"] === undefined) return [];
    const values = list(example["params"]).map((_, number) => {
      const { value } = follow(document, `${at}/params/${number}`);
      return [String(value["name"] ?? params[number]?.name), value["value"]] as const;
    });
    const result = follow(document, `${at}/result`).value["value"];
    // Documents whose methods are asked by position name their examples' params as they like.
    const named = !positional && values.every(([name]) => params.some((param) => param.name === name));
    return [{ pointer: place, params: named ? Object.fromEntries(values) : values.map(([, value]) => value), result }];
  });
}

function readByMethod(document: Document): Described {
  const read = (group: "methods" | "notifications"): Map<string, MethodSchema> =>
    new Map(
      Object.entries((document[group] ?? {}) as Document).map(([name, value]) => {
        const pointer = `/${group}${pointerSegment(name)}`;
        const members = (typeof value === "object" && value !== null ? value : {}) as Document;
        return [
          name,
          {
            name,
            params: undefined,
            structure: "either",
            paramsPointer: "params" in members ? `${pointer}/params` : undefined,
            resultPointer: "result" in members ? `${pointer}/result` : undefined,
            errors: namedErrors(document, members["errors"]),
            examples: [],
          },
        ];
      }),
    );
  return { methods: read("methods"), notifications: read("notifications") };
}

function namedErrors(document: Document, errors: unknown): NamedError[] {
  return list(errors).flatMap((entry) => {
    if (typeof entry === "number") return [{ code: entry, message: "" }];
    const error = resolve(document, entry);
    return typeof error["code"] === "number" ? [{ code: error["code"], message: String(error["message"] ?? "") }] : [];
  });
}

/** The object at a pointer; where a reference stands there, the place and the object that it leads to. */
function follow(document: Document, pointer: string): { pointer: string; value: Document } {
  const seen = new Set<string>();
  let at = pointer;
  for (;;) {
    const value = valueAt(document, at);
    if (typeof value !== "object" || value === null) throw new Error(`nothing stands at ${at}`);
    const target = (value as Document)["$ref"];
    if (typeof target !== "string") return { pointer: at, value: value as Document };
    if (!target.startsWith("#/")) throw new Error(`${at} refers to ${target}; only places in the document can be used`);
    if (seen.has(target)) throw new Error(`${target} refers to itself`);
    seen.add(target);
    at = decodeURIComponent(target.slice(1));
  }
}

function resolve(document: Document, value: unknown): Document {
  const target = typeof value === "object" && value !== null ? (value as Document)["$ref"] : undefined;
  if (typeof target === "string" && target.startsWith("#/"))
    return follow(document, decodeURIComponent(target.slice(1))).value;
  return (value ?? {}) as Document;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
