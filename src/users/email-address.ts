import { domainToASCII, domainToUnicode } from 'node:url';

const MAX_OCTETS = 254; // RFC 5321 section 4.5.3.1.3: a path of 256 less its angle brackets
const MAX_LOCAL_OCTETS = 64; // RFC 5321 section 4.5.3.1.1
/** allows for letters that shrink in punycode, so that raw text is longer than its canonical form */
const MAX_RAW_UNITS = 512;

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i; // RFC 5322 section 3.2.3
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // RFC 5890 section 2.3.1
/** matches nearly every domain, and nothing that a URL parser would map, decode or read as a number */
const USUAL_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const PUNYCODE = /(?:^|\.)xn--/;
const DOMAIN_TEXT = /^[\p{L}\p{M}\p{N}.-]+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

// Returns the canonical form, which is stored, compared, rate-limited and returned; undefined for anything but a plain
// `dot-atom@domain` of at most 254 octets (RFC 5321). It is idempotent; it runs on raw bodies, so it never throws.
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

/** Returns a prefix of canonical emails, or undefined if none begins so. A non-ASCII domain must be whole. */
export function emailPrefix(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS) return undefined;
  const prefix = canonicalEmail(input) ?? input.replace(/^ +| +$/g, '');
  // Tested before it is made lower case, which turns U+212A into a k.
  return prefix.length <= MAX_OCTETS && PREFIX.test(prefix) ? prefix.toLowerCase() : undefined;
}

function canonicalDomain(raw: string): string | undefined {
  if (USUAL_DOMAIN.test(raw) && !PUNYCODE.test(raw.toLowerCase())) return raw.toLowerCase();
  if (!isPlainDomainText(raw)) return undefined;
  const ascii = domainToASCII(raw);
  const labels = ascii.split('.');
  if (labels.length < 2 || !labels.every((label) => LDH_LABEL.test(label))) return undefined;
  // To URL parsers an all-digit last label makes an IPv4 address (WHATWG URL, "ends in a number").
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined;
  return PUNYCODE.test(ascii) && !isGenuinePunycode(ascii) ? undefined : ascii;
}

// domainToASCII silently percent-decodes, drops invisible characters and maps look-alikes (`ａ`, `ﬁ`, U+212A)
// to ASCII, which would make addresses equal that look different.
function isPlainDomainText(raw: string): boolean {
  return (
    DOMAIN_TEXT.test(raw) &&
    !INVISIBLE.test(raw) &&
    [...raw].every((character) => character.normalize('NFKC') === character)
  );
}

/** domainToASCII passes all-ASCII `xn--` labels unread; domainToUnicode leaves invalid ones as they are. */
function isGenuinePunycode(ascii: string): boolean {
  const unicode = domainToUnicode(ascii);
  return !PUNYCODE.test(unicode) && isPlainDomainText(unicode);
}

/** The first character that an email can have, and the one that follows the last. */
const FIRST = '!';
const END = '\u007f';

/** Returns bounds, the second one excluded: one on each side of the email, since with more SQLite takes another index. */
export function emailRange(prefix: string, after: string | undefined): [from: string, end: string] {
  return [after === undefined || after < prefix ? prefix : after + FIRST, prefix + END];
}
