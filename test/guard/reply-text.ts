import type { ChatReply } from "../../src/chat/reply.ts";
import { choiceText } from "../../src/chat/reply.ts";

/** All that the first choice of a reply says. */
export function chatReplyText(reply: ChatReply | undefined): string {
  const choice = reply?.choices[0];
  return choice === undefined ? "" : choiceText(choice);
}
