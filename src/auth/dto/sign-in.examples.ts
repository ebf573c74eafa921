import { A_REFRESH_TOKEN } from './refresh.request.js';

const ADA = { email: 'ada@example.com', password: 'correct horse battery' };
const GRACE = { email: 'grace@example.com', password: 'a compiler in the attic' };
/** The verifier of RFC 7636, appendix B, and its challenge. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const CODE = '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

/** The requests with which the README begins. */
export const REGISTRATIONS = {
  ada: { summary: 'Ada', value: ADA },
  grace: { summary: 'Grace, whom Ada adds', value: GRACE },
};

export const LOGINS = {
  plain: { summary: 'an access token', value: ADA },
  refresh: { summary: 'a short-lived access token and a refresh token', value: { ...ADA, refresh: true } },
};

export const LOGOUTS = {
  token: { summary: 'the session of the access token', value: {} },
  refreshToken: { summary: 'the session of a refresh token', value: { refreshToken: A_REFRESH_TOKEN } },
};

export const ISSUES = {
  plain: { summary: 'a code that its holder can exchange', value: {} },
  pkce: {
    summary: 'a code that only the holder of the verifier can exchange (PKCE)',
    value: { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' },
  },
  service: {
    summary: 'a code that only the service billing can exchange, with its verifier',
    value: { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256', audience: 'billing' },
  },
};

export const EXCHANGES = {
  plain: { summary: 'the code alone', value: { code: CODE } },
  pkce: { summary: 'the code with its verifier (PKCE)', value: { code: CODE, codeVerifier: VERIFIER } },
};
