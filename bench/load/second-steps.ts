import { createSecretKey } from 'node:crypto';
import { codeOfStep, SecondFactors, stepAt } from '../baseline/second-factors.ts';
import { ENABLED_AT, secretOf } from '../fixture/second-factors.ts';
import type { BenchUser, Fixture } from '../fixture/fixture.ts';
import { expectAnswer, is, isToken } from './answer.ts';
import type { Call, Operation } from './call.ts';
import { cycle } from './cycle.ts';
import { requestText } from './request.ts';

const CHALLENGE_TTL_MS = 300_000;
/** Before the end of a step the one before it is not used: it could be over when the request arrives. */
const MARGIN_MS = 5000;

/**
 * Logins of users in turn, each with a code that was not used yet. The challenges come without the first step, whose hash
 * would hide what the second one costs.
 */
export function secondSteps({ protectedUsers, keysFile }: Fixture): Operation {
  if (protectedUsers.length === 0) return () => undefined;
  const factors = new SecondFactors(keysFile);
  const next = cycle(protectedUsers);
  const lastSteps = new Map<string, number>();
  let waiting: BenchUser | undefined;
  return () => {
    const user = waiting ?? next();
    const now = Date.now();
    const step = Math.max(stepAt(now + MARGIN_MS) - 1, (lastSteps.get(user.id) ?? 0) + 1);
    waiting = step > stepAt(now) + 1 ? user : undefined;
    if (waiting) return undefined;
    lastSteps.set(user.id, step);
    const challenge = factors.challenge({
      userId: user.id,
      enabledAt: ENABLED_AT,
      expiresAt: now + CHALLENGE_TTL_MS,
    });
    return secondStep(user, { challenge, code: codeOfStep(createSecretKey(secretOf(user)), step) });
  };
}

function secondStep(user: BenchUser, body: { challenge: string; code: string }): Call {
  return {
    request: requestText({ method: 'POST', path: '/api/auth/login/second-factor', body }),
    accept: (response) =>
      void expectAnswer(response, 200, {
        token: isToken,
        user: { id: is(user.id), email: is(user.email) },
      }),
  };
}
