import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RawRequest } from "../dialects/raw-request.ts";
import { dialects } from "../services/registry.ts";
import { Router } from "./router.ts";

const router = new Router(dialects);
const NO_BODY = new Uint8Array(0);

function find(method: string, url: string, headers: Record<string, string> = {}) {
  const raw = new RawRequest(method, url, headers, NO_BODY);
  const routed = router.find(raw);
  return routed && { operation: routed.operation.name, scenario: routed.scenario, path: raw.path, params: raw.params };
}

function otherMethods(method: string, url: string): Record<string, string> {
  const others = router.otherMethods(new RawRequest(method, url, {}, NO_BODY));
  return Object.fromEntries([...others].map(([other, { name }]) => [other, name]));
}

describe("Router", () => {
  it("finds an exact route, with or without a query", () => {
    expect(find("POST", "/v1/chat/completions")).toMatchObject({ operation: "openai-chat", scenario: undefined });
    expect(find("POST", "/v1/messages?beta=true")).toMatchObject({ operation: "anthropic-messages" });
  });

  it("takes a scenario off, and decodes it", () => {
    expect(find("POST", "/@check%20out/v1/chat/completions")).toMatchObject({
      operation: "openai-chat",
      scenario: "check out",
      path: "/v1/chat/completions",
    });
  });

  it("takes a provider off, after a scenario too", () => {
    expect(find("POST", "/anthropic/v1/messages")).toMatchObject({
      operation: "anthropic-messages",
      path: "/v1/messages",
    });
    expect(find("POST", "/@a/anthropic/v1/messages")).toMatchObject({ operation: "anthropic-messages", scenario: "a" });
  });

  it("takes off any prefix before a path that is known", () => {
    expect(find("POST", "/my/own/gateway/v1/chat/completions")).toMatchObject({ operation: "openai-chat" });
  });

  it("tells providers that share a path apart: by their headers, then by the segment", () => {
    expect(find("GET", "/v1/models")).toMatchObject({ operation: "openai-models" });
    expect(find("GET", "/v1/models", { "anthropic-version": "2023-06-01" })).toMatchObject({
      operation: "anthropic-models",
    });
    expect(find("GET", "/anthropic/v1/models")).toMatchObject({ operation: "anthropic-models" });
  });

  it("gives the parameters of the path", () => {
    expect(find("GET", "/v1/models/gpt-4o")?.params).toMatchObject({ id: "gpt-4o" });
  });

  it("finds nothing where nothing is, and knows the methods of a path", () => {
    expect(find("POST", "/v2/nothing")).toBeUndefined();
    expect(find("GET", "/v1/chat/completions")).toBeUndefined();
    expect(otherMethods("GET", "/v1/chat/completions")).toEqual({ POST: "openai-chat" });
    expect(otherMethods("PUT", "/model/arn%3Aaws/converse")).toEqual({ POST: "bedrock-converse" });
    expect(otherMethods("POST", "/v1beta/models/gemini-3")).toEqual({ GET: "gemini-models" });
    expect(otherMethods("POST", "/v1beta/models/gemini-3:dance")).toEqual({});
    expect(otherMethods("POST", "/v2/nothing")).toEqual({});
  });

  it("takes nothing off a path that nobody can decode", () => {
    expect(find("POST", "/openai/deployments/%E0%A4%A/chat/completions")).toBeUndefined();
    expect(find("POST", "/@50%/v1/chat/completions")).toMatchObject({ operation: "openai-chat", scenario: "50%" });
  });

  it("takes any path without failing", () => {
    const segment = fc.oneof(fc.string(), fc.constantFrom("v1", "@", "@x", "%", "%zz", "anthropic", "chat", "..", ""));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        find("POST", `/${segments.join("/")}`);
        find("POST", `/${segments.join("/")}/v1/chat/completions`);
      }),
    );
  });
});
