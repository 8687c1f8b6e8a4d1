import type { Leaf } from "./json-leaves.ts";
import { holdersOf } from "./json-leaves.ts";

export const ROLES = ["system", "user", "assistant", "tool"] as const;

/** Who says something in a conversation. */
export type Role = (typeof ROLES)[number];

const BY_ROLE: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  model: "assistant",
  chatbot: "assistant",
  tool: "tool",
  function: "tool",
};

/** Of a part of a message, and of an item in a list of them. */
const BY_TYPE: Readonly<Record<string, Role>> = {
  tool_result: "tool",
  function_call_output: "tool",
  custom_tool_call_output: "tool",
  function_result: "tool",
  "tool-result": "tool",
  computer_call_output: "tool",
  local_shell_call_output: "tool",
  shell_call_output: "tool",
  apply_patch_call_output: "tool",
  mcp_approval_response: "user",
  tool_use: "assistant",
  function_call: "assistant",
  custom_tool_call: "assistant",
  reasoning: "assistant",
};

/** Of what is held by a member of this name. */
const BY_MEMBER: Readonly<Record<string, Role>> = {
  toolResult: "tool",
  functionResponse: "tool",
  function_response: "tool",
  toolUse: "assistant",
  functionCall: "assistant",
  function_call: "assistant",
  tool_calls: "assistant",
};

/** Of the members of a request itself, in all the APIs, where nothing inside says another. */
const BY_ROOT: Readonly<Record<string, Role>> = {
  system: "system",
  systemInstruction: "system",
  system_instruction: "system",
  instructions: "system",
  preamble: "system",
  messages: "user",
  contents: "user",
  content: "user",
  input: "user",
  inputs: "user",
  inputText: "user",
  input_text: "user",
  prompt: "user",
  message: "user",
  texts: "user",
  text: "user",
  query: "user",
  documents: "user",
  requests: "user",
  instances: "user",
};

/**
 * Whose words a string of a request is, in the words of any provider's API; undefined for what nobody says (names of
 * models, definitions of tools, metadata).
 */
export function roleOf(leaf: Leaf): Role | undefined {
  const holders = holdersOf(leaf);
  const members = [...holders.slice(1).map(({ step }) => step), leaf.step];
  for (let at = holders.length - 1; at >= 0; at--) {
    const { type, role } = holders[at]!.scalars;
    // The innermost says it: a tool's result stands in the user's message.
    const said = named(BY_MEMBER, members[at]) ?? named(BY_TYPE, type) ?? named(BY_ROLE, role);
    if (said !== undefined) return said;
  }
  return named(BY_ROOT, members[0]);
}

function named(roles: Readonly<Record<string, Role>>, name: unknown): Role | undefined {
  const key = String(name).toLowerCase();
  if (Object.hasOwn(roles, String(name))) return roles[String(name)];
  return Object.hasOwn(roles, key) ? roles[key] : undefined;
}
