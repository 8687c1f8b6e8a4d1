// Loaded before a program (`node --require stuntdouble/block`, or `--import`), it blocks the network for it.
import { getEnvironmentData } from "node:worker_threads";
import { BLOCK_VARIABLE, readBlocks } from "./network-block/environment.ts";
import { imposeNetworkBlock } from "./network-block.ts";

const given = getEnvironmentData(BLOCK_VARIABLE) ?? process.env[BLOCK_VARIABLE];
imposeNetworkBlock(given === undefined ? [{}] : readBlocks(String(given)));
