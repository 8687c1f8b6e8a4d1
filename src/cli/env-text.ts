import { baseUrlVariables } from "../testing/base-urls.ts";
import { UsageError } from "./run-verb.ts";

export type EnvFormat = "shell" | "dotenv" | "json" | "github";

export interface EnvSettings {
  url?: string;
  scenario?: string;
  format?: EnvFormat;
}

/**
 * The variables that lead SDKs to a double, to be read by a shell (`eval`), from a `.env` file, as JSON, or by GitHub
 * (`$GITHUB_ENV`).
 * @throws {UsageError} when the URL is none
 */
export function envText({ url = "http://127.0.0.1:4010", scenario, format = "shell" }: EnvSettings): string {
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url) || /[\s?#]/.test(url))
    throw new UsageError(`--url ${url}: expected one that begins with http:// or https://, without a query.`);
  const base = url.replace(/\/+$/, "") + (scenario === undefined ? "" : `/@${encodeURIComponent(scenario)}`);
  const variables = Object.entries(baseUrlVariables(base));
  switch (format) {
    case "json":
      return `${JSON.stringify(Object.fromEntries(variables), null, 2)}\n`;
    case "shell":
      return lines(variables, (name, value) => `export ${name}='${value.replaceAll("'", "'\\''")}'`);
    case "dotenv":
      return lines(variables, (name, value) => `${name}="${value.replace(/["\\$`]/g, "\\$&")}"`);
    case "github":
      return lines(variables, (name, value) => `${name}=${value}`);
  }
}

function lines(variables: [string, string][], line: (name: string, value: string) => string): string {
  return variables.map(([name, value]) => `${line(name, value)}\n`).join("");
}
