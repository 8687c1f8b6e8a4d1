import { jsonObject, type RawRequest } from "../raw-request.ts";

/**
 * The request with the deployment that its path names as its model, unless the body names a model itself.
 * @throws {ApiError} 400 when the body is no object
 */
export function withDeployment(raw: RawRequest): RawRequest {
  const { deployment } = raw.params;
  const body = jsonObject(raw);
  return deployment === undefined || body["model"] !== undefined ? raw : raw.withJson({ ...body, model: deployment });
}
