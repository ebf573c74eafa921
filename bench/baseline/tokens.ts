import { createHmac, randomBytes, randomUUIDv7, timingSafeEqual } from 'node:crypto';
import { unauthorized } from './problems.ts';
import type { SessionRow } from './statements.ts';

export const TOKEN_TTL_SECONDS = 86_400;
export const REFRESH_IDLE_SECONDS = 14 * 86_400;
const ACCESS_TOKEN_TTL_SECONDS = 900;
const LEEWAY_SECONDS = 30;

export interface Caller {
  userId: string;
  sessionId: string;
  authTime: number;
}

interface Claims {
  iss: string;
  aud: string;
  sub: string;
  sid: string;
  exp: number;
  iat: number;
  auth_time: number;
}

const key = randomBytes(32);
const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt' })).toString('base64url');

/** What a login with a refresh token, and a refresh, answer. */
export function refreshable(
  session: SessionRow,
  generation: number,
): { token: string; expiresAt: string; refreshToken: string } {
  const message = `${session.id}.${generation}`;
  const expiresAt = (Math.floor(session.createdAt / 1000) + ACCESS_TOKEN_TTL_SECONDS) * 1000;
  return {
    token: signToken(session, ACCESS_TOKEN_TTL_SECONDS),
    expiresAt: new Date(expiresAt).toISOString(),
    refreshToken: `${message}.${macOf(message).toString('base64url')}`,
  };
}

export function readRefreshToken(text: string): { id: string; generation: number } | undefined {
  const [, message = '', id = '', generation, mac = ''] =
    /^(([\da-f-]{36})\.([1-9]\d{0,9}))\.([\w-]{43})$/.exec(text) ?? [];
  const given = Buffer.from(mac, 'base64url');
  const expected = macOf(message);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return { id, generation: Number(generation) };
}

function macOf(message: string): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

export function signToken(session: SessionRow, lifetimeSeconds = TOKEN_TTL_SECONDS): string {
  const issued = Math.floor(session.createdAt / 1000);
  const claims = {
    iss: 'accounts',
    aud: 'accounts',
    sub: session.userId,
    sid: session.id,
    jti: randomUUIDv7(),
    iat: issued,
    exp: issued + lifetimeSeconds,
    auth_time: Math.floor(session.authTime / 1000),
  };
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

/** @throws Problem 401 for anything but a token that this process signed and that is still good */
export function authenticate(authorization: string | undefined): Caller {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized(false);

  const claims = verify(token);
  if (!claims) throw unauthorized(true);
  return { userId: claims.sub, sessionId: claims.sid, authTime: claims.auth_time * 1000 };
}

function verify(token: string): Claims | undefined {
  const dot = token.lastIndexOf('.');
  // Only tokens with the one header that is signed here are looked at, which pins algorithm and type.
  if (!token.startsWith(`${header}.`) || dot <= header.length) return undefined;
  const expected = createHmac('sha256', key).update(token.slice(0, dot)).digest();
  const given = Buffer.from(token.slice(dot + 1), 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;

  const claims = JSON.parse(
    Buffer.from(token.slice(header.length + 1, dot), 'base64url').toString(),
  ) as Claims;
  const now = Date.now() / 1000;
  const good = claims.iss === 'accounts' && claims.aud === 'accounts' && claims.exp > now - LEEWAY_SECONDS;
  return good && claims.iat <= now + LEEWAY_SECONDS ? claims : undefined;
}
