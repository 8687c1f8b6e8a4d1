import { badRequest } from "../dialects/api-error.ts";
import { callOf } from "../dialects/call.ts";
import type { Call, Memory } from "../dialects/operation.ts";
import { RawRequest } from "../dialects/raw-request.ts";
import type { FixtureAnswererOptions } from "../fixtures/answerer.ts";
import { describeResponse } from "../fixtures/describe-response.ts";
import type { Entry } from "../fixtures/entry.ts";
import { type Explanation, explain, explanationText } from "../fixtures/explain.ts";
import type { FixtureSource } from "../fixtures/pool.ts";
import { transformed } from "../fixtures/transform.ts";
import { CREDENTIALS_ONLY } from "../guard/detectors.ts";
import { createRedactor, type RedactionOptions, type Redactor } from "../guard/redact.ts";
import type { Counters } from "../state/counters.ts";
import { type ExplainRequest, guessPath } from "./explain-request.ts";
import type { Router } from "./router.ts";

/** The double that it belongs to. */
export interface ExplainHost {
  router: Router;
  memory: Memory;
  counters: Counters;
  options: FixtureAnswererOptions;
  redact: RedactionOptions | undefined;
  /** In the order in which they are asked. */
  sources(testId: string): FixtureSource[];
}

/** Which fixture answers a request and which others are near it. */
export interface RequestExplanation extends Explanation {
  /** How the request was understood: `openai-chat`. */
  operation: string;
  path: string;
  /** The fixture that answers; null for a miss. */
  fixture: string | null;
  /** What it answers. */
  answer?: string;
  /** All of it in words. */
  text: string;
}

/** Says why no fixture answered. Loaded with the first miss, since most doubles should have none. */
export class Explainer {
  readonly #host: ExplainHost;
  readonly #redactor: Redactor;

  static async load(host: ExplainHost): Promise<Explainer> {
    // What else a recording leaves out says why a request is another one.
    const detectors = { ...CREDENTIALS_ONLY, ...host.redact?.detectors };
    return new Explainer(host, await createRedactor({ ...host.redact, detectors }));
  }

  constructor(host: ExplainHost, redactor: Redactor) {
    this.#host = host;
    this.#redactor = redactor;
  }

  /** Of a call that no fixture answered. */
  miss(call: Call): { text: string; explanation: Explanation } {
    const explanation = this.#explain(call, undefined);
    return { text: explanationText(explanation), explanation };
  }

  /**
   * Of any request. It is not served: no sequence goes on.
   * @throws {ApiError} when the request cannot be understood
   */
  async request(request: ExplainRequest): Promise<RequestExplanation> {
    const { router, memory, counters, options } = this.#host;
    const raw = rawRequest(request);
    const operation = router.find(raw)?.operation;
    if (operation === undefined) throw badRequest(`No provider has the path ${raw.method} ${raw.path}.`);
    const call = callOf(operation, raw, memory);
    const sources = this.#host.sources(call.testId);
    if (options.identifier !== undefined && sources.some((source) => source.hasFingerprints)) {
      (await options.identifier()).introduce(call);
    }
    let chosen: Entry | undefined;
    for (const candidate of operation.candidates?.(call.request) ?? [call.request]) {
      call.request = candidate;
      call.view = operation.view(candidate);
      const subject = this.#subject(call);
      for (const source of sources) chosen ??= source.choose(subject, counters, { ...options, warn: () => {} });
      if (chosen !== undefined) break;
    }
    const explanation = this.#explain(call, chosen);
    const mask = this.#maskOf(raw);
    const quote = (text: string): string => JSON.stringify(mask(text).slice(0, 120));
    const answer = chosen && describeResponse(chosen.fixture.response, quote);
    const text =
      chosen === undefined
        ? `No fixture matched. ${explanationText(explanation)}`
        : [
            `${chosen.name} answers ${answer}.`,
            ...(explanation.nearest.length > 0 ? [explanationText(explanation)] : []),
          ].join("\n");
    return {
      operation: operation.name,
      path: raw.path,
      fixture: chosen?.name ?? null,
      ...(answer !== undefined && { answer }),
      ...explanation,
      text,
    };
  }

  #explain(call: Call, answering: Entry | undefined): Explanation {
    const { counters, options, sources } = this.#host;
    return explain(
      sources(call.testId).flatMap((source) => source.entries()),
      this.#subject(call),
      {
        counters,
        answering,
        exactText: options.exactText ?? false,
        mask: this.#maskOf(call.raw),
      },
    );
  }

  #subject(call: Call): ReturnType<typeof transformed> {
    const { transform } = this.#host.options;
    return transform === undefined ? call : transformed(call, transform);
  }

  /** Takes out of a text what nobody else may see, the caller's own credentials too. */
  #maskOf({ headers, url }: RawRequest): (text: string) => string {
    const redaction = this.#redactor.match();
    redaction.headers(headers, "request headers");
    redaction.uri(url, "request URI");
    return (text) => redaction.text(text, "explanation");
  }
}

function rawRequest({ method = "POST", path, headers = {}, body }: ExplainRequest): RawRequest {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const text = typeof body === "string" ? body : (JSON.stringify(body) ?? "");
  return new RawRequest(method, path ?? guessPath(body), lower, Buffer.from(text));
}
