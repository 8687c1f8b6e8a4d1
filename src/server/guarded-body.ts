import { Print } from "../dialects/template.ts";
import type { GateCut, GateStep, ResponseGate } from "../guard/gate.ts";
import type { GuardHit } from "../guard/guardrails.ts";
import type { Outcome } from "./outcome.ts";
import type { PacedBody } from "./pace.ts";

/** What is left of a reply behind its gate. */
export interface GatedBody {
  hits: GuardHit[];
  cut: GateCut | undefined;
  /** Of what is no stream, nothing is left after a cut: an error takes its place. */
  body: Outcome["body"] | undefined;
  isChanged: boolean;
}

/**
 * Sends a reply that is there already through a gate, each chunk at the time at which it is due.
 * @param event the one that tells of a cut; undefined where there is none
 */
export function gatedBody(
  { body }: Outcome,
  gate: ResponseGate,
  event: (cut: GateCut, sent: number) => Uint8Array | undefined,
): GatedBody {
  const paced = pacedOf(body);
  const hits: GuardHit[] = [];
  const chunks: Uint8Array[] = [];
  const due: number[] = [];
  let cut: GateCut | undefined;
  const take = (step: GateStep, atMs: number): void => {
    hits.push(...step.hits);
    for (const bytes of step.out) {
      chunks.push(bytes);
      due.push(atMs);
    }
    cut = step.cut;
    if (cut === undefined || gate.isWhole) return;
    const last = event(cut, gate.sent);
    if (last === undefined) return;
    chunks.push(last);
    due.push(atMs);
    cutTold = true;
  };
  let cutTold = false;
  let atMs = 0;
  for (const [index, chunk] of paced.chunks.entries()) {
    atMs = paced.due?.[index] ?? 0;
    if (gate.dueMs < atMs) take(gate.expire(gate.dueMs), gate.dueMs);
    else take(gate.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk, atMs), atMs);
    if (cut !== undefined) break;
  }
  if (cut === undefined) take(gate.end(atMs), atMs);
  if (cut !== undefined && gate.isWhole) return { hits, cut, body: undefined, isChanged: true };
  const isChanged = cut !== undefined || !isSame(paced.chunks, chunks);
  if (!isChanged) return { hits, cut, body, isChanged };
  const ends = cut === undefined ? paced.cut : cutTold ? undefined : { truncated: true };
  const isTimed = paced.due !== undefined || (typeof body === "object" && "chunks" in body);
  if (!isTimed && ends === undefined) return { hits, cut, body: Buffer.concat(chunks), isChanged };
  return {
    hits,
    cut,
    body: { chunks, due: paced.due && Float64Array.from(due), ...(ends !== undefined && { cut: ends }) },
    isChanged,
  };
}

function pacedOf(body: Outcome["body"]): PacedBody {
  if (typeof body === "string" || body instanceof Uint8Array) return { chunks: [body], due: undefined };
  if (body instanceof Print) return { chunks: [body.bytes()], due: undefined };
  if ("chunks" in body) return body;
  throw new Error("A reply that is on its way is guarded where it arrives.");
}

function isSame(before: readonly (string | Uint8Array)[], after: readonly Uint8Array[]): boolean {
  const bytes = before.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  return Buffer.compare(Buffer.concat(bytes), Buffer.concat(after)) === 0;
}
