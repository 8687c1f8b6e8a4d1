import { agentSdks } from "./sdks/agents.ts";
import { aiSdks } from "./sdks/ai.ts";
import { claudeSdks } from "./sdks/claude.ts";
import { completionSdks } from "./sdks/completions.ts";
import { googleSdks } from "./sdks/google.ts";
import { langChainSdks } from "./sdks/langchain.ts";
import { otherSdks } from "./sdks/others.ts";
import type { Sdk } from "./sdks/sdk.ts";

/** Every official SDK that is tried against the double, and what is different about it. */
export const sdks: readonly Sdk[] = [
  ...completionSdks,
  ...otherSdks,
  ...claudeSdks,
  ...googleSdks,
  ...langChainSdks,
  ...agentSdks,
  ...aiSdks,
];
