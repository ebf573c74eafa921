import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anId } from '../support/expected.js';
import { anAccount, anOrgOf } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const DAY = 86_400;

describe('the claims of a token', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

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
    });
    expect(claims['iat']).toBeGreaterThanOrEqual(before);
    expect(claims['iat']).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
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
