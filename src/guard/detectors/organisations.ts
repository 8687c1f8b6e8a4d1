import type { Detector } from "../detector.ts";

/** Whose account it was: no credentials, but nobody's business. */
export const organisations: readonly Detector[] = [
  id(
    "organisation-id",
    "OpenAI's organisations: `org-…`, `user-…`",
    ["org-", "user-"],
    /(?<![A-Za-z0-9-])(?:org|user)-(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{16,}/dg,
  ),
  id(
    "project-id",
    "OpenAI's projects: `proj_…`; Google Cloud's, in paths: `projects/NAME`",
    ["proj_", "projects"],
    /(?<![A-Za-z0-9])proj_[A-Za-z0-9]{16,}|projects\/(?<secret>[a-z][a-z0-9-]{4,28}[a-z0-9]|\d{6,})(?=\/(?:locations|models|endpoints|publishers|topics|secrets|databases)\b)/dg,
  ),
  id(
    "account-id",
    "AWS's accounts, in ARNs",
    ["arn:aws"],
    /arn:aws[\w-]{0,20}:[\w-]{0,40}:[\w-]{0,40}:(?<secret>\d{12})(?!\d)/dg,
  ),
];

function id(name: string, finds: string, hints: readonly string[], find: RegExp): Detector {
  return { name, family: "organisation", finds, byDefault: true, hints, find };
}
