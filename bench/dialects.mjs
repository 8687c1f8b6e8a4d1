// Unary calls and 500-word streams of the other APIs, beside aimock: over HTTP/1.1, and Bedrock also over HTTP/2,
// which its SDK speaks and aimock does not.
import { installDebianPackages } from "../scripts/setup.mjs";
import { requestOf } from "./fixtures.mjs";
import { loadOverHttp2, number, rounds, SECONDS, spread, startServer, table, times } from "./harness.mjs";

// Five hundred words of about six characters.
const SETTINGS = { count: 10, replyCharacters: 3000 };
const QUESTION = JSON.parse(requestOf({ count: 10, bytes: 1024 })).messages[1].content;

const messages = [{ role: "user", content: QUESTION }];
const contents = [{ role: "user", parts: [{ text: QUESTION }] }];
const blocks = [{ role: "user", content: [{ text: QUESTION }] }];
const GEMINI = "/v1beta/models/gemini-2.5-flash";
const BEDROCK = "/model/anthropic.claude-3-haiku-20240307-v1%3A0";

const APIS = [
  {
    name: "Anthropic",
    path: () => "/v1/messages",
    body: (stream) => ({ model: "claude-sonnet-5", max_tokens: 1000, messages, stream }),
    headers: { "anthropic-version": "2023-06-01" },
  },
  { name: "Responses", path: () => "/v1/responses", body: (stream) => ({ model: "gpt-5", input: QUESTION, stream }) },
  {
    name: "Gemini",
    path: (stream) => `${GEMINI}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: () => ({ contents }),
  },
  { name: "Ollama", path: () => "/api/chat", body: (stream) => ({ model: "llama3.2", messages, stream }) },
  {
    name: "Bedrock converse",
    path: (stream) => `${BEDROCK}/${stream ? "converse-stream" : "converse"}`,
    body: () => ({ messages: blocks }),
  },
];

export async function dialects() {
  installDebianPackages({ h2load: "nghttp2-client" });
  for (const stream of [false, true]) {
    const rows = [];
    for (const { name, path, body, headers = {} } of APIS) {
      const contenders = [await startServer("stuntdouble", SETTINGS), await startServer("aimock", SETTINGS)];
      const options = { path: path(stream), body: JSON.stringify(body(stream)), headers, seconds: SECONDS };
      const { stuntdouble, aimock } = await rounds(contenders, options);
      rows.push(row(name, stuntdouble, aimock));
      if (name.startsWith("Bedrock")) {
        const alone = await rounds([contenders[0]], options, { loader: loadOverHttp2 });
        rows.push(row(`${name}, HTTP/2`, alone.stuntdouble));
      }
      for (const contender of contenders) await contender.stop();
    }
    table(
      `${stream ? "500-word streams, nothing to wait for" : "Unary calls of a 500-word reply"}, a second (median of rounds, least to most)`,
      ["API", "stuntdouble", "aimock", "of aimock", "CPU µs each"],
      rows,
    );
  }
}

function row(name, own, other) {
  const cpu = number(own.cpuMicros.median);
  return other === undefined
    ? [name, spread(own.rate), "", "", cpu]
    : [
        name,
        spread(own.rate),
        spread(other.rate),
        times(own.rate.median / other.rate.median),
        `${cpu} / ${number(other.cpuMicros.median)}`,
      ];
}
