import type { JsonObject } from "./raw-request.ts";

/** A block of a message's content, whole, in the APIs whose replies consist of blocks. */
export interface ContentBlock {
  value: JsonObject;
  /** The JSON text of a tool's input as it is streamed. */
  input?: string;
}
