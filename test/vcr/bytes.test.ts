import fc from "fast-check";
import { expect, test } from "vitest";
import { vcr } from "../../src/testing/vcr/index.ts";
import { senders } from "./clients.ts";
import { listening, newFolder } from "./support.ts";

test.each(Object.entries(senders))("%s gets any bytes, in whatever pieces they are sent", async (_, send) => {
  let pieces: Uint8Array[] = [];
  const { url } = await listening((_, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const next = (index: number): void => {
      if (index < pieces.length) response.write(pieces[index], () => setImmediate(next, index + 1));
      else response.end();
    };
    next(0);
  });
  const piece = fc.uint8Array({ minLength: 1, maxLength: 5_000 });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (sent) => {
      pieces = sent;
      const options = { mode: "live", folder: newFolder(), providers: { openai: url } } as const;
      const received = await vcr.use("bytes", options, async () => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of await send(`${url}/v1/files/1/content`, "{}")) chunks.push(chunk);
        return Buffer.concat(chunks);
      });
      expect(received.equals(Buffer.concat(sent))).toBe(true);
    }),
    { numRuns: 12 },
  );
});
