import { afterAll, beforeAll, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { SLOW_HASH } from '../support/login-flood.js';
import { anAccount, aPassword } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

const LIMIT = 400;
/** more than the queue takes of one client */
const ATTEMPTS = 150;

let service: Service;

beforeAll(async () => {
  service = await startService({ env: { ...SLOW_HASH, RATE_LIMIT_LOGIN: `${LIMIT}/15m` } });
});
afterAll(() => service.stop());

it('a login refused for a full queue is not counted by its limit', async () => {
  const { email, password } = await anAccount(service, 'ada');

  const answers = await Promise.all(
    times(ATTEMPTS, () => service.anyone.post('/api/auth/login', { email, password: aPassword() })),
  );

  const answered = (status: number): number => answers.filter((answer) => answer.status === status).length;
  const hashed = answered(401);
  expect(hashed).toBeGreaterThan(0);
  expect(hashed).toBeLessThan(ATTEMPTS);
  expect(answered(503)).toBe(ATTEMPTS - hashed);
  const right = await service.anyone.post('/api/auth/login', { email, password });
  expect(right.status).toBe(200);
  expect(right.headers.get('ratelimit')).toContain(`"login";r=${LIMIT - hashed - 1};`);
});
