import { isDeepStrictEqual } from "node:util";
import { withoutNumbers } from "../guard/redact.ts";
import { cut } from "../report/difference.ts";
import { differences } from "./differences.ts";
import type { RequestContext } from "./types.ts";

/** A recorded request to compare a call with. */
export interface RecordedRequest {
  /** The cassette's name. */
  name: string;
  context: RequestContext;
  rest?: unknown;
}

const SHOWN_DIFFERENCES = 3;

/**
 * Says which of several recorded requests is the nearest to a call, and where the two part.
 * @param asked of the call, after redaction
 */
export function nearestText(asked: Omit<RecordedRequest, "name">, recorded: readonly RecordedRequest[]): string {
  const plain = recorded.map((request) => ({
    ...(JSON.parse(withoutNumbers(JSON.stringify(request))) as RecordedRequest),
  }));
  let nearest: RecordedRequest | undefined;
  let best = -1;
  for (const request of plain) {
    const score = sameMessages(asked, request) + (request.context.model === asked.context.model ? 0.5 : 0);
    if (score > best) [nearest, best] = [request, score];
  }
  if (nearest === undefined) return "";
  const at = sameMessages(asked, nearest);
  const { messages } = nearest.context;
  const [here, there] = [asked.context.messages[at], messages[at]];
  const place =
    here === undefined && there === undefined
      ? "All messages are the same."
      : `The conversations part at message ${at + 1} of ${Math.max(messages.length, asked.context.messages.length)}.`;
  const lines = differences(partsOf(nearest), partsOf(asked))
    .slice(0, SHOWN_DIFFERENCES)
    .map(({ pointer, want, got }) => `  ${pointer}: recorded ${shown(want)}, asked ${shown(got)}`);
  return [`The nearest recording is ${nearest.name}. ${place}`, ...lines].join("\n");
}

function partsOf({ context, rest }: Omit<RecordedRequest, "name">): unknown {
  const {
    model,
    messages,
    parameters: { stream: _, ...parameters },
  } = context;
  return { model, messages, parameters, request: rest };
}

function sameMessages(asked: Pick<RecordedRequest, "context">, recorded: Pick<RecordedRequest, "context">): number {
  const [one, other] = [asked.context.messages, recorded.context.messages];
  let same = 0;
  while (same < one.length && same < other.length && isDeepStrictEqual(one[same], other[same])) same++;
  return same;
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : cut(JSON.stringify(value));
}
