import { afterAll, describe, expect, it } from 'vitest';
import { invalidToken, unauthorized } from '../support/expected.js';
import { anAccount } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/raw-connection.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('the bearer token', () => {
  const meWith = (authorization: string) => service.anyone.with({ authorization }).get('/api/me');

  it('missing: gets a challenge without an error code', async () => {
    const answer = await service.anyone.get('/api/me');

    expect(answer).toMatchObject(unauthorized);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('invalid: gets the error invalid_token', async () => {
    const answer = await meWith('Bearer nonsense');

    expect(answer).toMatchObject(invalidToken);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'accepts the scheme in any letter case: %s',
    async (scheme) => {
      expect((await meWith(`${scheme} ${ada.token}`)).status).toBe(200);
    },
  );

  it.each([
    ['nothing after the scheme', () => 'Bearer'],
    ['spaces after the scheme', () => 'Bearer  '],
    ['two tokens', () => `Bearer ${ada.token} ${ada.token}`],
    ['a word after the token', () => `Bearer ${ada.token} b`],
    ['a comma after the token', () => `Bearer ${ada.token},`],
    ['a comma list', () => `Basic eA==, Bearer ${ada.token}`],
    ['no scheme', () => ada.token],
    ['another scheme', () => `Token ${ada.token}`],
    ['basic', () => `Basic ${Buffer.from(`${ada.email}:${ada.password}`).toString('base64')}`],
    ['quotes', () => `Bearer "${ada.token}"`],
    ['a scheme that only starts alike', () => `BearerX ${ada.token}`],
    ['no space', () => `Bearer${ada.token}`],
  ])('is refused with %s', async (_what, authorization) => {
    const answer = await meWith(authorization());

    expect(answer).toMatchObject(invalidToken);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  });

  it('is read from the Authorization header only', async () => {
    const inQuery = await service.anyone.get(`/api/me?access_token=${ada.token}&token=${ada.token}`);
    const inCookie = await service.anyone
      .with({ cookie: `token=${ada.token}; access_token=${ada.token}` })
      .get('/api/me');
    const inBody = await service.anyone.post('/api/auth/code', { access_token: ada.token, token: ada.token });
    const elsewhere = await service.anyone
      .with({ 'x-access-token': ada.token, 'x-api-key': ada.token })
      .get('/api/me');

    for (const answer of [inQuery, inCookie, inBody, elsewhere]) expect(answer).toMatchObject(unauthorized);
  });

  it.each([
    ['the same one', [0, 0]],
    ['a right one and then a wrong one', [0, 1]],
    ['a wrong one and then a right one', [1, 0]],
  ])('is refused in two headers: %s', async (_what, order) => {
    const headers = [`Authorization: Bearer ${ada.token}`, 'Authorization: Bearer a.b.c'];

    const bytes = requestBytes(
      'GET /api/me',
      order.map((index) => headers[index]!),
    );

    expect(await sendBytes(service, bytes)).toMatchObject(invalidToken);
  });

  it.each([
    ['GET', '/api/me'],
    ['POST', '/api/auth/code'],
    ['POST', '/api/orgs'],
    ['GET', '/api/orgs/x'],
    ['GET', '/api/orgs/x/members'],
    ['POST', '/api/orgs/x/members'],
    ['PATCH', '/api/orgs/x/members/y'],
    ['DELETE', '/api/orgs/x/members/y'],
  ])('is required for %s %s, whatever else is wrong', async (method, path) => {
    expect(await service.anyone.send(method, path)).toMatchObject(unauthorized);
    expect(await service.anyone.withToken('a.b.c').send(method, path)).toMatchObject(invalidToken);
  });
});
