import { ApiError } from "../dialects/api-error.ts";
import type { ExceptionBoundary, Trace } from "./types.ts";

/** How a recorded failure comes back. */
export type Failure =
  /** An answer with a status, or an event of the provider's in the middle of a stream. */
  | { kind: "error"; error: ApiError }
  /** The connection breaks. */
  | { kind: "broken"; cause: Error }
  /** Nothing comes any more. */
  | { kind: "stalled"; error: ApiError };

/** The failure that a take ends with; undefined for one that went well. */
export function failureOf({ exception_boundary: boundary, stuntdouble: extras }: Trace): Failure | undefined {
  if (!boundary.occurred) return undefined;
  const recorded = extras?.http?.status;
  const kind = kindOf(boundary);
  const status = recorded !== undefined && recorded >= 400 ? recorded : kind.status;
  const message = boundary.message ?? boundary.error_type ?? "The call failed.";
  const error = new ApiError({ status, message: `${message} (replayed)` });
  if (extras?.ending !== undefined || kind.kind === "broken") return { kind: "broken", cause: brokenBy(message) };
  return kind.kind === "stalled" ? { kind: "stalled", error } : { kind: "error", error };
}

/** As it was thrown where it was recorded, with the system's word for it where the message has one. */
function brokenBy(message: string): Error {
  const code = /\bE[A-Z_]{3,}\b/.exec(message)?.[0];
  return Object.assign(new Error(message), code !== undefined && { code });
}

interface Kind {
  kind: Failure["kind"];
  status: number;
}

/** What the words of a message say, before what the name of the exception says. */
const WORDS: readonly [RegExp, Kind][] = [
  [/^(?:guardrail block|streambreaker):/i, { kind: "error", status: 403 }],
  [/\btime(d)? ?out\b|\bdeadline exceeded\b/i, { kind: "stalled", status: 504 }],
  [/\brate.?limit|\btoo many requests\b/i, { kind: "error", status: 429 }],
  [/\bguardrail|\bpermission|\bforbidden\b|\bnot allowed\b/i, { kind: "error", status: 403 }],
  [/\bunauthori[sz]ed\b|\bauthentication\b|\binvalid api key\b/i, { kind: "error", status: 401 }],
  [
    /\bconnection (was )?(reset|refused|closed|broken|aborted)|\bbroke off\b|\bsocket hang up\b|\bE(CONN[A-Z]+|PIPE|NOTFOUND|AI_AGAIN|(HOST|NET)UNREACH)\b/i,
    { kind: "broken", status: 502 },
  ],
];

const TYPES: readonly [RegExp, Kind][] = [
  [/Timeout/i, { kind: "stalled", status: 504 }],
  [/RateLimit/i, { kind: "error", status: 429 }],
  [/Permission|Forbidden|Guardrail/i, { kind: "error", status: 403 }],
  [/Authentication|Unauthorized/i, { kind: "error", status: 401 }],
  [/NotFound/i, { kind: "error", status: 404 }],
  [/BadRequest|ValueError|Validation/i, { kind: "error", status: 400 }],
  [/Connection|BrokenPipe|EOF|Disconnect/i, { kind: "broken", status: 502 }],
  [/Overloaded|Unavailable/i, { kind: "error", status: 503 }],
];

function kindOf({ message = "", error_type: type = "" }: ExceptionBoundary): Kind {
  const byWords = WORDS.find(([words]) => words.test(message))?.[1];
  if (byWords !== undefined) return byWords;
  const status = /\b([45]\d\d)\b/.exec(message)?.[1];
  if (status !== undefined) return { kind: "error", status: Number(status) };
  return TYPES.find(([words]) => words.test(type))?.[1] ?? { kind: "error", status: 500 };
}

/** The class that a status would be raised as. */
export function errorType(status: number): string {
  switch (status) {
    case 400:
    case 422:
      return "BadRequestError";
    case 401:
      return "AuthenticationError";
    case 403:
      return "PermissionError";
    case 404:
      return "NotFoundError";
    case 408:
    case 504:
      return "TimeoutError";
    case 429:
      return "RateLimitError";
    default:
      return status >= 500 ? "InternalServerError" : "APIStatusError";
  }
}
