/** The digits of a text, without what separates them. */
export function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}

/** Luhn's checksum (ISO/IEC 7812-1), for card numbers and some national ids. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return digits.length > 0 && sum % 10 === 0;
}

/** What is left of a number of any length after division. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % divisor;
  return rest;
}

/** ISO 13616: the first four characters moved to the end, letters as numbers from 10, modulo 97 is 1. */
export function iban(compact: string): boolean {
  if (compact.length === 0 || compact.length !== ibanLength(compact.slice(0, 2)) || /[^A-Z0-9]/.test(compact))
    return false;
  const moved = compact.slice(4) + compact.slice(0, 4);
  return (
    remainder(
      moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)),
      97,
    ) === 1
  );
}

/** Characters of a country's IBANs; 0 where there are none. */
export function ibanLength(country: string): number {
  return IBAN_LENGTHS.get(country) ?? 0;
}

/** Weighted sum of the digits modulo a number. */
export function weighted(digits: string, weights: readonly number[], modulus: number): number {
  return weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0) % modulus;
}

/** Verhoeff's checksum over the dihedral group of order ten, which India's Aadhaar numbers have. */
export function verhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    let digit = Number(digits[digits.length - 1 - at]);
    for (let times = at % 8; times > 0; times--) digit = VERHOEFF_PERMUTATION[digit]!;
    check = dihedral(check, digit);
  }
  return check === 0;
}

const VERHOEFF_PERMUTATION = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

function dihedral(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : 5 + ((left + right - 5) % 5);
  return right < 5 ? 5 + ((left - 5 - right + 5) % 5) : (left - right + 5) % 5;
}

/** Of each country's IBAN; the registry at https://www.swift.com/standards/data-standards/iban-international-bank-account-number. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 " +
    "FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 " +
    "LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 " +
    "ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
  )
    .split(" ")
    .map((entry): [string, number] => [entry.slice(0, 2), Number(entry.slice(2))]),
);
