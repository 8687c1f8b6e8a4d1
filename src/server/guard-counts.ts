import type { Usage } from "../guard/breaker.ts";
import type { GateCut } from "../guard/gate.ts";
import type { GuardHit } from "../guard/guardrails.ts";

/** How often rules have found something and replies were cut, and what has been used up of limits. */
export interface GuardCounts {
  findings: (GuardHit & { count: number })[];
  /** Calls refused and replies cut, by who did it. */
  cuts: Readonly<Record<GateCut["by"], number>>;
  used?: { run: Usage; scenarios: Record<string, Usage> };
}

export class Counts {
  readonly #findings = new Map<string, GuardHit & { count: number }>();
  readonly #cuts: Record<GateCut["by"], number> = { guardrail: 0, breaker: 0 };

  hits(hits: readonly GuardHit[]): void {
    for (const hit of hits) {
      const key = JSON.stringify([hit.rule, hit.action, hit.detector, hit.direction]);
      const known = this.#findings.get(key);
      if (known === undefined) this.#findings.set(key, { ...hit, count: 1 });
      else known.count++;
    }
  }

  cut(by: GateCut["by"]): void {
    this.#cuts[by]++;
  }

  read(used: GuardCounts["used"]): GuardCounts {
    const findings = [...this.#findings.values()].map((finding) => ({ ...finding }));
    return { findings, cuts: { ...this.#cuts }, ...(used !== undefined && { used }) };
  }
}
