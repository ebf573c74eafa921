import type { IncomingMessage } from 'node:http';

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

/** Reads no other place (RFC 6750 section 2.1), and one header only: of two, a proxy may have read the other one. */
export function bearerToken({ raw }: { headers: object; raw?: IncomingMessage }): string | null {
  if (!raw) return null;
  const { headers, headersDistinct } = raw;
  if (headers.authorization === undefined || headersDistinct['authorization']?.length !== 1) return null;
  return BEARER.exec(headers.authorization)?.[1] ?? null;
}
