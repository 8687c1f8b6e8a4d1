import { words } from "./harness.mjs";

/** Fixtures by their number; the one that the load asks for stands in the middle, and it alone has a long reply. */
export function fixturesOf({ count = 10, replyCharacters = 600, streamingProfile }) {
  const asked = Math.floor(count / 2);
  return Array.from({ length: count }, (_, index) => ({
    match: { userMessage: `question number ${index} about topic ${index % 97}.` },
    response: { content: words(index === asked ? replyCharacters : Math.min(replyCharacters, 600)) },
    ...(streamingProfile && { streamingProfile }),
  }));
}

/** A chat request of about so many bytes that asks for the fixture in the middle. */
export function requestOf({ count = 10, bytes = 1024, stream = false }) {
  const index = Math.floor(count / 2);
  const question = `question number ${index} about topic ${index % 97}.`;
  const body = {
    model: "gpt-4o",
    stream,
    messages: [
      { role: "system", content: "You are brief." },
      { role: "user", content: question },
    ],
  };
  const rest = bytes - JSON.stringify(body).length;
  body.messages[1].content = `${words(Math.max(0, rest >> 1))} ${question} ${words(Math.max(0, rest - (rest >> 1)))}`;
  return JSON.stringify(body);
}
