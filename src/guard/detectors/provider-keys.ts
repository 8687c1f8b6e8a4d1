import type { Detector, Place } from "../detector.ts";

const FAL_KEY = /(?<![A-Za-z0-9-])[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}:[a-f0-9]{32}/y;

/** Keys with a form of their own. Keys without one (Mistral, Cohere, Deepgram …) are found by what stands before them. */
export const providerKeys: readonly Detector[] = [
  key("anthropic-key", "Anthropic: `sk-ant-…`", ["sk-ant-"], /sk-ant-[\w-]{16,}/dg),
  key("openrouter-key", "OpenRouter: `sk-or-…`", ["sk-or-"], /sk-or-[\w-]{16,}/dg),
  key(
    "openai-key",
    "OpenAI: `sk-proj-…`, `sk-svcacct-…`, `sk-admin-…`; any `sk-…` with a digit, as many other providers have",
    ["sk-"],
    /sk-(?:proj|svcacct|admin|None|service)-[\w-]{16,}|(?<![A-Za-z0-9])sk-(?=[\w-]{0,400}\d)[\w-]{16,}/dg,
  ),
  key(
    "google-key",
    "Google: `AIza…`, `AQ.…`, OAuth tokens and client secrets (`ya29.…`, `GOCSPX-…`, `1//0…`)",
    ["AIza", "AQ.", "ya29.", "GOCSPX-", "1//0"],
    /(?<![A-Za-z0-9])AIza[\w-]{35}|(?<![\w-])AQ\.[\w-]{30,}|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,}|(?<![\w/])1\/\/0[\w-]{30,}/dg,
  ),
  key("groq-key", "Groq: `gsk_…`", ["gsk_"], /gsk_[A-Za-z0-9]{20,}/dg),
  key("xai-key", "xAI: `xai-…`", ["xai-"], /xai-[A-Za-z0-9]{20,}/dg),
  key("huggingface-key", "Hugging Face: `hf_…`, `api_org_…`", ["hf_", "api_org_"], /(?:hf|api_org)_[A-Za-z0-9]{24,}/dg),
  key("replicate-key", "Replicate: `r8_…`", ["r8_"], /r8_[A-Za-z0-9]{30,}/dg),
  key("perplexity-key", "Perplexity: `pplx-…`", ["pplx-"], /pplx-[A-Za-z0-9]{20,}/dg),
  key("fireworks-key", "Fireworks: `fw_…`", ["fw_"], /(?<![A-Za-z0-9])fw_[A-Za-z0-9]{20,}/dg),
  key("together-key", "Together: `tgp_v1_…`", ["tgp_v1_"], /tgp_v1_[\w-]{30,}/dg),
  key("cerebras-key", "Cerebras: `csk-…`", ["csk-"], /csk-[A-Za-z0-9]{30,}/dg),
  key("nvidia-key", "NVIDIA: `nvapi-…`", ["nvapi-"], /nvapi-[\w-]{40,}/dg),
  key("voyage-key", "Voyage: `pa-…`", ["pa-"], /(?<![A-Za-z0-9])pa-[\w-]{40,}/dg),
  key("jina-key", "Jina: `jina_…`", ["jina_"], /jina_[\w-]{40,}/dg),
  key("tavily-key", "Tavily: `tvly-…`", ["tvly-"], /tvly-[\w-]{20,}/dg),
  key("elevenlabs-key", "ElevenLabs: `sk_` and 48 hexadecimal digits", ["sk_"], /(?<![A-Za-z0-9])sk_[a-f0-9]{40,}/dg),
  key("pinecone-key", "Pinecone: `pcsk_…`", ["pcsk_"], /pcsk_\w{40,}/dg),
  key(
    "langsmith-key",
    "LangSmith and Langfuse: `lsv2_…`, `pk-lf-…`, `sk-lf-…`",
    ["lsv2_", "k-lf-"],
    /lsv2_[a-z]{2}_\w{32,}|[sp]k-lf-[\w-]{30,}/dg,
  ),
  key("vercel-key", "Vercel's AI gateway: `vck_…`", ["vck_"], /vck_[A-Za-z0-9]{20,}/dg),
  key("databricks-key", "Databricks: `dapi…`", ["dapi"], /(?<![A-Za-z0-9])dapi[a-f0-9]{32}(?:-\d)?/dg),
  key(
    "bedrock-key",
    "Bedrock's API keys: `ABSK…`, `bedrock-api-key-…`",
    ["ABSK", "bedrock-api-key-"],
    /(?<![A-Za-z0-9])ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{30,}={0,2}/dg,
  ),
  key(
    "azure-openai-key",
    "Azure OpenAI's keys of 84 characters",
    ["JQQJ9", "ACYeBj", "AAABAC"],
    /(?<![A-Za-z0-9])[A-Za-z0-9]{40,64}(?:JQQJ9|ACYeBj|AAABAC)[A-Za-z0-9]{16,40}/dg,
  ),
  {
    name: "fal-key",
    family: "provider key",
    finds: "fal: a UUID, a colon and 32 hexadecimal digits",
    byDefault: true,
    pairs: [["0123456789abcdef", ":"]],
    find: falKeys,
    growing: FAL_KEY,
  },
];

function key(name: string, finds: string, hints: readonly string[], find: RegExp): Detector {
  return { name, family: "provider key", finds, byDefault: true, hints, find };
}

const UUID_LENGTH = 36;

// From each colon: a pattern that begins with a digit looks at nearly every character.
function falKeys(text: string): Place[] {
  const places: Place[] = [];
  for (let colon = text.indexOf(":", UUID_LENGTH); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    FAL_KEY.lastIndex = colon - UUID_LENGTH;
    if (FAL_KEY.test(text)) places.push({ start: colon - UUID_LENGTH, end: FAL_KEY.lastIndex });
  }
  return places;
}
