import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { aJwt, invalidCode, invalidFields } from '../support/expected.js';
import { aBoundCode, aCode, anAccount, exchange, isAlive } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken, sessionIdOf } from '../support/signing-keys.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('POST /api/auth/code/exchange', () => {
  it('turns a code into a token of the same user and another session', async () => {
    const answer = await exchange(service, await aCode(ada));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ token: aJwt });
    expect(decodeToken(answer.body.token).claims['sub']).toBe(ada.id);
    expect(sessionIdOf(answer.body)).not.toBe(sessionIdOf(ada));
    const me = await ada.as(answer.body.token).get('/api/me');
    expect(me.body).toEqual({ user: { id: ada.id, email: ada.email }, orgs: [] });
  });

  it('hands on how the login was made', async () => {
    const derived = sessionIdOf((await exchange(service, await aCode(ada))).body);
    const ids = [sessionIdOf(ada), derived];
    const sql = 'SELECT id, amr, service, bound_epoch FROM sessions WHERE id IN (?, ?)';
    const expected = ids.map((id) => ({ id, amr: 'pwd', service: null, bound_epoch: null }));
    expect(await service.db.query(sql, ids)).toEqual(expect.arrayContaining(expected));
  });

  it('answers every invalid code alike', async () => {
    const used = await aCode(ada);
    await exchange(service, used);
    const expired = await aCode(ada);
    await service.db.query('UPDATE authorization_codes SET expires_at = ? WHERE session_id = ?', [
      Date.now() - 1,
      sessionIdOf(ada),
    ]);
    const shaped = ['A'.repeat(43), '+'.repeat(43), 'A'.repeat(42), 'A'.repeat(44), 'x'.repeat(9000)];
    const others = ['x', '', ' ', 'a\u0000b', '\ud800', "' OR 1=1 --"];
    const bodies = [];
    for (const code of [used, expired, ...shaped, ...others]) {
      const answer = await exchange(service, code);
      expect(answer, code.slice(0, 50)).toMatchObject(invalidCode);
      bodies.push(JSON.stringify({ ...answer.body, requestId: 'any' }));
    }
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([[undefined], [null], [0], [1], [false], [true], [[]], [{}], [{ code: 1 }], [{ $gt: '' }]])(
    'refuses a code of another type: %j',
    async (code) => {
      expect(await exchange(service, code)).toMatchObject(invalidFields('code'));
    },
  );

  it('rejects text that is only similar to a code', async () => {
    const code = await aCode(ada);
    const around = [[code], { code }, ` ${code}`, `${code} `, `${code}\n`, `${code}=`];
    const altered = [
      code.toLowerCase(),
      code.toUpperCase(),
      code.slice(0, -1),
      encodeURIComponent(`${code}%`),
    ];
    for (const other of [...around, ...altered])
      expect([other, (await exchange(service, other)).status]).toEqual([other, 400]);
    const inQuery = await service.anyone.post(`/api/auth/code/exchange?code=${code}`, {});
    expect(inQuery).toMatchObject(invalidFields('query'));
    expect((await exchange(service, code)).status).toBe(200);
  });

  it('accepts neither a token as a code nor a code as a token', async () => {
    expect(await exchange(service, ada.token)).toMatchObject(invalidCode);
    expect(await isAlive(ada.as(await aCode(ada)))).toBe(false);
  });

  it.each([
    ['the session that issued it is revoked', 'UPDATE sessions SET revoked_at = 1 WHERE user_id = ?'],
    ['the user is gone', 'DELETE FROM users WHERE id = ?'],
  ])('refuses a code once %s', async (_what, end) => {
    const grace = await anAccount(service, 'grace');
    const code = await aCode(grace);
    await service.db.query(end, [grace.id]);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
  });

  it('keeps two codes of one user independent', async () => {
    const [one, two] = [await aCode(ada), await aCode(ada)];
    expect((await exchange(service, two)).status).toBe(200);
    expect((await exchange(service, one)).status).toBe(200);
  });

  it('needs no token, and ignores a wrong one', async () => {
    const wrong = { anyone: service.anyone.withToken('a.b.c') };
    expect((await exchange(wrong, await aCode(ada))).status).toBe(200);
  });
});

describe('a code with a proof key (RFC 7636)', () => {
  const verify = (code: string, codeVerifier: unknown) => exchange(service, code, { codeVerifier });

  it('is exchanged with the verifier', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const answer = await verify(code, verifier);
    expect(answer.status, answer.text).toBe(200);
    expect(await isAlive(ada.as(answer.body.token))).toBe(true);
  });

  it('is refused without the verifier or with a wrong one, and not consumed', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const near = [challenge, verifier.toLowerCase(), `${verifier} `];
    for (const wrong of [undefined, '', 'x', 'x'.repeat(43), ...near])
      expect(await verify(code, wrong), `verifier ${wrong}`).toMatchObject(invalidCode);
    expect((await verify(code, verifier)).status).toBe(200);
  });

  it.each([[null], [0], [true], [['x']], [{}]])(
    'refuses a verifier of another type: %j',
    async (verifier) => {
      const { code } = await aBoundCode(ada);
      expect(await verify(code, verifier)).toMatchObject(invalidFields('codeVerifier'));
    },
  );

  it('refuses a verifier for a code that was issued without a challenge', async () => {
    const code = await aCode(ada);
    expect(await verify(code, randomBytes(32).toString('base64url'))).toMatchObject(invalidCode);
    expect((await exchange(service, code)).status).toBe(200);
  });
});
