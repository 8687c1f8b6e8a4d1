import { isSecretName } from "./detectors/credentials.ts";

/** Headers of requests and responses whose whole value is a secret, and the detector that it counts for. */
const BY_NAME: Readonly<Record<string, string>> = {
  authorization: "secret",
  "proxy-authorization": "secret",
  "x-api-key": "secret",
  "api-key": "secret",
  "x-goog-api-key": "secret",
  "xi-api-key": "secret",
  "ocp-apim-subscription-key": "secret",
  "x-amz-security-token": "secret",
  "x-auth-token": "secret",
  "x-csrf-token": "secret",
  cookie: "cookie",
  "set-cookie": "cookie",
  "openai-organization": "organisation-id",
  "anthropic-organization-id": "organisation-id",
  "openai-project": "project-id",
  "x-goog-user-project": "project-id",
};

/** The detector that a header's value counts for whatever it looks like; undefined for a header that is none of these. */
export function detectorOfHeader(name: string): string | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(BY_NAME, lower) ? BY_NAME[lower] : isSecretName(lower) ? "secret" : undefined;
}

/** Whether a header's whole value is a secret. */
export function isCredentialHeader(name: string): boolean {
  return detectorOfHeader(name) !== undefined;
}

/** Which part of such a header's value is the secret: without the scheme, or the name and attributes of a cookie. */
export function secretPartOf(detector: string, value: string): { start: number; end: number } {
  if (detector === "cookie") {
    const [, before = "", secret = value] = /^([\w!#$%&*+.^`|~-]+=)([^;]*);?/.exec(value) ?? [];
    const isSetCookie = /;\s*(?:path|expires|max-age|domain|secure|httponly|samesite)\b/i.test(value);
    return isSetCookie ? { start: before.length, end: before.length + secret.length } : { start: 0, end: value.length };
  }
  const scheme =
    detector === "secret" ? (/^(?:Bearer|Basic|Key|Token|Bot|ApiKey)\s+/i.exec(value)?.[0].length ?? 0) : 0;
  return { start: scheme, end: value.length };
}
