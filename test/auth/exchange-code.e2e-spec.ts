import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aJwt, invalidCode, invalidFields, invalidToken } from '../support/expected.js';
import { aCode, anAccount, type Account } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

describe('POST /api/auth/code/exchange', () => {
  let service: Service;
  let ada: Account;

  beforeAll(async () => {
    service = await startService();
    ada = await anAccount(service, 'ada');
  });
  afterAll(() => service.stop());

  const exchange = (code: unknown) =>
    service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });

  it('turns a code into a token of the same user and another session', async () => {
    const answer = await exchange(await aCode(ada));

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ token: aJwt });
    const [issuer, granted] = [decodeToken(ada.token).claims, decodeToken(answer.body.token).claims];
    expect(granted['sub']).toBe(ada.id);
    expect(granted['sid']).not.toBe(issuer['sid']);
    const me = await service.anyone.withToken(answer.body.token).get('/api/me');
    expect(me.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [] });
  });

  it('hands on how the login was made, which only a session of an older instance leaves open', async () => {
    const { sid } = decodeToken((await exchange(await aCode(ada))).body.token).claims;
    const login = decodeToken(ada.token).claims['sid'] as string;
    const methods = () =>
      service.db.query('SELECT id, amr, service, bound_epoch FROM sessions WHERE id IN (?, ?)', [
        login,
        sid as string,
      ]);

    const none = { service: null, bound_epoch: null };
    expect(await methods()).toEqual(
      expect.arrayContaining([
        { id: login, amr: 'pwd', ...none },
        { id: sid, amr: 'pwd', ...none },
      ]),
    );

    const older = await anAccount(service, 'older');
    const opened = decodeToken(older.token).claims['sid'] as string;
    await service.db.query('UPDATE sessions SET amr = NULL WHERE id = ?', [opened]);
    const derived = decodeToken((await exchange(await aCode(older))).body.token).claims['sid'] as string;
    expect(await service.db.query('SELECT amr FROM sessions WHERE id = ?', [derived])).toEqual([
      { amr: null },
    ]);
  });

  it('works once; a second try revokes the session of the first', async () => {
    const code = await aCode(ada);
    const first = await exchange(code);
    const desktop = service.anyone.withToken(first.body.token);
    expect((await desktop.get('/api/me')).status).toBe(200);

    expect(await exchange(code)).toMatchObject(invalidCode);

    expect(await desktop.get('/api/me')).toMatchObject(invalidToken);
    expect((await ada.get('/api/me')).status).toBe(200);
    expect(await exchange(code)).toMatchObject(invalidCode);
  });

  it('answers every invalid code alike', async () => {
    const used = await aCode(ada);
    await exchange(used);
    const expired = await aCode(ada);
    await service.db.query('UPDATE authorization_codes SET expires_at = ? WHERE session_id = ?', [
      Date.now() - 1,
      decodeToken(ada.token).claims['sid'] as string,
    ]);
    const codes = [
      used,
      expired,
      'A'.repeat(43),
      '+'.repeat(43),
      'A'.repeat(42),
      'A'.repeat(44),
      'x',
      '',
      ' ',
      'a\u0000b',
      '\ud800',
      "' OR 1=1 --",
      'x'.repeat(9000),
    ];

    const bodies = [];
    for (const code of codes) {
      const answer = await exchange(code);
      expect(answer, code.slice(0, 50)).toMatchObject(invalidCode);
      bodies.push({ ...(answer.body as object), requestId: 'any' });
    }

    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  it.each([[undefined], [null], [0], [1], [false], [true], [[]], [{}], [{ code: 1 }], [{ $gt: '' }]])(
    'refuses a code of another type: %j',
    async (code) => {
      expect(await exchange(code)).toMatchObject(invalidFields('code'));
    },
  );

  it('rejects text that is only similar to a code', async () => {
    const code = await aCode(ada);
    const near = [
      [code],
      { code },
      ` ${code}`,
      `${code} `,
      `${code}\n`,
      `${code}=`,
      code.toLowerCase(),
      code.toUpperCase(),
      code.slice(0, -1),
      encodeURIComponent(`${code}%`),
    ];
    for (const other of near) {
      expect([other, (await exchange(other)).status]).toEqual([other, 400]);
    }
    const inQuery = await service.anyone.post(`/api/auth/code/exchange?code=${code}`, {});
    expect(inQuery).toMatchObject(invalidFields('query'));

    expect((await exchange(code)).status).toBe(200);
  });

  it('accepts neither a token as a code nor a code as a token', async () => {
    expect(await exchange(ada.token)).toMatchObject(invalidCode);
    expect(await service.anyone.withToken(await aCode(ada)).get('/api/me')).toMatchObject(invalidToken);
  });

  it.each<[string, (who: Account) => Promise<unknown>]>([
    ['the session that issued it is revoked', (who) => revoke(service, who)],
    ['the user is gone', (who) => service.db.query('DELETE FROM users WHERE id = ?', [who.id])],
  ])('refuses a code once %s', async (_what, end) => {
    const grace = await anAccount(service, 'grace');
    const code = await aCode(grace);

    await end(grace);

    expect(await exchange(code)).toMatchObject(invalidCode);
  });

  it('keeps two codes of one user independent', async () => {
    const [one, two] = [await aCode(ada), await aCode(ada)];

    expect((await exchange(two)).status).toBe(200);
    expect((await exchange(one)).status).toBe(200);
  });

  it('needs no token, and ignores a wrong one', async () => {
    const code = await aCode(ada);

    const answer = await service.anyone.withToken('a.b.c').post('/api/auth/code/exchange', { code });

    expect(answer.status).toBe(200);
  });
});

function revoke(service: Service, { token }: Account): Promise<unknown> {
  return service.db.query('UPDATE sessions SET revoked_at = ? WHERE id = ?', [
    Date.now(),
    decodeToken(token).claims['sid'] as string,
  ]);
}
