import { costOf, type PriceList, priceOf } from "../../chat/prices.ts";
import type { RunTake, SourceOutcome } from "./tape-source.ts";

/** A run in numbers. */
export interface Figures {
  calls: number;
  recorded: number;
  replayed: number;
  missed: number;
  blocked: number;
  unused: number;
  promptTokens: number;
  completionTokens: number;
  /** What replays did not wait for. */
  savedMs: number;
  /** In the price list's currency. What the list does not know is not in it. */
  notSpent: number;
  spent: number;
  currency: string;
  /** Models that used tokens and have no price. */
  unpriced: readonly string[];
}

export function figuresOf({ calls, takes, unused }: SourceOutcome, prices: PriceList): Figures {
  const counted = (how: RunTake["how"]): number => takes.filter((take) => take.how === how).length;
  const sum = (of: (take: RunTake) => number): number => takes.reduce((total, take) => total + of(take), 0);
  const money = (how: RunTake["how"]): number =>
    sum((take) => (take.how === how ? (costOfTake(take, prices) ?? 0) : 0));
  const unpriced = takes.filter(
    (take) => take.promptTokens + take.completionTokens > 0 && costOfTake(take, prices) === undefined,
  );
  return {
    calls: calls.length,
    recorded: counted("recorded"),
    replayed: counted("replayed"),
    missed: calls.filter(({ outcome }) => outcome === "missed").length,
    blocked: calls.filter(({ outcome }) => outcome === "blocked").length,
    unused: unused.length,
    promptTokens: sum((take) => take.promptTokens),
    completionTokens: sum((take) => take.completionTokens),
    savedMs: sum((take) => take.savedMs),
    notSpent: money("replayed"),
    spent: money("recorded"),
    currency: prices.currency ?? "USD",
    unpriced: [...new Set(unpriced.map(({ model }) => model))],
  };
}

/** @returns undefined where the list does not know the model */
export function costOfTake(take: RunTake, prices: PriceList): number | undefined {
  const price = priceOf(take.model, take.provider, prices);
  return price && costOf(take, price);
}

/** Why a run fails although its command did not. */
export function faultsOf(
  figures: Figures,
  { lost }: SourceOutcome,
  allowed: { miss?: boolean; empty?: boolean },
): string[] {
  const { calls, missed } = figures;
  const faults = [...lost];
  if (missed > 0 && !allowed.miss)
    faults.push(
      `${missed} ${missed === 1 ? "call was" : "calls were"} missed: record ${missed === 1 ? "it" : "them"}, or pass --allow-miss.`,
    );
  if (calls === 0 && !allowed.empty)
    faults.push(
      "No call came. Does the command read one of the variables that `stuntdouble env` prints? --allow-empty lets such a run pass.",
    );
  return faults;
}
