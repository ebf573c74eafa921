import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { SLOW_HASH } from '../support/slow-hash.js';
import { anAccount, anEmail, aPassword, logIn } from '../support/personas.js';
import { startService } from '../support/service.js';

const LIMIT = 400;
/** more than the queue takes */
const ATTEMPTS = 150;

const remaining = ({ headers }: { headers: Headers }): number =>
  Number(/^"login";r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

const service = await startService({ env: { ...SLOW_HASH, RATE_LIMIT_LOGIN: `${LIMIT}/15m` } });
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('a storm of logins', () => {
  const wrongLogins = (email: () => string) =>
    Promise.all(times(ATTEMPTS, () => logIn(service, { email: email(), password: aPassword() })));

  it('is refused at once beyond the limit of the queue, uncounted, and delays no other route', async () => {
    const storm = wrongLogins(anEmail);
    const others = await Promise.all(times(20, () => ada.get('/api/me')));
    const answers = await storm;
    expect(others.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 503]));
    for (const answer of answers) {
      expect(remaining(answer)).toBe(answer.status === 503 ? LIMIT : LIMIT - 1);
      if (answer.status !== 503) continue;
      expect(answer.body).toMatchObject({ code: 'unavailable' });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
  });

  it('of one e-mail is counted by its limit only as far as a password was compared', async () => {
    const answers = await wrongLogins(() => ada.email);
    const answered = (status: number): number => answers.filter((answer) => answer.status === status).length;
    const hashed = answered(401);
    expect(hashed).toBeGreaterThan(0);
    expect(hashed).toBeLessThan(ATTEMPTS);
    expect(answered(503)).toBe(ATTEMPTS - hashed);
    const right = await logIn(service, ada);
    expect(right.status).toBe(200);
    expect(remaining(right)).toBe(LIMIT - hashed - 1);
  });
});
