import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidCode, invalidToken } from '../support/expected.js';
import { aCode, anAccount } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';

describe.each([
  ['is disabled', 'UPDATE users SET disabled_at = 1 WHERE id = ?'],
  ['has all sessions ended', 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?'],
])('a user who %s', (_what, sql) => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is refused at the next request, by every session and code of before', async () => {
    const ada = await anAccount(service, 'ada');
    const exchange = (code: string) =>
      service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    const derived = ada.as((await exchange(await aCode(ada))).body.token);
    const code = await aCode(ada);
    for (const session of [ada, derived]) expect((await session.get('/api/me')).status).toBe(200);

    await service.db.query(sql, [ada.id]);

    for (const session of [ada, derived]) expect(await session.get('/api/me')).toMatchObject(invalidToken);
    expect(await exchange(code)).toMatchObject(invalidCode);
  });
});
