import type { RawRequest } from "../raw-request.ts";

/** Model ids are ARNs too, with slashes in them, so that no route can say where one ends. */
export const MODEL_ROUTE = "/model/*";

const PREFIX = "/model/";

/** What is asked of the model: `converse`, `invoke-with-response-stream` … */
export function actionOf({ path }: RawRequest): string {
  const whole = path.endsWith("/") ? path.slice(0, -1) : path;
  return whole.slice(whole.lastIndexOf("/") + 1);
}

/** The model's id or ARN, as it is written where nothing is escaped. */
export function modelOf(raw: RawRequest): string {
  const { path } = raw;
  // The journal decodes requests by the path that they came on, with whatever stood before the route's.
  const start = path.indexOf(PREFIX) + PREFIX.length;
  const escaped = path.slice(start, path.lastIndexOf(`/${actionOf(raw)}`));
  if (!escaped.includes("%")) return escaped;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
