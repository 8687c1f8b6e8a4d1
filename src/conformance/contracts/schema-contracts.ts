import type { Stamps } from "../../state/stamps.ts";
import type { CallContract } from "./contract.ts";
import type { Suite } from "./load.ts";
import { sampleOf } from "./sample.ts";
import { makeTemplate } from "./template.ts";

/**
 * What a schema itself says about methods that no contract shows succeeding: its examples, and where it has none, a
 * sample of the result. So a mock can be had from nothing but an OpenRPC document.
 */
export function contractsOfSchema({ schema, contracts, root }: Suite, stamps: Stamps): CallContract[] {
  if (!schema) return [];
  return [...schema.methods.values()].flatMap((method) => {
    if (contracts.some((contract) => contract.kind === "success" && contract.method === method.name)) return [];
    const examples =
      method.examples.length > 0
        ? method.examples
        : [
            {
              pointer: `/methods/${method.name}`,
              params: {},
              result: sampleOf(
                schema.schemaOf(method, "result", false) ?? {},
                schema.document,
                stamps.next("", method.name).random,
              ),
            },
          ];
    return examples.map(
      ({ pointer, params, result }): CallContract => ({
        id: `schema#${pointer}`,
        file: root,
        text: "",
        name: method.name,
        description: "",
        transport: undefined,
        requires: undefined,
        authenticated: true,
        setup: undefined,
        method: method.name,
        assertions: [],
        kind: "success",
        request: template({ jsonrpc: "2.0", id: 1, method: method.name, params }),
        response: template({ jsonrpc: "2.0", id: 1, result }),
        code: undefined,
      }),
    );
  });
}

/** Values of a schema hold no placeholders: what looks like one is meant as it stands. */
function template(message: object) {
  return makeTemplate(JSON.stringify(message).replace(/"\$(?=[A-Za-z_]\w*")/g, '"$$$$'));
}
