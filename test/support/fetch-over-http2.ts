import { once } from "node:events";
import { connect } from "node:http2";

/** The platform's fetch speaks HTTP/2 only by TLS; this one speaks it in the clear. */
export const fetchOverHttp2: typeof fetch = async (input, init) => {
  const url = new URL(String(input));
  const client = connect(url.origin);
  const headers: Record<string, string> = {};
  new Headers(init?.headers).forEach((value, name) => {
    if (name !== "connection" && name !== "host") headers[name] = value;
  });
  const stream = client.request({ ":method": init?.method ?? "GET", ":path": url.pathname + url.search, ...headers });
  stream.end((init?.body as string | undefined) ?? undefined);
  init?.signal?.addEventListener("abort", () => stream.close());
  const [answer] = (await once(stream, "response")) as [Record<string, string>];
  let cancelled = false;
  const body = new ReadableStream({
    start(controller) {
      stream.on("data", (chunk) => controller.enqueue(new Uint8Array(chunk)));
      stream.on("end", () => {
        client.close();
        if (cancelled) return;
        if (stream.rstCode === 0) controller.close();
        else controller.error(new TypeError("terminated"));
      });
      stream.on("error", (error) => {
        client.close();
        if (!cancelled) controller.error(error);
      });
    },
    cancel() {
      cancelled = true;
      client.destroy();
    },
  });
  const plain = Object.entries(answer).filter(([name]) => !name.startsWith(":"));
  return new Response(body, { status: Number(answer[":status"]), headers: plain });
};
