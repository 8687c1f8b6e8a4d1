import { describe, expect, it } from "vitest";
import { createRedactor } from "../guard/redact.ts";
import { tokenOf } from "./bind.ts";
import { isContractPlaceholder, isPlaceholder, secretsIn } from "./secrets.ts";

describe("a placeholder is no secret, whatever it is called", () => {
  const found = async (isNone: (text: string) => boolean, text: string) => {
    const redactor = await createRedactor({}, undefined, isNone);
    const arguments_ = JSON.stringify({ api_key: text, url: `https://${text}@example.org` });
    const json = JSON.stringify({
      password: text,
      headers: { authorization: `Bearer ${text}` },
      arguments: arguments_,
    });
    return secretsIn(json, redactor).map(({ pointer }) => pointer);
  };

  it.each([tokenOf("WORKDIR"), tokenOf("USER") + tokenOf("PASSWORD"), `${tokenOf("USER")}:${tokenOf("PASSWORD")}`])(
    "%s, in every tape",
    async (text) => {
      expect(await found(isPlaceholder, text)).toEqual([]);
      expect(await found(isContractPlaceholder, text)).toEqual([]);
    },
  );

  it("but with anything beside it is one", async () => {
    for (const text of [`${tokenOf("USER")}hunter2`, "$$opaque", "$", "hunter2$"])
      expect(await found(isContractPlaceholder, text)).toContain("/password");
  });

  it("$name in contracts, where it is the whole of a text", async () => {
    const redactor = await createRedactor({}, undefined, isContractPlaceholder);
    expect(secretsIn('{"password":"$opaque","token":{"api_key":"$pin"}}', redactor)).toEqual([]);
    expect(await found(isContractPlaceholder, "$opaque")).toEqual(["/arguments"]);
    expect(await found(isPlaceholder, "$opaque")).toContain("/password");
  });

  it("<volatile>, which stands where a value was", async () => {
    const redactor = await createRedactor({}, undefined, isPlaceholder);
    expect(secretsIn('{"password":"<volatile>"}', redactor)).toEqual([]);
  });
});
