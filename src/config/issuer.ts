import { type Format, type Reader, variable } from './readers.js';

export interface IssuerUrl {
  /** without a slash at its end */
  base: string;
  /** empty where the issuer is at the root of its host */
  path: string;
}

// Clients can discover an issuer only by a URL without query and fragment (RFC 8414 section 2). `http` is allowed for
// development and for networks of one's own.
export function issuerUrl(issuer: string): IssuerUrl | undefined {
  if (!/^https?:\/\/[^\s?#\\]+$/.test(issuer) || !URL.canParse(issuer)) return undefined;
  const { username, password, pathname } = new URL(issuer);
  if (username !== '' || password !== '') return undefined;
  return { base: issuer.replace(/\/$/, ''), path: pathname.replace(/\/$/, '') };
}

const MAX_LENGTH = 60;

/** A colon separates the issuer from the account in the label of an app. */
const LABEL: Format<string> = {
  expected: `text of 1 to ${MAX_LENGTH} characters without a colon`,
  parse: (text) => (/^[^\p{C}:]{1,60}$/u.test(text) ? text : undefined),
};

const fromJwtIssuer: Reader<string> = (variables) => {
  const issuer = variables.get('JWT_ISSUER') || 'accounts';
  const name = issuerUrl(issuer) ? new URL(issuer).hostname : issuer.replaceAll(/[\p{C}:]+/gu, ' ');
  return name.slice(0, MAX_LENGTH).trim() || 'accounts';
};

export const mfaIssuer = variable('MFA_ISSUER', fromJwtIssuer, LABEL);
