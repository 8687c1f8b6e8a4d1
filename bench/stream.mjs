// A stream of 500 words with nothing to wait for, beside aimock.
import { requestOf } from "./fixtures.mjs";
import { number, rounds, SECONDS, spread, startServer, table, times } from "./harness.mjs";

const PATH = "/v1/chat/completions";
// Five hundred words of about six characters.
const CHARACTERS = 3000;

export async function stream() {
  const settings = { count: 10, replyCharacters: CHARACTERS };
  const contenders = [await startServer("stuntdouble", settings), await startServer("aimock", settings)];
  const body = requestOf({ count: 10, bytes: 1024, stream: true });
  const { stuntdouble, aimock } = await rounds(contenders, { path: PATH, body, seconds: SECONDS });
  for (const contender of contenders) await contender.stop();
  table(
    "500-word SSE, nothing to wait for, streams a second (median of rounds, least to most)",
    ["stuntdouble", "aimock", "of aimock", "CPU µs a stream"],
    [
      [
        spread(stuntdouble.rate),
        spread(aimock.rate),
        times(stuntdouble.rate.median / aimock.rate.median),
        `${number(stuntdouble.cpuMicros.median)} / ${number(aimock.cpuMicros.median)}`,
      ],
    ],
  );
}
