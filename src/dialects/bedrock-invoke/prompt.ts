import type { ChatMessage } from "../../chat/request.ts";

/**
 * The messages that a prompt was made of by its model's template, so that fixtures match on turns and roles. A
 * prompt that has no template known here is one message of the user.
 * @see https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/
 * @see https://docs.mistral.ai/guides/tokenization/
 */
export function promptMessages(prompt: string): ChatMessage[] {
  if (prompt.includes("<|start_header_id|>")) return headerMessages(prompt);
  if (prompt.includes("[INST]")) return instructMessages(prompt);
  return [{ role: "user", content: prompt }];
}

/** Llama 3 and later: `<|start_header_id|>user<|end_header_id|>` … `<|eot_id|>` */
function headerMessages(prompt: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const piece of prompt.split("<|start_header_id|>").slice(1)) {
    const [role = "", rest = ""] = split(piece, "<|end_header_id|>");
    const content = split(split(rest, "<|eot_id|>")[0], "<|eom_id|>")[0].trim();
    // The last header asks the model to go on, and has nothing after it.
    if (content !== "") messages.push(messageOf(role.trim(), content));
  }
  return messages;
}

function messageOf(role: string, content: string): ChatMessage {
  return role === "ipython" ? { role: "tool", tool_call_id: "", content } : { role, content };
}

/** Mistral and Llama 2: `<s>[INST] … [/INST] … </s>`, with `<<SYS>>` in the first. */
function instructMessages(prompt: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const piece of prompt.split("[INST]").slice(1)) {
    const [asked, answered] = split(piece, "[/INST]");
    const [before, after] = split(asked, "<</SYS>>");
    if (after !== "") messages.push({ role: "system", content: before.replace("<<SYS>>", "").trim() });
    messages.push({ role: "user", content: (after === "" ? asked : after).trim() });
    const answer = answered.replaceAll(/<\/?s>/g, "").trim();
    if (answer !== "") messages.push({ role: "assistant", content: answer });
  }
  return messages;
}

/** What is before the first mark and what is after it; all is before a mark that is not there. */
function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
