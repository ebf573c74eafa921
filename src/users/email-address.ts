import { domainToASCII, domainToUnicode } from 'node:url';

const MAX_OCTETS = 254; // RFC 5321 section 4.5.3.1.3: a path of 256 less its angle brackets
const MAX_LOCAL_OCTETS = 64; // RFC 5321 section 4.5.3.1.1
/** Decomposed and astral letters shrink in punycode, so the raw text may be longer than its canonical form. */
const MAX_RAW_UNITS = 512;

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i; // RFC 5322 section 3.2.3
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // RFC 5890 section 2.3.1
/** Nearly every domain: nothing in it that a URL parser would map, decode or take for a number. */
const USUAL_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const PUNYCODE = /(?:^|\.)xn--/;
const DOMAIN_TEXT = /^[\p{L}\p{M}\p{N}.-]+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * The one canonical form of an e-mail address: what is stored, compared, limited by and returned.
 * undefined for anything that is no plain `dot-atom@domain` of at most 254 octets (RFC 5321). It runs on
 * raw request bodies, so it takes any value and never throws. Applied to its own result it changes nothing.
 */
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

function canonicalDomain(raw: string): string | undefined {
  if (USUAL_DOMAIN.test(raw) && !PUNYCODE.test(raw.toLowerCase())) return raw.toLowerCase();
  if (!isPlainDomainText(raw)) return undefined;
  const ascii = domainToASCII(raw);
  const labels = ascii.split('.');
  if (labels.length < 2 || !labels.every((label) => LDH_LABEL.test(label))) return undefined;
  // An all-digit last label is an IPv4 address to every URL parser (WHATWG URL, "ends in a number").
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined;
  return PUNYCODE.test(ascii) && !isGenuinePunycode(ascii) ? undefined : ascii;
}

/**
 * domainToASCII percent-decodes, drops invisible characters and maps look-alikes (`ａ`, `ﬁ`, U+212A) to
 * ASCII without a word, so two addresses that look different would become one. They are refused before it.
 */
function isPlainDomainText(raw: string): boolean {
  return (
    DOMAIN_TEXT.test(raw) &&
    !INVISIBLE.test(raw) &&
    [...raw].every((character) => character.normalize('NFKC') === character)
  );
}

/** domainToASCII passes an all-ASCII `xn--` label unread; domainToUnicode leaves one that is not valid. */
function isGenuinePunycode(ascii: string): boolean {
  const unicode = domainToUnicode(ascii);
  return !PUNYCODE.test(unicode) && isPlainDomainText(unicode);
}
