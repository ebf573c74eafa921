import type { FastifyInstance } from 'fastify';
import { about, newSession } from './auth-routes.ts';
import type { Database, Db } from './db.ts';
import { objectBody, text } from './input.ts';
import { Problem } from './problems.ts';
import type { Record } from './record.ts';
import { type Challenge, findStep, type SecondFactors } from './second-factors.ts';
import type { SessionRow, UserRow } from './statements.ts';
import * as sql from './second-step-statements.ts';
import { insertSession } from './statements.ts';
import { signToken } from './tokens.ts';

type Outcome = { session: SessionRow; user: UserRow } | Problem;

/** Compares under the lock of the factor's row. What is wrong is committed as a failure. */
export function secondStepRoute(
  app: FastifyInstance,
  db: Database,
  record: Record,
  factors: SecondFactors,
): void {
  app.post('/api/auth/login/second-factor', async (request) => {
    const body = objectBody(request.body);
    const challenge = factors.readChallenge(text(body, 'challenge'));
    const code = text(body, 'code').replaceAll(' ', '');
    if (!challenge) throw voidChallenge();
    const outcome = await db.transaction((tx) => logIn(tx, challenge, code));
    if (outcome instanceof Problem) throw outcome;
    return { token: signToken(outcome.session), user: outcome.user };
  });

  async function logIn(tx: Db, { userId, enabledAt }: Challenge, code: string): Promise<Outcome> {
    const now = Date.now();
    const found = await sql.lockFactor(tx, userId, enabledAt);
    if (!found) return voidChallenge();
    const isFull = found.count !== null && found.count >= sql.MAX_FAILURES;
    if (isFull && found.since! > now - sql.WINDOW_MS) {
      return new Problem(429, 'rate_limited', 'Too many wrong codes.');
    }
    const step = findStep(factors.open(found.secret, userId), code, now);
    if (step === undefined || step <= found.lastStep) {
      await sql.countFailure(tx, userId, found, now);
      return new Problem(400, 'invalid_second_factor_code', 'The code is wrong or was used.');
    }
    await sql.useStep(tx, userId, step);
    if (found.count) await sql.clearFailures(tx, userId);
    const session = newSession(userId);
    await insertSession(tx, session);
    await record.write(tx, [about(session, 'session.started')]);
    return { session, user: { id: userId, email: found.email } };
  }
}

function voidChallenge(): Problem {
  return new Problem(401, 'invalid_challenge', 'Log in again.', {}, { 'WWW-Authenticate': 'Bearer' });
}
