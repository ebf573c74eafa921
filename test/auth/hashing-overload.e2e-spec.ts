import { afterAll, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { SLOW_HASH } from '../support/login-flood.js';
import { anAccount, anEmail, aPassword } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService({ env: SLOW_HASH });
afterAll(() => service.stop());

describe('a storm of logins', () => {
  it('is refused at once beyond the limit, and delays no other route', async () => {
    const ada = await anAccount(service, 'ada');

    const storm = times(150, () =>
      service.anyone.post('/api/auth/login', { email: anEmail(), password: aPassword() }),
    );
    const others = await Promise.all(times(20, () => ada.get('/api/me')));
    const answers = await Promise.all(storm);

    expect(others.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 503]));
    for (const { status, headers, body } of answers) {
      if (status !== 503) continue;
      expect(body).toMatchObject({ code: 'unavailable' });
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    const { email, password } = ada;
    expect((await service.anyone.post('/api/auth/login', { email, password })).status).toBe(200);
  });
});
