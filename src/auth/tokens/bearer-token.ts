import type { IncomingMessage } from 'node:http';

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

/** Reads no other place (RFC 6750 section 2.1). */
export function bearerToken(request: { headers: object; raw?: IncomingMessage }): string | null {
  const authorization = soleAuthorization(request);
  return (authorization !== undefined && BEARER.exec(authorization)?.[1]) || null;
}

/** Returns undefined for two headers: a proxy may have read the other one. */
export function soleAuthorization({ raw }: { raw?: IncomingMessage }): string | undefined {
  return raw?.headersDistinct['authorization']?.length === 1 ? raw.headers.authorization : undefined;
}
