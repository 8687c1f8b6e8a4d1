import { ApiError } from "../dialects/api-error.ts";
import type { RawRequest } from "../dialects/raw-request.ts";

/** Lets in who sends a key that is known, in any of the forms in which providers take theirs. */
export class InboundKeys {
  readonly #keys: ReadonlySet<string>;

  /** @throws {RangeError} when there is no key, or an empty one, which would let in everybody or nobody */
  constructor(keys: readonly string[]) {
    if (keys.length === 0 || keys.some((key) => key.trim() === "")) {
      throw new RangeError("auth.apiKeys needs at least one key, and none of them empty.");
    }
    this.#keys = new Set(keys);
  }

  /**
   * Why a request is not let in; undefined when it is. Every key that it sends has to be known: a client that sends
   * a wrong one in one place and a right one in another has a fault that its provider would show.
   */
  refusal(raw: RawRequest): ApiError | undefined {
    const sent = keysOf(raw);
    if (sent.length > 0 && sent.every(({ key }) => key !== undefined && this.#keys.has(key))) return undefined;
    const wrong = sent.find(({ key }) => key === undefined || !this.#keys.has(key));
    // Never the key itself: messages end up in logs.
    const message =
      wrong === undefined
        ? "No API key was sent. Send one of this double's keys, as you would send the provider's."
        : `Invalid API key in ${wrong.place}: it is none of this double's.`;
    return new ApiError({ status: 401, message, type: "authentication_error", code: "invalid_api_key" });
  }
}

interface SentKey {
  place: string;
  /** Undefined when the place holds something of another form. */
  key: string | undefined;
}

const KEY_HEADERS = ["x-api-key", "x-goog-api-key", "api-key", "xi-api-key"] as const;

function keysOf(raw: RawRequest): SentKey[] {
  const sent: SentKey[] = [];
  const authorization = raw.header("authorization");
  if (authorization !== undefined) sent.push({ place: "authorization", key: keyOfAuthorization(authorization) });
  for (const place of KEY_HEADERS) {
    const key = raw.header(place);
    if (key !== undefined) sent.push({ place, key: key.trim() });
  }
  // Gemini's clients may put it there.
  const key = raw.url.includes("key=") ? raw.query.get("key") : null;
  if (key !== null) sent.push({ place: "the query's key", key });
  return sent;
}

/** `Bearer …`, `Key …`, and of an AWS signature the access key's id: its secret is not sent. */
function keyOfAuthorization(value: string): string | undefined {
  const plain = /^(?:bearer|key) +(\S+) *$/i.exec(value);
  if (plain !== null) return plain[1];
  return /^AWS4-HMAC-SHA256 .*?\bCredential=([^/\s,]+)\//.exec(value)?.[1];
}
