import type { Operation, Route } from "../operation.ts";
import { jsonObject, type RawRequest } from "../raw-request.ts";
import { encodeAzureError } from "./errors.ts";

export const AZURE = "azure";

const PREFIX = "/openai";
/** Newer clients name the API's version here, older ones in the query (`?api-version=`). */
const VERSION = "/v1";
const DEPLOYMENTS = `${PREFIX}/deployments/`;

/** Where what a deployment is asked for is: `/chat/completions`. */
export function deploymentRoute(path: string): Route {
  return { method: "POST", path: `${DEPLOYMENTS}:deployment${path}` };
}

/** Paths without a deployment are OpenAI's too, behind its provider segment; Azure's clients are told by their name or key. */
export function isAzures(raw: RawRequest): boolean {
  if (raw.path.startsWith(DEPLOYMENTS) || raw.header("api-key") !== undefined) return true;
  return raw.header("user-agent")?.includes("AzureOpenAI") ?? false;
}

/**
 * The request with the deployment that its path names as its model, unless the body names a model itself.
 * @throws {ApiError} 400 when the body is no object
 */
export function withDeployment(raw: RawRequest): RawRequest {
  const { deployment } = raw.params;
  if (deployment === undefined) return raw;
  const body = jsonObject(raw);
  return body["model"] !== undefined ? raw : raw.withJson({ ...body, model: deployment });
}

/**
 * One of OpenAI's operations as Azure has it.
 * @param deployed its path behind a deployment, for those that have one
 */
export function ofAzure(operation: Operation, deployed?: string): Operation {
  const { name, routes, decode } = operation;
  const versioned = routes.filter(({ path }) => path.startsWith(VERSION));
  return {
    ...operation,
    name: name.replace("openai", AZURE),
    routes: [
      ...(deployed === undefined ? [] : [deploymentRoute(deployed)]),
      ...versioned.map(({ method, path }) => ({ method, path: PREFIX + path })),
      ...versioned.map(({ method, path }) => ({ method, path: PREFIX + path.slice(VERSION.length) })),
    ],
    claims: isAzures,
    decode: (raw, memory) => decode(withDeployment(raw), memory),
    encodeError: encodeAzureError,
  };
}
