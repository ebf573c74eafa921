import { createHash, createHmac } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { aCodeText, invalidFields, malformedJson } from '../support/expected.js';
import { aBoundCode, aCode, anAccount, type Account } from '../support/personas.js';
import { startService } from '../support/service.js';

const CHALLENGE = createHash('sha256').update('v'.repeat(43)).digest('base64url');

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('POST /api/auth/code', () => {
  it('issues a code', async () => {
    const answer = await ada.post('/api/auth/code', {});

    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ code: aCodeText });
  });

  it.each<[string, Parameters<Account['send']>[2]]>([
    ['no body', {}],
    ['an empty JSON body', { headers: { 'content-type': 'application/json' } }],
    ['{}', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    [
      'fields it does not know',
      { headers: { 'content-type': 'application/json' }, body: '{"ttl":9,"userId":"x"}' },
    ],
  ])('works with %s', async (_what, request) => {
    const answer = await ada.send('POST', '/api/auth/code', request);

    expect(answer.status, answer.text).toBe(201);
  });

  it.each(['null', '[]', '"x"', '1', '{'])('refuses %s as a body', async (body) => {
    const answer = await ada.send('POST', '/api/auth/code', {
      headers: { 'content-type': 'application/json' },
      body,
    });

    expect(answer).toMatchObject(malformedJson);
  });

  it.each([
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: 'plain' }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: 's256' }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE, codeChallengeMethod: ['S256'] }, ['codeChallengeMethod']],
    [{ codeChallenge: CHALLENGE }, ['codeChallengeMethod']],
    [{ codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: CHALLENGE.slice(1), codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE}x`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE}\n`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: `${CHALLENGE.slice(1)}=`, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: [CHALLENGE], codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: 0, codeChallengeMethod: 'S256' }, ['codeChallenge']],
    [{ codeChallenge: null, codeChallengeMethod: null }, ['codeChallenge', 'codeChallengeMethod']],
  ])('refuses any other PKCE request: %j', async (body, fields) => {
    expect(await ada.post('/api/auth/code', body)).toMatchObject(invalidFields(...fields));
  });

  it('issues codes that are independent of each other', async () => {
    const codes = [];
    for (let round = 0; round < 500; round += 1) codes.push(await aCode(ada));

    expect(new Set(codes).size).toBe(500);
    for (const position of [0, 1, 20, 41]) {
      expect(new Set(codes.map((code) => code[position])).size, `character ${position}`).toBeGreaterThan(48);
    }
    const ones = Buffer.from(codes.map((code) => code.slice(0, 40)).join(''), 'base64url').reduce(
      (sum, byte) => sum + byte.toString(2).replaceAll('0', '').length,
      0,
    );
    // 120,000 fair bits: nine standard deviations either side
    expect(Math.abs(ones - 60_000)).toBeLessThan(1_560);
  });

  it('stores only a keyed hash of a code and its challenge', async () => {
    const plain = await aCode(ada);
    const { code: bound, verifier } = await aBoundCode(ada);
    const challenge = createHash('sha256').update(verifier).digest('base64url');

    const rows = await service.db.query('SELECT * FROM authorization_codes');

    const stored = JSON.stringify(rows);
    for (const secret of [plain, bound, challenge]) {
      const bytes = Buffer.from(secret, 'base64url');
      for (const form of [secret, bytes.toString('hex'), bytes.toString('base64')])
        expect(stored).not.toContain(form);
    }
    const hashes = rows.map(({ hash }) => hash);
    expect(hashes).toContain(createHmac('sha256', plain).update('').digest('base64url'));
    expect(hashes).toContain(createHmac('sha256', bound).update(challenge).digest('base64url'));
  });
});
