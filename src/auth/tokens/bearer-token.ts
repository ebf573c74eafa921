import type { IncomingMessage } from 'node:http';

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Holds the token of a request, or one that a service asks about. */
export type Presented = { headers: object; raw?: IncomingMessage } | { askedAbout: string };

/** Reads no other place (RFC 6750 section 2.1). */
export function bearerToken(request: { headers: object; raw?: IncomingMessage }): string | null {
  const authorization = soleAuthorization(request);
  return (authorization !== undefined && BEARER.exec(authorization)?.[1]) || null;
}

export function presentedToken(presented: Presented): string | null {
  if (!('askedAbout' in presented)) return bearerToken(presented);
  return TOKEN.test(presented.askedAbout) ? presented.askedAbout : null;
}

/** Returns undefined for two headers: a proxy may have read the other one. */
export function soleAuthorization({ raw }: { raw?: IncomingMessage }): string | undefined {
  return raw?.headersDistinct['authorization']?.length === 1 ? raw.headers.authorization : undefined;
}
