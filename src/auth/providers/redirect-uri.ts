import { issuerUrl } from '../../config/readers.js';

/** No `localhost`, which can lead elsewhere (RFC 8252 section 8.3). A URL parser would read much else as 127.0.0.1. */
const LOOPBACK_URI = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{3,4})(?:\/[\w.~/-]{0,99})?$/;
const SCHEME = 'http:';
const MIN_PORT = 1024;
const MAX_PORT = 65_535;

export const REDIRECT_URI_EXPECTED =
  'must be http://127.0.0.1 or http://[::1] with a port from 1024 to 65535, and a path of at most 100 characters or none';

export function readRedirectUri(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const port = Number(LOOPBACK_URI.exec(value)?.[1]);
  return port >= MIN_PORT && port <= MAX_PORT && value.lastIndexOf('//') === SCHEME.length
    ? value
    : undefined;
}

/** What operators register at the provider. Undefined if `JWT_ISSUER` is no URL. */
export function callbackUri(jwtIssuer: string, providerName: string): string | undefined {
  const issuer = issuerUrl(jwtIssuer);
  return issuer && `${issuer.base}/api/auth/providers/${providerName}/callback`;
}
