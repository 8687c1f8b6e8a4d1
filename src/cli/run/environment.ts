import { BASE_URL_VARIABLES } from "../../testing/base-urls.ts";
import { providers as known } from "../../upstream/providers.ts";

const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/** What the command's environment has beyond ours. */
export function commandEnvironment(
  ours: NodeJS.ProcessEnv,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...variables, ...aroundProxies(ours) };
}

/** Where a proxy is set, what goes to this machine must not go through it. */
function aroundProxies(environment: NodeJS.ProcessEnv): Record<string, string> {
  if (!Object.keys(environment).some((name) => /^(https?|all)_proxy$/i.test(name))) return {};
  const said = environment["NO_PROXY"] ?? environment["no_proxy"] ?? "";
  const list = [...new Set([...said.split(",").filter((host) => host.trim() !== ""), ...LOOPBACK])].join(",");
  return { NO_PROXY: list, no_proxy: list };
}

/**
 * Where providers are, as far as the environment says so: a base URL that was set for the command is where its calls
 * go when they are recorded.
 * @returns base URLs by provider
 */
export function upstreamsOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, provider } of BASE_URL_VARIABLES) {
    const said = environment[name];
    if (said === undefined || said === "" || found[provider] !== undefined) continue;
    // Ollama's may be a host alone, with or without a port.
    const url = /^[a-z]+:\/\//i.test(said) ? said : `http://${said}${/:\d+$/.test(said) ? "" : ":11434"}`;
    if (URL.canParse(url) && /^https?:/i.test(url)) found[provider] = url.replace(/[?#].*$/, "").replace(/\/+$/, "");
  }
  // One that shares OpenAI's paths would be taken for the only one that is used.
  if (found["openai"] === undefined && Object.keys(found).some((name) => known[name]?.openaiCompatible)) {
    found["openai"] = known["openai"]!.url!;
  }
  return found;
}
