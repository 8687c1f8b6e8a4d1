import type { Detector } from "../detector.ts";

/** Of the machine that it was recorded on and the network around it. */
export const machine: readonly Detector[] = [
  {
    name: "home-folder",
    family: "machine",
    finds: "home folders: `/home/NAME`, `/Users/NAME`, `C:\\Users\\NAME`",
    byDefault: true,
    hints: ["home", "Users"],
    backslashes: true,
    find: /(?<![\w.])\/(?:home|Users)\/(?!Shared\b)[^\s/\\"'`:;,<>()[\]{}|?*&#«]+|(?<![A-Za-z0-9])[A-Za-z]:\\{1,8}Users\\{1,8}(?!Public\b)[^\s/\\"'`:;,<>()[\]{}|?*&#«]+/dg,
  },
  {
    name: "ip-address",
    family: "machine",
    finds: "IPv4 and IPv6 addresses, but not loopback",
    byDefault: false,
    hints: [".", ":"],
    find: /(?<![\w.])(?!127\.|0\.0\.0\.0)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w]|\.\d)|(?<![\w:])(?=[0-9A-Fa-f:]{0,40}\d)(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}|(?:[0-9A-Fa-f]{1,4}:){2,7}:)(?![\w:])/dg,
  },
  {
    name: "host-name",
    family: "machine",
    finds: "host names with a domain",
    byDefault: false,
    hints: ["."],
    find: /(?<![\w.@-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}(?:com|net|org|io|ai|dev|app|cloud|internal|local|localdomain|lan|corp|intra|home|co|edu|gov|mil|info|biz|eu|de|uk|fr|nl|it|es|ch|at|se|no|dk|fi|pl|cz|us|ca|au|nz|jp|cn|in|br|ru|me|tech|xyz)(?![\w-]|\.[A-Za-z])/dg,
  },
];
