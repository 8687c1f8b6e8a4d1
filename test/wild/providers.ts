import { anthropicRecordings } from "./anthropic.ts";
import { converseRecordings } from "./bedrock.ts";
import { cohereRecordings } from "./cohere.ts";
import { geminiRecordings } from "./gemini.ts";
import { interactionRecordings } from "./gemini-interactions.ts";
import { mistralSdkRecordings } from "./mistral.ts";
import { compatibleRecordings, openaiChatRecordings } from "./openai-chat.ts";
import { responsesRecordings, storedResponsesRecordings, xaiResponsesRecordings } from "./openai-responses.ts";
import { stateRecordings } from "./openai-state.ts";
import type { WildProvider } from "./provider.ts";
import { tokenCountRecordings } from "./token-counts.ts";

/** Every operation whose recordings are tested: a new one is a line here. */
export const providers: readonly WildProvider[] = [
  openaiChatRecordings,
  ...compatibleRecordings,
  mistralSdkRecordings,
  responsesRecordings,
  xaiResponsesRecordings,
  storedResponsesRecordings,
  ...stateRecordings,
  anthropicRecordings,
  geminiRecordings,
  interactionRecordings,
  converseRecordings,
  cohereRecordings,
  ...tokenCountRecordings,
];
