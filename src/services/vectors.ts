import { hashOf, randomOf } from "../chat/random.ts";
import { type ApiError, badRequest } from "../dialects/api-error.ts";

export interface EmbeddingOutput {
  /** One vector, given for every input. */
  embedding?: number[];
  /** One vector an input. */
  vectors?: number[][];
}

export const MOST_DIMENSIONS = 65_536;
/** As many as OpenAI takes, which is more than others do. */
const MOST_INPUTS = 2048;
/** So many inputs with the longest vectors of OpenAI, which is some seconds of work. */
const MOST_NUMBERS = MOST_INPUTS * 3072;

export function isDimensions(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= MOST_DIMENSIONS;
}

/**
 * A short request must not keep the server busy for minutes.
 * @throws {ApiError} when more vectors are asked for than any provider gives
 */
export function checkAmount(
  inputs: number,
  dimensions: number,
  refuse: (message: string) => ApiError = badRequest,
): void {
  if (inputs > MOST_INPUTS) throw refuse(`${inputs} inputs are too many; send at most ${MOST_INPUTS} at once.`);
  if (inputs * dimensions <= MOST_NUMBERS) return;
  const most = Math.floor(MOST_NUMBERS / dimensions);
  throw refuse(`${inputs} inputs with vectors of ${dimensions} numbers are too many; send at most ${most} at once.`);
}

/** Little-endian 32-bit floats, as the API sends them. */
export function toBase64(vector: number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString("base64");
}

/**
 * A vector of unit length that depends on nothing but the text: the same input is always the same point.
 * @param dimensions at least 1
 */
export function madeVector(text: string, dimensions: number): number[] {
  const random = randomOf(hashOf(text));
  const vector = Array.from({ length: dimensions }, () => random() * 2 - 1);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}
