import { issuerUrl } from './issuer-url.js';
import { type Format, type Reader, variable } from './readers.js';

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
