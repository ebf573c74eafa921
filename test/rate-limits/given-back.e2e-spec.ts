import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { besideLoginFlood, SLOW_HASH } from '../support/login-flood.js';
import { anAccount, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

/** more than a busy machine hashes before so many were refused */
const LIMIT = 400;
const REFUSALS = 10;

const remaining = ({ headers }: { headers: Headers }): number =>
  Number(/^"login";r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

// Nothing of the queue and the limit is in the database.
describe.runIf(engine === 'sqlite')('a login refused for a full queue', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { ...SLOW_HASH, RATE_LIMIT_LOGIN: `${LIMIT}/15m` } });
  });
  afterAll(() => service.stop());

  it('is not counted by its limit', async () => {
    const { email, password } = await anAccount(service, 'ada');
    const login = (attempt: string) => service.anyone.post('/api/auth/login', { email, password: attempt });
    let [refused, hashed] = [0, 0];

    await besideLoginFlood(service, {}, async () => {
      while (refused < REFUSALS && hashed < LIMIT - 1) {
        const answer = await login(aPassword());
        if (answer.status === 503) refused += 1;
        else hashed += 1;
        expect(remaining(answer)).toBe(LIMIT - hashed);
      }
    });

    expect(refused).toBe(REFUSALS);
    const right = await login(password);
    expect(right.status).toBe(200);
    expect(remaining(right)).toBe(LIMIT - hashed - 1);
  });
});
