import OpenAI from "openai";

/** Statuses, and the classes that OpenAI's client makes of them. */
export const OPENAI_ERRORS = [
  [400, OpenAI.BadRequestError],
  [401, OpenAI.AuthenticationError],
  [402, OpenAI.APIError],
  [403, OpenAI.PermissionDeniedError],
  [404, OpenAI.NotFoundError],
  [413, OpenAI.APIError],
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
  [503, OpenAI.InternalServerError],
] as const;
