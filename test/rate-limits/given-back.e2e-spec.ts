import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { SLOW_HASH } from '../support/login-flood.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { startService } from '../support/service.js';

const LIMIT = 400;
/** more than the queue takes */
const ATTEMPTS = 150;

const remaining = ({ headers }: { headers: Headers }): number =>
  Number(/^"login";r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

const service = await startService({ env: { ...SLOW_HASH, RATE_LIMIT_LOGIN: `${LIMIT}/15m` } });
afterAll(() => service.stop());

describe('a login refused for a full queue', () => {
  const wrongLogins = (email: () => string) =>
    Promise.all(
      times(ATTEMPTS, () =>
        service.anyone.post('/api/auth/login', { email: email(), password: aPassword() }),
      ),
    );

  it('is not counted by its limit', async () => {
    const { email, password } = await anAccount(service, 'ada');

    const answers = await wrongLogins(() => email);

    const answered = (status: number): number => answers.filter((answer) => answer.status === status).length;
    const hashed = answered(401);
    expect(hashed).toBeGreaterThan(0);
    expect(hashed).toBeLessThan(ATTEMPTS);
    expect(answered(503)).toBe(ATTEMPTS - hashed);
    const right = await service.anyone.post('/api/auth/login', { email, password });
    expect(right.status).toBe(200);
    expect(remaining(right)).toBe(LIMIT - hashed - 1);
  });

  it('says so', async () => {
    const answers = await wrongLogins(anEmail);

    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of answers) expect(remaining(answer)).toBe(answer.status === 503 ? LIMIT : LIMIT - 1);
  });
});
