import type { Dialect } from "../operation.ts";
import { encodeOpenAIError, encodeOpenAIStreamError } from "./errors.ts";
import { OPENAI, OPENAI_CHAT } from "./flavour.ts";
import { chatOperation } from "./operation.ts";

/** OpenAI Chat Completions, which many providers speak. */
export const openaiChat: Dialect = {
  name: OPENAI_CHAT,
  providers: ["openai"],
  operations: [
    chatOperation(OPENAI, {
      name: OPENAI_CHAT,
      routes: [
        { method: "POST", path: "/v1/chat/completions" },
        // Many who speak it have another version before it, or none: `/v1beta/openai/chat/completions`.
        { method: "POST", path: "/chat/completions" },
      ],
      encodeError: encodeOpenAIError,
      encodeStreamError: encodeOpenAIStreamError,
    }),
  ],
};
