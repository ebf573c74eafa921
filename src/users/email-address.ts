import { domainToASCII, domainToUnicode } from 'node:url';

const MAX_OCTETS = 254; // RFC 5321 section 4.5.3.1.3: a path of 256 less its angle brackets
const MAX_LOCAL_OCTETS = 64; // RFC 5321 section 4.5.3.1.1
/** letters may shrink in punycode, so raw text may be longer than its normalized form */
const MAX_RAW_UNITS = 512;

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i; // RFC 5322 section 3.2.3
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // RFC 5890 section 2.3.1
/** matches nearly every domain, but nothing that a URL parser maps, decodes or reads as a number */
const USUAL_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const PUNYCODE = /(?:^|\.)xn--/;
const DOMAIN_TEXT = /^[\p{L}\p{M}\p{N}.-]+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

// Returns the normalized form, or undefined unless it is a plain `dot-atom@domain` (RFC 5321). Idempotent; never throws.
export function canonicalEmail(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS) return undefined;
  const address = input.replace(/^ +| +$/g, '');
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL_OCTETS || !DOT_ATOM.test(local)) return undefined;
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === undefined) return undefined;
  const canonical = `${local.toLowerCase()}@${domain}`;
  return canonical.length <= MAX_OCTETS ? canonical : undefined;
}

const PREFIX = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+(?:@[a-z0-9.-]*)?$/i;

/** Returns a prefix of normalized emails, or undefined if no email begins like this. A non-ASCII domain must be whole. */
export function emailPrefix(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS) return undefined;
  const prefix = canonicalEmail(input) ?? input.replace(/^ +| +$/g, '');
  // Test before toLowerCase, which turns U+212A into a k.
  return prefix.length <= MAX_OCTETS && PREFIX.test(prefix) ? prefix.toLowerCase() : undefined;
}

function canonicalDomain(raw: string): string | undefined {
  if (USUAL_DOMAIN.test(raw) && !PUNYCODE.test(raw.toLowerCase())) return raw.toLowerCase();
  if (!isPlainDomainText(raw)) return undefined;
  const ascii = domainToASCII(raw);
  const labels = ascii.split('.');
  if (labels.length < 2 || !labels.every((label) => LDH_LABEL.test(label))) return undefined;
  // URL parsers read a domain with an all-digit last label as IPv4 (WHATWG URL, "ends in a number").
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined;
  return PUNYCODE.test(ascii) && !isGenuinePunycode(ascii) ? undefined : ascii;
}

// domainToASCII decodes percents, drops invisible characters and maps look-alikes (`ａ`, U+212A) to ASCII.
function isPlainDomainText(raw: string): boolean {
  return (
    DOMAIN_TEXT.test(raw) &&
    !INVISIBLE.test(raw) &&
    [...raw].every((character) => character.normalize('NFKC') === character)
  );
}

/** domainToASCII does not check ASCII `xn--` labels; domainToUnicode leaves invalid ones unchanged. */
function isGenuinePunycode(ascii: string): boolean {
  const unicode = domainToUnicode(ascii);
  return !PUNYCODE.test(unicode) && isPlainDomainText(unicode);
}

/** The first character of any email, and the one that follows the last. */
const FIRST = '!';
const END = '\u007f';

/** Excludes `end`. One bound on each side: with more bounds, SQLite uses another index. */
export function emailRange(prefix: string, after: string | undefined): [from: string, end: string] {
  return [after === undefined || after < prefix ? prefix : after + FIRST, prefix + END];
}
