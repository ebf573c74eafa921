import { createHmac, randomBytes, randomUUIDv7, timingSafeEqual } from 'node:crypto';
import { unauthorized } from './problems.ts';
import type { SessionRow } from './statements.ts';

export const TOKEN_TTL_SECONDS = 86_400;
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

export function signToken(session: SessionRow): string {
  const issued = Math.floor(session.createdAt / 1000);
  const claims = {
    iss: 'accounts',
    aud: 'accounts',
    sub: session.userId,
    sid: session.id,
    jti: randomUUIDv7(),
    iat: issued,
    exp: issued + TOKEN_TTL_SECONDS,
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
