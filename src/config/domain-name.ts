import { domainToASCII, domainToUnicode } from 'node:url';

const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // RFC 5890 section 2.3.1
/** matches nearly every domain, but nothing that a URL parser maps, decodes or reads as a number */
const USUAL_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const PUNYCODE = /(?:^|\.)xn--/;
const DOMAIN_TEXT = /^[\p{L}\p{M}\p{N}.-]+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** Returns the normalized form (ASCII, lower case), or undefined unless it is a domain with a dot. Never throws. */
export function normalizedDomain(raw: string): string | undefined {
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
