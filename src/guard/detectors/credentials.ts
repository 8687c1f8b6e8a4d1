import type { Detector } from "../detector.ts";

/** Names whose value is a secret whatever it looks like, as members of JSON, variables, settings and fields of forms. */
const NAMES =
  "(?:x[-_])?api[-_]?key|(?:secret|private|master|subscription|signing|encryption|account)[-_]?(?:access[-_]?)?key|" +
  "(?:client|app|consumer|webhook|shared)[-_]?secret|(?:access|refresh|auth|session|security|bearer|id|bot|user|csrf|xsrf|api|oauth)[-_]?token|" +
  "passw(?:or)?d|passphrase|passwd|pwd|secret|credentials?|authorization|private[-_]?key[-_]?id|connection[-_]?string";

const WHOLE_NAME = new RegExp(`(?:^|[-_.]|(?<=[a-z])(?=[A-Z]))(?:${NAMES})$`, "i");

/** Whether a member of this name holds a secret: `password`, `openai_api_key`, `awsSecretAccessKey`. */
export function isSecretName(name: string): boolean {
  if (name.length >= 100) return false;
  let answer = knownNames.get(name);
  if (answer === undefined) {
    answer = WHOLE_NAME.test(name);
    if (knownNames.size >= MOST_NAMES) knownNames.clear();
    knownNames.set(name, answer);
  }
  return answer;
}

/** The same few names are asked for over and over. */
const knownNames = new Map<string, boolean>();
const MOST_NAMES = 1000;

/** How all the names end, with what follows them, in JSON's escapes too: a cheaper look than at all the names. */
const ASSIGNED =
  /(?:key(?:[-_]?id)?|secret|token|passw(?:or)?d|passphrase|passwd|pwd|credentials?|authorization|string)(?:\\*["'])?(?:\s|\\+[bfnrt]){0,8}[:=]/i;

const SECRETS = new RegExp(
  [
    // A member of a JSON object, whatever its value.
    `(?:${NAMES})"\\s{0,8}:\\s{0,8}"(?<secret>(?:[^"\\\\«]|\\\\.)(?:[^"\\\\]|\\\\.)*)`,
    // An assignment, as in code and settings: only what cannot be an expression or a type.
    `(?:${NAMES})["']?\\s{0,8}(?:=>|:=|[:=])\\s{0,8}["']?(?<secretAssigned>(?=[^\\s"'\`]{0,200}\\d)[\\w+/=.!@#$%^*~:?-]{8,})`,
  ].join("|"),
  "dgi",
);

/** Parameters of a query whose value is a credential. */
const PARAMETER =
  "(?:x-(?:amz|goog)-)?(?:api[-_]?key|key|(?:access|auth|id|refresh|security)[-_]?token|token|sig|signature|credential|(?:client[-_]?)?secret|password)";
const WHOLE_PARAMETER = new RegExp(`^${PARAMETER}$`, "i");
const PARAMETERS = new RegExp(`([?&;]${PARAMETER}=)[^&#]*`, "gi");

/** Whether a parameter of a query is a credential by its name. */
export function isCredentialParameter(name: string): boolean {
  return WHOLE_PARAMETER.test(name);
}

/** A URL with its credentials masked, whatever they look like: in its query, and before its host. */
export function maskedUrl(url: string, mask: string): string {
  const masked = url.includes("@") ? url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1") : url;
  return masked.includes("?") ? masked.replace(PARAMETERS, `$1${mask}`) : masked;
}

export const credentials: readonly Detector[] = [
  {
    name: "url-credential",
    family: "credential",
    finds: "user and password in a URL",
    byDefault: true,
    hints: ["@"],
    find: /(?<=:\/\/)[^\s/@:?#"'<>\\«]{0,128}:[^\s/@"'<>\\]{1,256}(?=@)/dg,
  },
  {
    name: "query-credential",
    family: "credential",
    finds: "keys, tokens and signatures in a query (`?key=`, `access_token=`, `sig=`, `X-Amz-Signature=`)",
    byDefault: true,
    hints: ["key=", "token=", "sig=", "signature=", "credential=", "secret=", "password="],
    anyCase: true,
    holds: /(?:key|token|sig|signature|credential|secret|password)=/i,
    find: new RegExp(`[?&;]${PARAMETER}=(?<secret>[^&#\\s"'<>\\\\«]{6,})`, "dgi"),
  },
  {
    name: "bearer-token",
    family: "credential",
    finds: "what follows `Bearer`",
    byDefault: true,
    hints: ["bearer"],
    anyCase: true,
    holds: /bearer/i,
    find: /\bbearer[ +]+(?<secret>(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{16,}=*)/dgi,
  },
  {
    name: "basic-credential",
    family: "credential",
    finds: "user and password in base64 after `Basic`",
    byDefault: true,
    hints: ["basic"],
    anyCase: true,
    holds: /basic/i,
    find: /\bbasic[ +]+(?<secret>[A-Za-z0-9+/_-]{8,}={0,2})/dgi,
    check: (secret) => Buffer.from(secret, "base64").toString("latin1").includes(":"),
  },
  {
    name: "cookie",
    family: "credential",
    finds: "the values of `Cookie:` and `Set-Cookie:`",
    byDefault: true,
    hints: ["cookie"],
    anyCase: true,
    holds: /cookie/i,
    find: /\bcookie["']?\s{0,4}:\s{0,4}["']?(?<secret>[\w!#$%&*+.^`|~-]+=[^\s"'\\«][^"'\r\n\\«]*)/dgi,
  },
  {
    name: "secret",
    family: "credential",
    finds:
      "the value of what is called `password`, `api_key`, `client_secret`, `aws_secret_access_key`, `access_token` …",
    byDefault: true,
    hints: ["key", "secret", "token", "passw", "passp", "pwd", "credential", "authorization", "string"],
    anyCase: true,
    holds: ASSIGNED,
    find: SECRETS,
  },
];
