import { digitsOf, iban, ibanLength, luhn, remainder, verhoeff, weighted } from "../checksums.ts";
import { type Detector, type Growth, matches, type Place } from "../detector.ts";
import { patternGrowth } from "../growth.ts";

const DIGITS = "0123456789";
const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS = CAPITALS + CAPITALS.toLowerCase();
const TWO_DIGITS = [[DIGITS, DIGITS]] as const;

/** The shortest of the numbers that are digits alone, with what may stand between two of them, escaped too. */
const DIGITS_ENOUGH = /\d(?:[-+ ./()\\"nrtbf]{0,4}\d){6}/;

const CALLED_SOCIAL_SECURITY = /(?:\bssn|social[ _-]?security)[^\d\r\n]{0,24}$/i;

/** Of people. What is only digits is taken for theirs when its checksum is right, or its form leaves little doubt. */
export const personal: readonly Detector[] = [
  {
    name: "email",
    family: "personal",
    finds: "e-mail addresses",
    byDefault: true,
    hints: ["@"],
    find: emails,
    growing: /[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})?\.){1,8}\p{L}{2,24}/u,
    normal: (secret) => secret.toLowerCase(),
  },
  {
    name: "iban",
    family: "personal",
    finds: "IBANs with the right length and checksum, in one piece or in groups, in either case",
    byDefault: true,
    pairs: [[LETTERS, DIGITS]],
    find: ibans,
    growing: /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}(?!-?[A-Za-z0-9])/,
    normal: compactIban,
  },
  numbers(
    "card",
    "card numbers of the large networks with the right checksum",
    TWO_DIGITS,
    [
      /(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -]?)\d{6}\2\d{5}|3[068]\d{2}([ -]?)\d{6}\3\d{4})(?![\w-]|\.\d)/dg,
      /(?<![\w.-])\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}\1\d{3}(?![\w-]|\.\d)/dg,
    ],
    isCard,
    digitsOf,
  ),
  numbers(
    "national-id-us",
    "US social security numbers: `ddd-dd-dddd`; with spaces or without where they are called so",
    [[DIGITS, `${DIGITS}-`]],
    /(?<![\w-])(?!000|666|9)\d{3}(?:-(?!00)\d{2}-|(?<!\.\d{3})( ?)(?!00)\d{2}\1)(?!0000)\d{4}(?![\w-])/dg,
    (secret, before) => secret.includes("-") || CALLED_SOCIAL_SECURITY.test(before.slice(-50)),
    digitsOf,
  ),
  numbers(
    "national-id-es",
    "Spain's DNI and NIE, with their letter",
    [[DIGITS, `${CAPITALS}-`]],
    /(?<![\w-])(?:\d{8}|[XYZ]-?\d{7})-?[A-HJ-NP-TV-Z](?![\w-])/dg,
    isSpanish,
  ),
  numbers(
    "national-id-fr",
    "France's NIR with its key",
    TWO_DIGITS,
    /(?<![\w-])[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?![\w-])/dg,
    (secret) => 97 - remainder(digitsOf(secret).slice(0, 13), 97) === Number(digitsOf(secret).slice(13)),
    digitsOf,
  ),
  numbers(
    "national-id-br",
    "Brazil's CPF with its check digits: `ddd.ddd.ddd-dd`",
    [[DIGITS, "."]],
    /(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])/dg,
    isBrazilian,
  ),
  numbers(
    "national-id-in",
    "India's Aadhaar in groups of four, with its checksum",
    [[DIGITS, " -"]],
    /(?<![\w-]|\d{4} )[2-9]\d{3}([ -])\d{4}\1\d{4}(?![\w-]| \d{4})/dg,
    (secret) => verhoeff(digitsOf(secret)),
    digitsOf,
  ),
  numbers(
    "national-id-cn",
    "China's resident identity numbers with their checksum",
    TWO_DIGITS,
    /(?<!\w)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)/dg,
    isChinese,
  ),
  numbers(
    "phone",
    "telephone numbers: international with `+`, North American and British in groups",
    [
      ["+", DIGITS],
      [DIGITS, ").- "],
    ],
    [
      /(?<![\w+])\+[1-9](?:[ .\-/()]{0,2}\d){6,14}(?!\w)/dg,
      /(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-]|\.\d)/dg,
      // By the lengths of British area codes (https://en.wikipedia.org/wiki/Telephone_numbers_in_the_United_Kingdom).
      /(?<![\w.-])\(?0(?:2[03489]\)?[ -]\d{4}[ -]\d{4}|[17]\d{3}\)?(?: \d{6}|[ -]\d{3}[ -]\d{3})|(?:1(?:1\d|\d1)|[38]\d\d)\)?[ -]\d{3}[ -]\d{4})(?![\w-]|\.\d)/dg,
    ],
    undefined,
    (secret) => secret.replace(/[^\d+]/g, ""),
  ),
];

/** @param patterns several where one would look at each character in more than one way */
function numbers(
  name: string,
  finds: string,
  pairs: Detector["pairs"] & {},
  patterns: RegExp | readonly RegExp[],
  check?: Detector["check"],
  normal?: Detector["normal"],
): Detector {
  const all = [patterns].flat();
  let growths: Growth[] | undefined;
  return {
    name,
    family: "personal",
    finds,
    byDefault: true,
    pairs,
    holds: DIGITS_ENOUGH,
    find: (text) => all.flatMap((pattern) => matches(pattern, text, check)),
    growing: (text, from) => {
      growths ??= all.map(patternGrowth);
      return Math.min(...growths.map((growth) => growth(text, from)));
    },
    ...(normal && { normal }),
  };
}

const LOCAL = /[\p{L}\p{N}._%+'-]/u;
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})?\.){1,8}[\p{L}]{2,24}/uy;

/** From each `@` to both sides: a pattern that begins with the name would read a long text once a character. */
function emails(text: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (start > 0 && at - start < 64 && LOCAL.test(text[start - 1]!)) start--;
    while (start < at && /[.'%-]/.test(text[start]!)) start++;
    if (start === at) continue;
    DOMAIN.lastIndex = at + 1;
    if (DOMAIN.test(text)) places.push({ start, end: DOMAIN.lastIndex });
  }
  return places;
}

const IBAN_BEGINNING = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}[ -]?[A-Za-z0-9]/dg;
const IN_FOURS = /^[^-]{4}(?:-[^-]{4})*(?:-[^-]{1,3})?$/;
/** Letters for the bank, if any, and digits. */
const PLAIN_IBAN = /^[A-Z]{2}\d{2}[A-Z]{0,4}\d+$/;

/** As many characters as the country has: what follows may look like more of it. */
function ibans(text: string): Place[] {
  return matches(IBAN_BEGINNING, text).flatMap(({ start }) => {
    let end = start;
    for (let left = ibanLength(text.slice(start, start + 2).toUpperCase()); left > 0 && end < text.length; end++) {
      if (!/[ -]/.test(text[end]!)) left--;
    }
    return isIban(text.slice(start, end), text.slice(end, end + 2)) ? [{ start, end }] : [];
  });
}

function compactIban(secret: string): string {
  return secret.replace(/[ -]/g, "").toUpperCase();
}

/** Ids have dashes too, and hexadecimal ones lower case, so there has to be more to say for those. */
function isIban(written: string, next: string): boolean {
  const isInDashes = written.includes("-");
  if (/^[A-Za-z0-9]/.test(next) || (isInDashes && (/^-[A-Za-z0-9]/.test(next) || !IN_FOURS.test(written))))
    return false;
  const compact = compactIban(written);
  return iban(compact) && (!/[a-z]/.test(written) || PLAIN_IBAN.test(compact));
}

const NETWORKS =
  /^(?:4\d{15}|4\d{18}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17})$/;

function isCard(secret: string): boolean {
  const digits = digitsOf(secret);
  return NETWORKS.test(digits) && luhn(digits);
}

function isSpanish(secret: string): boolean {
  const compact = secret.replaceAll("-", "");
  const number = compact.slice(0, -1).replace(/^[XYZ]/, (letter) => String("XYZ".indexOf(letter)));
  return "TRWAGMYFPDXBNJZSQVHLCKE"[Number(number) % 23] === compact.at(-1);
}

function isBrazilian(secret: string): boolean {
  const digits = digitsOf(secret);
  if (/^(\d)\1*$/.test(digits)) return false;
  const check = (length: number) => {
    const weights = Array.from({ length }, (_, at) => length + 1 - at);
    return ((weighted(digits, weights, 11) * 10) % 11) % 10 === Number(digits[length]);
  };
  return check(9) && check(10);
}

function isChinese(secret: string): boolean {
  const rest = weighted(secret, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2], 11);
  return "10X98765432"[rest] === secret[17];
}
