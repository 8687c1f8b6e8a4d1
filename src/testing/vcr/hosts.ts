import { providerNames, providerOfHost, providers } from "../../upstream/providers.ts";

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** The hosts that a scope catches calls to. */
export class CaughtHosts {
  /** By host and port: those of base URLs, and of providers that run on this machine. */
  readonly #own = new Map<string, string>();

  /** @throws {RangeError} when a base URL is none, or a provider */
  constructor(urls: Readonly<Record<string, string | undefined>>) {
    const local = Object.entries(providers).filter(([, { url }]) => url?.startsWith("http:"));
    for (const [provider, { url }] of local) {
      this.#add(provider, url!);
      this.#add(provider, url!.replace("127.0.0.1", "localhost"));
    }
    for (const [provider, url] of Object.entries(urls)) if (url !== undefined) this.#add(provider, url);
  }

  #add(provider: string, url: string): void {
    if (!providerNames.includes(provider))
      throw new RangeError(`providers.${provider}: there is no such provider; there are ${providerNames.join(", ")}.`);
    if (!URL.canParse(url) || !/^https?:/i.test(url))
      throw new RangeError(
        `providers.${provider}: expected a URL that begins with http:// or https://, but it is ${JSON.stringify(url)}.`,
      );
    this.#own.set(key(new URL(url)), provider);
  }

  /** The path by which a double finds the provider that a call is for; undefined when the call is not caught. */
  pathOf(url: URL): string | undefined {
    const path = url.pathname + url.search;
    if (providerOfHost(url.host) !== undefined) return path;
    const own = this.#own.get(key(url));
    return own === undefined ? undefined : `/${own}${path}`;
  }
}

function key({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
}
