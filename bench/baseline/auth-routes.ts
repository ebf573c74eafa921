import { createHash, createHmac, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Database, DuplicateError } from './db.ts';
import { codeChallenge, email, newPassword, objectBody, password, text } from './input.ts';
import { hashPassword, needsRehash, verifyPassword } from './passwords.ts';
import { Problem } from './problems.ts';
import type { NewEvent, Record } from './record.ts';
import * as sql from './statements.ts';
import {
  authenticate,
  readRefreshToken,
  REFRESH_IDLE_SECONDS,
  refreshable,
  signToken,
  TOKEN_TTL_SECONDS,
} from './tokens.ts';

export function authRoutes(app: FastifyInstance, db: Database, record: Record, codeTtlSeconds: number): void {
  app.post('/api/auth/register', async (request, reply) => {
    const body = objectBody(request.body);
    const user = { id: randomUUIDv7(), email: email(body) };
    const hash = await hashPassword(newPassword(body, user.email));
    const session = newSession(user.id);
    try {
      await db.transaction(async (tx) => {
        await sql.insertUser(tx, user, hash, session.createdAt);
        await sql.insertSession(tx, session);
        await record.write(tx, [about(session, 'account.registered'), about(session, 'session.started')]);
      });
    } catch (error) {
      if (!(error instanceof DuplicateError)) throw error;
      throw new Problem(409, 'email_taken', 'A user with this email already exists.');
    }
    return reply.code(201).send({ token: signToken(session), user });
  });

  app.post('/api/auth/login', async (request) => {
    const body = objectBody(request.body);
    const user = await sql.findUser(db, email(body));
    const given = password(body);
    if (!(await verifyPassword(user?.passwordHash, given)) || !user) {
      const challenge = { 'WWW-Authenticate': 'Bearer' };
      throw new Problem(401, 'invalid_credentials', 'The email or the password is wrong.', {}, challenge);
    }
    if (needsRehash(user.passwordHash)) await sql.replacePasswordHash(db, user.id, await hashPassword(given));
    const session = newSession(user.id);
    const started = (): NewEvent[] => [about(session, 'session.started')];
    const answer = { user: { id: user.id, email: user.email } };
    if (body['refresh'] !== true) {
      await record.change((tx) => sql.insertSession(tx, session), started);
      return { token: signToken(session), ...answer };
    }
    await record.change((tx) => sql.insertSession(tx, session, 1), started);
    return { ...refreshable(session, 1), ...answer };
  });

  app.post('/api/auth/refresh', async (request) => {
    const shown = readRefreshToken(text(objectBody(request.body), 'refreshToken'));
    const now = Date.now();
    const expiresAt = now + REFRESH_IDLE_SECONDS * 1000;
    const rotated = shown && (await sql.rotateSession(db, { ...shown, now, expiresAt })) === 1;
    const stored = rotated && (await sql.findSession(db, shown.id));
    if (!stored) throw new Problem(401, 'invalid_refresh_token', 'The refresh token is not valid.');
    const session = { ...stored, id: shown.id, createdAt: now, expiresAt };
    return refreshable(session, shown.generation + 1);
  });

  app.post('/api/auth/code', async (request, reply) => {
    const caller = authenticate(request.headers.authorization);
    const challenge = codeChallenge(objectBody(request.body ?? {}));
    const code = randomBytes(32).toString('base64url');
    const createdAt = Date.now();
    await sql.insertCode(db, {
      hash: hashCode(code, challenge),
      sessionId: caller.sessionId,
      createdAt,
      expiresAt: createdAt + codeTtlSeconds * 1000,
    });
    return reply.code(201).send({ code });
  });

  app.post('/api/auth/code/exchange', async (request) => {
    const body = objectBody(request.body);
    const verifier = body['codeVerifier'];
    const challenge = typeof verifier === 'string' ? sha256(verifier) : null;
    const session = await exchange(db, hashCode(text(body, 'code'), challenge));
    if (!session) throw new Problem(400, 'invalid_code', 'The code is unknown, used or expired.');
    return { token: signToken(session) };
  });
}

async function exchange(db: Database, codeHash: string): Promise<sql.SessionRow | undefined> {
  const granted = newSession('');
  try {
    const opened = await sql.exchangeCode(db, codeHash, granted);
    if (opened) return { ...granted, ...opened };
  } catch (error) {
    if (!(error instanceof DuplicateError)) throw error;
  }
  // A reused code may be stolen: the session of its first exchange is revoked (RFC 6749, 4.1.2).
  await sql.revokeSessionOfCode(db, codeHash, Date.now());
  return undefined;
}

export function newSession(userId: string): sql.SessionRow {
  const createdAt = Date.now();
  return {
    id: randomUUIDv7(),
    userId,
    authTime: createdAt,
    createdAt,
    expiresAt: createdAt + TOKEN_TTL_SECONDS * 1000,
  };
}

export function about({ id, userId }: sql.SessionRow, type: string): NewEvent {
  return { type, actorId: userId, sessionId: id, userId };
}

function hashCode(code: string, challenge: string | null): string {
  return createHmac('sha256', code)
    .update(challenge ?? '')
    .digest('base64url');
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}
