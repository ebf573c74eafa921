import { normalizedDomain } from '../config/domain-name.js';

const MAX_OCTETS = 254; // RFC 5321 section 4.5.3.1.3: a path of 256 less its angle brackets
const MAX_LOCAL_OCTETS = 64; // RFC 5321 section 4.5.3.1.1
const MAX_RAW_UNITS = 512;

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i; // RFC 5322 section 3.2.3

// Returns the normalized form, or undefined unless it is a plain `dot-atom@domain` (RFC 5321). Idempotent; never throws.
export function normalizedEmail(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS) return undefined;
  const address = input.replace(/^ +| +$/g, '');
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL_OCTETS || !DOT_ATOM.test(local)) return undefined;
  const domain = normalizedDomain(address.slice(at + 1));
  if (domain === undefined) return undefined;
  const normalized = `${local.toLowerCase()}@${domain}`;
  return normalized.length <= MAX_OCTETS ? normalized : undefined;
}

const PREFIX = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+(?:@[a-z0-9.-]*)?$/i;

/** Returns a prefix of normalized emails, or undefined if no email begins like this. A non-ASCII domain must be whole. */
export function emailPrefix(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS) return undefined;
  const prefix = normalizedEmail(input) ?? input.replace(/^ +| +$/g, '');
  // Test before toLowerCase, which turns U+212A into a k.
  return prefix.length <= MAX_OCTETS && PREFIX.test(prefix) ? prefix.toLowerCase() : undefined;
}

const FIRST = '!';
const END = '\u007f';

/** Excludes `end`. One bound on each side: with more bounds, SQLite uses another index. */
export function emailRange(prefix: string, after: string | undefined): [from: string, end: string] {
  return [after === undefined || after < prefix ? prefix : after + FIRST, prefix + END];
}
