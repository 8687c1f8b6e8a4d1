import fc from "fast-check";
/** Letters and digits of any length, the same for the same seed; built here so that no secret stands in the source. */
export const filler = (length: number, alphabet = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z") =>
  Array.from({ length }, (_, at) => alphabet[(at * 7 + length) % alphabet.length]).join("");
const hex = (length: number) => filler(length, "0a1b2c3d4e5f6789");
const capitals = (length: number) => filler(length, "A2B3C4D5E6F7G");
const jwt = [`eyJ${filler(20)}`, `eyJ${filler(40)}`, filler(30)].join(".");

/** One of each kind, by its detector. */
export const SECRETS: Readonly<Record<string, string>> = {
  "anthropic-key": `sk-${"ant"}-api03-${filler(40)}`,
  "openrouter-key": `sk-${"or"}-v1-${hex(64)}`,
  "openai-key": `sk-${"proj"}-${filler(60)}`,
  "google-key": `AI${"za"}${filler(35)}`,
  "groq-key": `gsk${"_"}${filler(52)}`,
  "xai-key": `xai${"-"}${filler(80)}`,
  "huggingface-key": `hf${"_"}${filler(34)}`,
  "replicate-key": `r8${"_"}${filler(37)}`,
  "perplexity-key": `pplx${"-"}${filler(48)}`,
  "fireworks-key": `fw${"_"}${filler(24)}`,
  "together-key": `tgp${"_"}v1_${filler(43)}`,
  "cerebras-key": `csk${"-"}${filler(48)}`,
  "nvidia-key": `nvapi${"-"}${filler(64)}`,
  "voyage-key": `pa${"-"}${filler(43)}`,
  "jina-key": `jina${"_"}${filler(60)}`,
  "tavily-key": `tvly${"-"}${filler(32)}`,
  "elevenlabs-key": `sk${"_"}${hex(48)}`,
  "pinecone-key": `pcsk${"_"}${filler(70)}`,
  "langsmith-key": `lsv2${"_"}pt_${hex(32)}_${hex(10)}`,
  "vercel-key": `vck${"_"}${filler(56)}`,
  "databricks-key": `dapi${hex(32)}`,
  "bedrock-key": `ABSK${filler(100)}`,
  "azure-openai-key": `${filler(52)}JQQJ9${filler(27)}`,
  "fal-key": `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}:${hex(32)}`,
  "private-key": `-----BEGIN RSA ${"PRIVATE"} KEY-----\n${filler(64)}\n${filler(60)}==\n-----END RSA ${"PRIVATE"} KEY-----`,
  jwt,
  "aws-key-id": `AK${"IA"}${capitals(16)}`,
  "azure-secret": `abc8Q${"~"}${filler(33)}`,
  "github-token": `ghp${"_"}${filler(36)}`,
  "gitlab-token": `glpat${"-"}${filler(20)}`,
  "npm-token": `npm${"_"}${filler(36)}`,
  "pypi-token": `pypi${"-"}${filler(60)}`,
  "slack-token": `xoxb${"-"}${filler(40)}`,
  "stripe-key": `sk${"_live_"}${filler(24)}`,
  "telegram-token": `123456789:AA${filler(33)}`,
  "sendgrid-key": `SG${"."}${filler(22)}.${filler(43)}`,
  "twilio-key": `SK${hex(32)}`,
  "service-token": `shp${"at_"}${hex(32)}`,
  "organisation-id": `org-${filler(24)}`,
  "project-id": `proj_${filler(24)}`,
  email: "Ada.Lovelace+notes@example.co.uk",
  iban: "DE89 3704 0044 0532 0130 00",
  card: "4111 1111 1111 1111",
  "national-id-us": "123-45-6789",
  "national-id-es": "12345678Z",
  "national-id-fr": "2 55 08 14 168 025 38",
  "national-id-br": "529.982.247-25",
  "national-id-in": "2341 2341 2346",
  "national-id-cn": "11010519491231002X",
  phone: "+49 170 1234567",
  "home-folder": "/home/ada",
};

/** Other spellings of what a detector finds. */
export const VARIANTS: readonly (readonly [detector: string, text: string])[] = [
  ["iban", "de89 3704 0044 0532 0130 00"],
  ["iban", "gb82west12345698765432"],
  ["iban", "DE89-3704-0044-0532-0130-00"],
  ["iban", "FR1420041010050500013M02606"],
  ["phone", "020 7946 0958"],
  ["phone", "(0131) 496 0123"],
  ["phone", "07700 900123"],
  ["phone", "07700-900-123"],
  ["phone", "01632 960001"],
  ["phone", "0808 157 0123"],
  ["phone", "(415) 555-0123"],
  ["phone", "415.555.0123"],
  ["card", "4111-1111-1111-1111"],
  ["card", "378282246310005"],
];

/** Those that are known by what stands around them: a text, and what of it is the secret. */
export const IN_CONTEXT: Readonly<Record<string, [string, string]>> = {
  "url-credential": ["postgres://ada:hunter2secret@db.example/x", "ada:hunter2secret"],
  "query-credential": ["https://example.com/v1?key=plainbutprivate", "plainbutprivate"],
  "bearer-token": [`Authorization: Bearer ${filler(20)}`, filler(20)],
  "basic-credential": ["Authorization: Basic YWRhOmh1bnRlcjI=", "YWRhOmh1bnRlcjI="],
  cookie: ["Cookie: session=opensesame", "session=opensesame"],
  secret: ['{"client_secret":"opensesame"}', "opensesame"],
  "account-id": ["arn:aws:bedrock:us-east-1:123456789012:model/x", "123456789012"],
  "discord-webhook": [`https://discord.com/api/webhooks/123456789012345678/${filler(60)}`, filler(60)],
  "ip-address": ["at 192.168.17.4 now", "192.168.17.4"],
  "host-name": ["on build7.corp.example.com now", "build7.corp.example.com"],
};

/** All that a text says, with every encoding of the list undone, over and over. */
export function unfolded(text: string, depth = 0): string {
  if (depth > 4) return text;
  const layers = [text];
  const unescaped = text.replace(/\\u([0-9a-fA-F]{4})|\\(["\\/nt])/g, (_, code, short) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : ({ n: "\n", t: "\t" }[short as string] ?? short),
  );
  if (unescaped !== text) layers.push(unfolded(unescaped, depth + 1));
  try {
    const decoded = decodeURIComponent(text.replace(/%(?![0-9A-F]{2})/gi, "%25"));
    if (decoded !== text) layers.push(unfolded(decoded, depth + 1));
  } catch {}
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{10,}/g)) {
    const decoded = Buffer.from(run, "base64").toString("utf8");
    layers.push(run.length > 100 ? unfolded(decoded, depth + 3) : decoded);
  }
  return layers.join("\0");
}

export const secret = fc.constantFrom(...Object.values(SECRETS), ...VARIANTS.map(([, text]) => text));
/** Words that are no part of a secret, with the characters that need escapes. */
export const plain = fc
  .array(
    fc.constantFrom(
      "Hello",
      "world",
      "\n",
      "\t",
      '"',
      "\\",
      "é",
      "日本",
      "🎭",
      "{",
      "}",
      ",",
      "50%",
      "a b",
      "/",
      "«",
      "tool",
    ),
    { maxLength: 6 },
  )
  .map((words) => ` ${words.join(" ")} `);
export const around = fc
  .tuple(plain, secret, plain)
  .map(([before, hidden, after]) => ({ text: before + hidden + after, hidden }));

export const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
const unicode = (text: string) =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  json: (text) => JSON.stringify({ text }),
  "json in json": (text) => JSON.stringify({ arguments: JSON.stringify({ text }) }),
  unicode: (text) => `{"text":"${unicode(text)}"}`,
  percent,
  uri: (text) => `https://example.com/find?q=${encodeURIComponent(text)}&x=1`,
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  "base64 of json": (text) => Buffer.from(JSON.stringify([text])).toString("base64"),
};
export const encoding = fc.constantFrom(...Object.keys(ENCODINGS));
