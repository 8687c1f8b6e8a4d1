import { isForOpenAIClients } from "../dialects/google/errors.ts";
import { httpOperation } from "../dialects/http.ts";
import type { Operation } from "../dialects/operation.ts";
import type { RawRequest } from "../dialects/raw-request.ts";

/** Where a provider's API is, and how its keys are sent. */
export interface Provider {
  /** Without a slash at the end. Undefined where every account has a host of its own. */
  url: string | undefined;
  /** Hosts besides that of `url`, with `*` for any characters but a dot. */
  hosts?: readonly string[];
  /** The header of the key; `authorization` has it after `Bearer`. */
  keyHeader: "authorization" | "x-api-key" | "x-goog-api-key" | "api-key" | "xi-api-key";
  /** What this provider's keys begin with, where no other's do. */
  keyPrefix?: string;
  /** It speaks OpenAI's dialect under the same paths, so that a path alone does not tell it from OpenAI. */
  openaiCompatible?: true;
}

const bearer = "authorization";

export const providers: Readonly<Record<string, Provider>> = {
  openai: { url: "https://api.openai.com", hosts: ["*.api.openai.com"], keyHeader: bearer },
  anthropic: { url: "https://api.anthropic.com", keyHeader: "x-api-key", keyPrefix: "sk-ant-" },
  gemini: { url: "https://generativelanguage.googleapis.com", keyHeader: "x-goog-api-key" },
  vertexai: { url: "https://aiplatform.googleapis.com", hosts: ["*-aiplatform.googleapis.com"], keyHeader: bearer },
  bedrock: {
    url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    hosts: ["bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"],
    keyHeader: bearer,
  },
  azure: {
    url: undefined,
    hosts: ["*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"],
    keyHeader: "api-key",
  },
  ollama: { url: "http://127.0.0.1:11434", hosts: ["ollama.com"], keyHeader: bearer },
  cohere: { url: "https://api.cohere.com", hosts: ["api.cohere.ai"], keyHeader: bearer },
  openrouter: { url: "https://openrouter.ai/api", keyHeader: bearer, keyPrefix: "sk-or-", openaiCompatible: true },
  mistral: { url: "https://api.mistral.ai", keyHeader: bearer, openaiCompatible: true },
  groq: { url: "https://api.groq.com/openai", keyHeader: bearer, keyPrefix: "gsk_", openaiCompatible: true },
  xai: { url: "https://api.x.ai", keyHeader: bearer, keyPrefix: "xai-", openaiCompatible: true },
  deepseek: { url: "https://api.deepseek.com", keyHeader: bearer, openaiCompatible: true },
  together: { url: "https://api.together.xyz", hosts: ["api.together.ai"], keyHeader: bearer, openaiCompatible: true },
  fireworks: { url: "https://api.fireworks.ai/inference", keyHeader: bearer, keyPrefix: "fw_", openaiCompatible: true },
  cerebras: { url: "https://api.cerebras.ai", keyHeader: bearer, keyPrefix: "csk-", openaiCompatible: true },
  perplexity: { url: "https://api.perplexity.ai", keyHeader: bearer, keyPrefix: "pplx-", openaiCompatible: true },
  huggingface: { url: "https://router.huggingface.co", keyHeader: bearer, keyPrefix: "hf_", openaiCompatible: true },
  zai: { url: "https://api.z.ai", keyHeader: bearer, openaiCompatible: true },
  elevenlabs: { url: "https://api.elevenlabs.io", keyHeader: "xi-api-key" },
};

export const providerNames: readonly string[] = Object.keys(providers);

const MOST_HOSTS = 256;
const knownHosts = new Map<string, string | undefined>();

/** The provider whose host this is, with or without a port. */
export function providerOfHost(host: string): string | undefined {
  // Every call asks, and nearly all name the double itself.
  if (knownHosts.has(host)) return knownHosts.get(host);
  const provider = findProviderOfHost(host.toLowerCase().replace(/:\d+$/, ""));
  if (knownHosts.size >= MOST_HOSTS) knownHosts.clear();
  knownHosts.set(host, provider);
  return provider;
}

function findProviderOfHost(host: string): string | undefined {
  return providerNames.find((provider) => {
    const { url, hosts = [] } = providers[provider]!;
    const own = url !== undefined && !url.startsWith("http:") ? [hostOf(url)] : [];
    return [...own, ...hosts].some((pattern) => hostMatches(pattern, host));
  });
}

function hostOf(url: string): string {
  return url.replace(/^https?:\/\//, "").split(/[:/]/, 1)[0]!;
}

function hostMatches(pattern: string, host: string): boolean {
  const expected = pattern.split(".");
  const labels = host.split(".");
  return (
    expected.length === labels.length &&
    expected.every((part, index) => {
      const label = labels[index]!;
      return part.startsWith("*") ? label.endsWith(part.slice(1)) && label.length >= part.length : part === label;
    })
  );
}

/**
 * Whose API a request is for, told by the operation that its path leads to, by the key that it carries, and by
 * the shape of the path.
 * @param path of the request as the provider knows it
 * @param configured providers that were given a URL: of those that share OpenAI's paths, the only one is meant
 */
export function providerOf(
  raw: RawRequest,
  path: string,
  operation: Operation | undefined,
  configured: ReadonlyMap<string, string>,
): string | undefined {
  const provider = (operation && providerOfOperation(operation, raw)) ?? providerOfPath(raw, path);
  if (provider !== "openai") return provider;
  const key = bearerOf(raw);
  const owner = keyOwners.find(([prefix]) => key.startsWith(prefix))?.[1];
  if (owner !== undefined || configured.has("openai")) return owner ?? provider;
  const compatible = [...configured.keys()].filter((name) => providers[name]?.openaiCompatible);
  return compatible.length === 1 ? compatible[0] : provider;
}

/** Those who share OpenAI's paths, by what their keys begin with. */
const keyOwners = Object.entries(providers).flatMap(([name, { keyPrefix, openaiCompatible }]) =>
  openaiCompatible && keyPrefix !== undefined ? [[keyPrefix, name] as const] : [],
);

/** By its name: a dialect may be that of another, whose form the body has. What an operation refused has its name for a dialect. */
function providerOfOperation(operation: Operation, raw: RawRequest): string | undefined {
  const name = operation.name === httpOperation.name ? operation.dialect : operation.name;
  if (name.startsWith("gemini")) return isVertex(raw) ? "vertexai" : "gemini";
  if (name.startsWith("anthropic")) return isVertex(raw) ? "vertexai" : "anthropic";
  if (name.startsWith("openai")) return providerOfOpenAIPath(raw);
  return providerNames.find((provider) => name.startsWith(provider.replace("vertexai", "vertex")));
}

function providerOfOpenAIPath(raw: RawRequest): string {
  if (raw.url.includes("/openai/deployments/") || raw.header("api-key") !== undefined) return "azure";
  if (isVertex(raw)) return "vertexai";
  return isForOpenAIClients(raw) ? "gemini" : "openai";
}

function providerOfPath(raw: RawRequest, path: string): string | undefined {
  if (raw.header("anthropic-version") !== undefined || path.startsWith("/v1/messages/")) return "anthropic";
  if (raw.header("xi-api-key") !== undefined) return "elevenlabs";
  if (isVertex(raw)) return "vertexai";
  if (raw.header("x-goog-api-key") !== undefined || /\/v1(beta|alpha)\//.test(path)) return "gemini";
  if (path.startsWith("/openai/deployments/")) return "azure";
  if (path.startsWith("/openai/") && raw.header("api-key") !== undefined) return "azure";
  if (path.startsWith("/api/paas/")) return "zai";
  if (path.startsWith("/api/v1/")) return "openrouter";
  if (path.startsWith("/api/")) return "ollama";
  if (/^\/(model|guardrail|guardrail-checks|async-invoke)(\/|$)/.test(path)) return "bedrock";
  if (path.startsWith("/v2/")) return "cohere";
  return /^(\/openai)?\/v1\//.test(path) ? "openai" : undefined;
}

function isVertex(raw: RawRequest): boolean {
  return /\/(projects|publishers)\/[^/]+\//.test(raw.url);
}

function bearerOf(raw: RawRequest): string {
  return (raw.header("authorization") ?? "").replace(/^Bearer +/i, "");
}
