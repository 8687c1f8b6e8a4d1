import { catchDispatched } from "./catch-dispatched.ts";
import { catchHttp } from "./catch-http.ts";
import type { FindScope } from "./scope.ts";

/**
 * Hands calls to providers to the scope in which they are made: those of `fetch` and undici, and those of `node:http`
 * and `node:https`.
 * @returns lets them go again
 */
export function catchCalls(find: FindScope): () => void {
  const letGo = [catchDispatched(find), catchHttp(find)];
  return () => {
    for (const each of letGo) each();
  };
}
