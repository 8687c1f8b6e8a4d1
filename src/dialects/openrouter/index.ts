import { chatOperation } from "../openai-chat/operation.ts";
import { decodeChatRequest } from "../openai-chat/request.ts";
import { chatRules } from "../openai-chat/rules.ts";
import type { Dialect } from "../operation.ts";
import { accountOperations } from "./account.ts";
import { encodeOpenRouterError, encodeOpenRouterStreamError } from "./errors.ts";
import { OPENROUTER, openRouterFlavour } from "./flavour.ts";
import { candidates, withModel } from "./request.ts";
import { openRouterResponses } from "./responses.ts";

/**
 * OpenRouter: OpenAI's chat completions and responses, routed to whoever serves the model.
 * @see https://openrouter.ai/docs/api/reference/overview
 */
export const openRouter: Dialect = {
  name: OPENROUTER,
  providers: [OPENROUTER],
  operations: [
    chatOperation(openRouterFlavour, {
      name: "openrouter-chat",
      routes: [{ method: "POST", path: "/api/v1/chat/completions" }],
      decode: (raw) => decodeChatRequest(withModel(raw)),
      candidates,
      encodeError: encodeOpenRouterError,
      encodeStreamError: encodeOpenRouterStreamError,
      rules: chatRules({ provider: "provider" }),
    }),
    openRouterResponses,
    ...accountOperations,
  ],
};
