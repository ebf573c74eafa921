import { afterAll, describe, expect, it } from 'vitest';
import { anId, invalidToken } from '../support/expected.js';
import { anAccount, anOrgOf, aPassword, byCode, type Session } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken, signToken } from '../support/signing-keys.js';

const DAY = 86_400;

const service = await startService();
afterAll(() => service.stop());

describe('the claims of a token', () => {
  it('contain issuer, audience and expiry, and nothing personal', async () => {
    const before = Math.floor(Date.now() / 1000);
    const ada = await anAccount(service, 'ada');

    const { header, claims } = decodeToken(ada.token);

    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: service.installation.keys[0]!.kid });
    expect(claims).toEqual({
      iss: 'accounts',
      aud: 'accounts',
      sub: ada.id,
      sid: anId,
      jti: expect.stringMatching(/./),
      iat: expect.any(Number),
      exp: (claims['iat'] as number) + DAY,
      auth_time: claims['iat'],
      amr: ['pwd'],
      epoch: 0,
      client_id: 'accounts',
    });
    expect(claims['iat']).toBeGreaterThanOrEqual(before);
    expect(claims['iat']).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  it('tell by the epoch which sessions ended when all others did', async () => {
    const ada = await anAccount(service, 'ada');
    const { email, password } = ada;
    const newPassword = aPassword();
    await ada.put('/api/me/password', { currentPassword: password, newPassword });

    const login = await service.anyone.post<Session>('/api/auth/login', { email, password: newPassword });
    const code = decodeToken((await byCode(service, ada)).token).claims;

    expect(decodeToken(ada.token).claims['epoch']).toBe(0);
    expect(decodeToken(login.body.token).claims['epoch']).toBe(1);
    expect(code['epoch'], 'of the session that was kept').toBe(1);
  });

  it.each([
    ['by this version', 'pwd'],
    ['by an instance of the version before, which stores no method', null],
  ])('keep amr and auth_time when a session opened %s is refreshed or passed on', async (_, stored) => {
    const { email, password } = await anAccount(service, 'ada');
    const login = await service.anyone.post<Session & { refreshToken: string }>('/api/auth/login', {
      email,
      password,
      refresh: true,
    });
    const { sid } = decodeToken(login.body.token).claims as { sid: string };
    const auth_time = Math.floor(Date.now() / 1000) - 3600;
    await service.db.query('UPDATE sessions SET amr = ?, auth_time = ? WHERE id = ?', [
      stored,
      auth_time * 1000,
      sid,
    ]);

    const { refreshToken } = login.body;
    const refreshed = await service.anyone.post<Session>('/api/auth/refresh', { refreshToken });
    const code = await service.anyone
      .withToken(refreshed.body.token)
      .post<{ code: string }>('/api/auth/code');
    const opened = await service.anyone.post<Session>('/api/auth/code/exchange', { code: code.body.code });

    for (const { body } of [refreshed, opened]) {
      expect(decodeToken(body.token).claims).toMatchObject({
        auth_time,
        amr: ['pwd'],
        epoch: 0,
        client_id: 'accounts',
      });
    }
    const derived = decodeToken(opened.body.token).claims['sid'] as string;
    expect(await service.db.query('SELECT amr FROM sessions WHERE id = ?', [derived])).toEqual([
      { amr: stored },
    ]);
  });

  it('name the audience as the client', async () => {
    const ada = await anAccount(service, 'ada');
    const { header, claims } = decodeToken(ada.token);
    const [key] = service.installation.keys;
    for (const client_id of [undefined, 'billing', '', null, ['accounts']]) {
      const token = signToken(header, { ...claims, client_id }, key!);
      expect(await ada.as(token).get('/api/me')).toMatchObject(invalidToken);
    }
  });

  it('never contain a role', async () => {
    const ada = await anAccount(service, 'ada');
    await anOrgOf(ada);

    const login = await service.anyone.post<{ token: string }>('/api/auth/login', {
      email: ada.email,
      password: ada.password,
    });

    expect(JSON.stringify(decodeToken(login.body.token))).not.toMatch(/owner|admin|member|example\.com/);
  });

  it('are unique to each token', async () => {
    const ada = await anAccount(service, 'ada');
    const login = await service.anyone.post<{ token: string }>('/api/auth/login', {
      email: ada.email,
      password: ada.password,
    });

    const [first, second] = [decodeToken(ada.token).claims, decodeToken(login.body.token).claims];

    expect(first['jti']).not.toBe(second['jti']);
    expect(first['sid']).not.toBe(second['sid']);
  });

  it('follow the configuration', async () => {
    const configured = await startService({
      env: { JWT_ISSUER: 'https://id.example.com', JWT_AUDIENCE: 'shop', TOKEN_TTL: '10m' },
    });

    const ada = await anAccount(configured);

    const { claims } = decodeToken(ada.token);
    expect(claims).toMatchObject({ iss: 'https://id.example.com', aud: 'shop' });
    expect(claims['exp']).toBe((claims['iat'] as number) + 600);
    expect((await ada.get('/api/me')).status).toBe(200);
    await configured.stop();
  });
});
