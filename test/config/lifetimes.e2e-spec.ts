import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { invalidCode } from '../support/expected.js';
import { aCode, anAccount } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

describe('lifetimes', () => {
  it('a code expires after CODE_TTL', async () => {
    const service = await startService({ env: { CODE_TTL: '1s' } });
    const ada = await anAccount(service, 'ada');
    const code = await aCode(ada);

    await pass(1_100);

    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    await service.stop();
  });

  it('no token outlives SESSION_MAX_AGE, and a chain of codes never extends the login', async () => {
    const service = await startService({ env: { TOKEN_TTL: '24h', SESSION_MAX_AGE: '1h' } });
    const ada = await anAccount(service, 'ada');
    const login = decodeToken(ada.token).claims as { auth_time: number; exp: number };
    expect(login.exp).toBe(login.auth_time + 3600);

    let token = ada.token;
    for (let link = 0; link < 20; link += 1) {
      // Without this wait, a lifetime that restarts at each link would go unnoticed.
      if (link === 1) await pass(1_100);
      const issued = await service.anyone.withToken(token).post<{ code: string }>('/api/auth/code');
      const exchanged = await service.anyone.post<{ token: string }>('/api/auth/code/exchange', {
        code: issued.body.code,
      });
      expect(exchanged.status).toBe(200);
      token = exchanged.body.token;
      const claims = decodeToken(token).claims as { auth_time: number; exp: number };
      expect(claims.auth_time).toBe(login.auth_time);
      expect(claims.exp).toBeLessThanOrEqual(login.auth_time + 3600);
    }
    await service.stop();
  });

  it('a code is refused once its login has reached SESSION_MAX_AGE', async () => {
    const service = await startService({ env: { SESSION_MAX_AGE: '2s' } });
    const ada = await anAccount(service, 'ada');
    const { auth_time: authTime } = decodeToken(ada.token).claims as { auth_time: number };
    const code = await aCode(ada);

    await pass((authTime + 3) * 1000 - Date.now());

    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    expect(await service.db.query('SELECT id FROM sessions WHERE code_hash IS NOT NULL')).toEqual([]);
    await service.stop();
  });
});
