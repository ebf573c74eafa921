import { domainToASCII } from 'node:url';
import { invalid } from './problems.ts';

const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
const CONTROL_CHARACTER = /\p{Cc}/u;
// Stands in for the shipped list: a look-up in a set costs the same whatever its size.
const COMMON_PASSWORDS = new Set(['password', 'password1', 'qwertyuiop', '12345678', '123456789']);

export type Body = Record<string, unknown>;

export function objectBody(body: unknown): Body {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  throw invalid('', 'must be an object');
}

export function text(body: Body, field: string): string {
  const value = body[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(field, 'must be a non-empty string');
}

/** The one canonical form that is stored, compared and returned. */
export function email(body: Body): string {
  const given = text(body, 'email').replace(/^ +| +$/g, '');
  const at = given.lastIndexOf('@');
  const local = given.slice(0, at).toLowerCase();
  const domain = domainToASCII(given.slice(at + 1));
  const canonical = `${local}@${domain}`;
  if (
    at < 1 ||
    local.length > 64 ||
    !LOCAL_PART.test(local) ||
    !DOMAIN.test(domain) ||
    canonical.length > 254
  ) {
    throw invalid('email', 'must be an email address');
  }
  return canonical;
}

export function password(body: Body): string {
  return text(body, 'password').normalize('NFC');
}

export function newPassword(body: Body, canonicalEmail: string): string {
  const chosen = password(body);
  const length = [...chosen].length;
  if (length < 8 || length > 128) throw invalid('password', 'must have 8 to 128 characters');
  if (!chosen.isWellFormed() || chosen.includes('\uFFFD')) throw invalid('password', 'must be well-formed');

  const folded = chosen.toLowerCase();
  const local = canonicalEmail.slice(0, canonicalEmail.lastIndexOf('@'));
  if (COMMON_PASSWORDS.has(folded) || folded === canonicalEmail || folded === local) {
    throw invalid('password', 'is too easy to guess');
  }
  return chosen;
}

export function orgName(body: Body): string {
  const name = text(body, 'name').trim().normalize('NFC');
  const length = [...name].length;
  if (length < 1 || length > 100 || CONTROL_CHARACTER.test(name)) {
    throw invalid('name', 'must have 1 to 100 characters and no control characters');
  }
  return name;
}

export function oneOf(body: Body, field: string, values: readonly string[]): string {
  const value = text(body, field);
  if (values.includes(value)) return value;
  throw invalid(field, `must be one of ${values.join(', ')}`);
}

/** RFC 7636 section 4.2, S256 only; null when the caller asks for no proof. */
export function codeChallenge(body: Body): string | null {
  if (body['codeChallenge'] === undefined && body['codeChallengeMethod'] === undefined) return null;
  const challenge = text(body, 'codeChallenge');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw invalid('codeChallenge', 'must be 43 characters of base64url');
  oneOf(body, 'codeChallengeMethod', ['S256']);
  return challenge;
}
