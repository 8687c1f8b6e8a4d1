import type { Detector, Place } from "../detector.ts";
import { patternGrowth } from "../growth.ts";

/** Tokens of clouds, forges and other services, and the forms that many of them share. */
export const tokens: readonly Detector[] = [
  {
    ...token("private-key", "private key blocks (PEM, OpenSSH, PGP), also when cut", ["PRIVATE"], privateKeys),
    growing: privateKeysGrowing,
    stays: true,
  },
  token("jwt", "JSON Web Tokens", ["eyJ"], /(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{4,16000}(?:\.[\w-]*)?/dg),
  token(
    "aws-key-id",
    "AWS's access key ids: `AKIA…`, `ASIA…`",
    ["AKIA", "ASIA", "ABIA", "ACCA"],
    /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/dg,
  ),
  token(
    "azure-secret",
    "Azure: client secrets (`…Q~…`), `AccountKey=…`, `SharedAccessKey=…`",
    ["Q~", "AccountKey=", "SharedAccessKey="],
    /(?<![\w.~-])[\w~.-]{3}\dQ~[\w~.-]{31,34}|(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,}={0,2})/dg,
  ),
  token(
    "github-token",
    "GitHub: `ghp_…`, `gho_…`, `github_pat_…`",
    ["gh", "github_pat_"],
    /gh[pousr]_\w{30,}|github_pat_\w{22,}/dg,
  ),
  token(
    "gitlab-token",
    "GitLab: `glpat-…` and its like",
    ["gl"],
    /gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|soat|ffct|oas)-[\w.-]{20,}/dg,
  ),
  token("npm-token", "npm: `npm_…`", ["npm_"], /npm_[A-Za-z0-9]{30,}/dg),
  token("pypi-token", "PyPI: `pypi-…`", ["pypi-"], /pypi-[\w-]{40,}/dg),
  token(
    "slack-token",
    "Slack: `xoxb-…` and its like, webhook addresses",
    ["xox", "xapp-", "hooks.slack.com"],
    /xox[a-z]-[\w-]{10,}|xapp-\d-[\w-]{10,}|hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[\w/-]{20,})/dg,
  ),
  token(
    "stripe-key",
    "Stripe: `sk_live_…`, `rk_test_…`, `whsec_…`",
    ["k_live_", "k_test_", "whsec_"],
    /[srp]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}=*/dg,
  ),
  token(
    "discord-webhook",
    "Discord's webhook addresses",
    ["webhooks"],
    /discord(?:app)?\.com\/api\/webhooks\/(?<secret>\d{15,}\/[\w-]{30,})/dg,
  ),
  token("telegram-token", "Telegram's bot tokens", [":AA"], /(?<!\d)\d{8,10}:AA[\w-]{32,}/dg),
  token("sendgrid-key", "SendGrid: `SG.…`", ["SG."], /(?<![A-Za-z0-9])SG\.[\w-]{16,32}\.[\w-]{30,}/dg),
  token(
    "twilio-key",
    "Twilio: `SK` and 32 hexadecimal digits",
    ["SK"],
    /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/dg,
  ),
  token(
    "service-token",
    "Shopify, DigitalOcean, Docker, Vault, Linear, Notion, Figma, Postman, Sentry, Atlassian, Supabase, Grafana, New Relic, Doppler, Heroku, CircleCI, Square, Mailgun, age",
    [
      ...["shpat_", "shpca_", "shppa_", "shpss_", "doo_v1_", "dop_v1_", "dor_v1_", "dckr_pat_", "hvs.", "hvb.", "hvr."],
      ...["lin_api_", "ntn_", "figd_", "PMAK-", "sntrys_", "ATATT3", "ATBB", "sbp_", "sb_secret_", "glsa_", "glc_"],
      ...["NRAK-", "dp.pt.", "HRKU-", "CCIPAT_", "sq0", "key-", "AGE-SECRET-KEY-"],
    ],
    new RegExp(
      [
        /shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|do[opr]_v1_[a-f0-9]{40,}|dckr_pat_[\w-]{20,}|(?<![A-Za-z0-9])hv[sbr]\.[\w-]{24,}/,
        /lin_api_[A-Za-z0-9]{30,}|(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|PMAK-[a-f0-9]{24}-[a-f0-9]{30,}/,
        /sntrys_[\w+/=-]{40,}|ATATT3[\w=-]{60,}|(?<![A-Za-z0-9])ATBB[A-Za-z0-9]{24,}|sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}/,
        /glsa_\w{30,}|(?<![A-Za-z0-9])glc_[\w+/=-]{30,}|NRAK-[A-Z0-9]{27}|dp\.pt\.[A-Za-z0-9]{40,}|HRKU-[\w-]{36,}/,
        /CCIPAT_\w{30,}|sq0[a-z]{3}-[\w-]{22,}|(?<![A-Za-z0-9-])key-[0-9a-f]{32}|AGE-SECRET-KEY-1[A-Z0-9]{50,}/,
      ]
        .map((part) => part.source)
        .join("|"),
      "dg",
    ),
  ),
];

function token(name: string, finds: string, hints: readonly string[], find: Detector["find"]): Detector {
  return { name, family: "token", finds, byDefault: true, hints, find };
}

const BLOCK =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)[\s\S])*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const beginnings = patternGrowth(BLOCK);

/** A block without an end grows as long as its end may come. */
function privateKeysGrowing(text: string, from: number): number {
  for (let at = beginnings(text, from); at < text.length; at = beginnings(text, at + 1)) {
    if (text.length - at <= LONGEST_BLOCK) return at;
  }
  return text.length;
}

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const LINES = /(?:\s+[A-Za-z0-9+/=]+(?![A-Za-z0-9+/=:,. -]))*/y;
/** More than a block of the longest keys has. */
const LONGEST_BLOCK = 32 * 1024;

/** A block without its end was cut; it ends with its last line of base64, since part of a key is enough to be a secret. */
function privateKeys(text: string): Place[] {
  const places: Place[] = [];
  let closing: RegExpExecArray | null | undefined;
  BEGIN.lastIndex = 0;
  for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
    const after = BEGIN.lastIndex;
    // The next end is looked for once, however many beginnings there are before it.
    if (closing === undefined || (closing !== null && closing.index < after)) {
      END.lastIndex = after;
      closing = END.exec(text);
    }
    let end: number;
    if (closing !== null && closing.index - after <= LONGEST_BLOCK) end = closing.index + closing[0].length;
    else {
      LINES.lastIndex = after;
      end = LINES.exec(text) ? LINES.lastIndex : after;
    }
    places.push({ start: begin.index, end });
    BEGIN.lastIndex = end;
  }
  return places;
}
