import { expect, it } from "vitest";
import { LocalMemory } from "../../state/memory.ts";
import { deleteResponse, itemFinder, knownConversation, StoredResponse, storeResponse } from "./state.ts";

const answer = (id: string) => ({ type: "message", id, role: "assistant", content: [] });

it("makes a response when it is first asked for, and once", () => {
  const memory = new LocalMemory();
  let made = 0;
  const body = () => {
    made++;
    return { id: "resp_stem0000", output: [answer("msg_stem0001"), answer("msg_own")] };
  };
  storeResponse(memory, "resp_stem0000", "stem", ["msg_own"], new StoredResponse(body, [], [], "ended"));
  const find = itemFinder(memory);
  expect([find("msg_else0001"), made]).toEqual([undefined, 0]);
  expect(find("msg_stem0001")).toEqual(answer("msg_stem0001"));
  expect(find("msg_own")).toEqual(answer("msg_own"));
  expect([find("msg_stem0002"), made]).toEqual([undefined, 1]);
  deleteResponse(memory, "resp_stem0000");
  expect([find("msg_stem0001"), find("msg_own"), memory.size]).toEqual([undefined, undefined, 0]);
});

it("numbers a conversation's items in the order in which they were added, whenever somebody looks", () => {
  const conversation = knownConversation(new LocalMemory(), "conv_x");
  const said = { role: "user", content: "hello" };
  conversation.addLater(() => [said, said]);
  conversation.addLater(() => [answer("msg_own")]);
  expect(conversation.add([said]).map(({ id }) => id)).toEqual(["msg_xi3"]);
  expect(conversation.items.map(({ id }) => id)).toEqual(["msg_xi0", "msg_xi1", "msg_own", "msg_xi3"]);
  conversation.remove(conversation.items[1]!);
  conversation.addLater(() => [said]);
  expect(conversation.items.map(({ id }) => id)).toEqual(["msg_xi0", "msg_own", "msg_xi3", "msg_xi4"]);
});
