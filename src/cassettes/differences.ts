import { isObject } from "../dialects/raw-request.ts";
import { pointerSegment } from "../wire/json-pointer.ts";

/** One place where two values differ; what is not there is undefined. */
export interface ValueDifference {
  pointer: string;
  want: unknown;
  got: unknown;
}

/** Where two JSON values differ, the innermost places. */
export function differences(want: unknown, got: unknown, pointer = ""): ValueDifference[] {
  if (want === got) return [];
  if (Array.isArray(want) && Array.isArray(got)) {
    return Array.from({ length: Math.max(want.length, got.length) }).flatMap((_, index) =>
      differences(want[index], got[index], `${pointer}/${index}`),
    );
  }
  if (isObject(want) && isObject(got)) {
    return [...new Set([...Object.keys(want), ...Object.keys(got)])].flatMap((name) =>
      differences(want[name], got[name], pointer + pointerSegment(name)),
    );
  }
  return [{ pointer, want, got }];
}
