import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { aCodeText, invalidCode, invalidFields, invalidToken, malformedJson } from '../support/expected.js';
import { aBoundCode, type Account, aCode, anAccount, exchange } from '../support/personas.js';
import { type Service, startClusterWithoutLimits } from '../support/service.js';
import { sessionIdOf } from '../support/signing-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const CHALLENGE = createHash('sha256').update('v'.repeat(43)).digest('base64url');
const MAX_UNUSED = 10;
const MANY = 1000;
const ROUNDS = 5;
const ACCOUNTS = 3;
const JSON_TYPE = { 'content-type': 'application/json' };

const cluster = await startClusterWithoutLimits();
const service = cluster.instances[0]!;
afterAll(() => cluster.stop());

let ada: Account;
beforeEach(async () => {
  ada = await anAccount(service, 'ada');
});

describe('POST /api/auth/code', () => {
  it.each<[string, Parameters<Account['send']>[2]]>([
    ['no body', {}],
    ['an empty JSON body', { headers: JSON_TYPE }],
    ['{}', { headers: JSON_TYPE, body: '{}' }],
    ['fields it does not know', { headers: JSON_TYPE, body: '{"ttl":9,"userId":"x"}' }],
  ])('issues a code, with %s', async (_what, request) => {
    const answer = await ada.send('POST', '/api/auth/code', request);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toEqual({ code: aCodeText });
  });

  it.each(['null', '[]', '"x"', '1', '{'])('refuses %s as a body', async (body) => {
    const answer = await ada.send('POST', '/api/auth/code', { headers: JSON_TYPE, body });
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
    for (const position of [0, 1, 20, 41])
      expect(new Set(codes.map((code) => code[position])).size, `character ${position}`).toBeGreaterThan(48);
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
    const rows = await cluster.db.query('SELECT * FROM authorization_codes');
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

  it('succeeds for one user although another one is deleted meanwhile', async () => {
    const ask = (account: Account) => account.post('/api/auth/code', {});
    for (let round = 1; round <= ROUNDS; round += 1) {
      const adas = await Promise.all(times(ACCOUNTS, () => anAccount(service, 'ada')));
      const gone = await anAccount(service, `gone-${round}`);
      // The check of its token finds the session, and the code that is inserted does not.
      await cluster.db.query(
        `CREATE TRIGGER vanishes BEFORE INSERT ON authorization_codes FOR EACH ROW
          BEGIN DELETE FROM sessions WHERE id = NEW.session_id AND id = '${sessionIdOf(gone)}'; END`,
      );
      const asked = times(ACCOUNTS * MAX_UNUSED, (i) => () => {
        return Promise.all([ask(adas[i % ACCOUNTS]!), ask(gone)]);
      });
      const answers = await atOnce(asked);
      await cluster.db.query('DROP TRIGGER vanishes');
      for (const [issued, refused] of answers) {
        expect(issued.status).toBe(201);
        expect(refused).toMatchObject(invalidToken);
      }
      for (const one of adas) expect(await rowsOf(one)).toBe(MAX_UNUSED);
    }
  });
});

async function rowsOf(account: Account): Promise<number> {
  const sql = 'SELECT hash FROM authorization_codes WHERE session_id = ?';
  return (await cluster.db.query(sql, [sessionIdOf(account)])).length;
}

describe('the unused codes of a session', () => {
  const on = (i: number): Service => cluster.instances[i % cluster.instances.length]!;
  const issue = (i: number): Promise<string> => aCode(ada.at(on(i)));
  async function issued(count: number): Promise<string[]> {
    const codes: string[] = [];
    for (let i = 0; i < count; i += 1) codes.push(await issue(i));
    return codes;
  }

  it('are ten: an older one is void on every instance, and stays so when new ones are used', async () => {
    const codes = await issued(MAX_UNUSED + 3);
    const old = codes.slice(0, 3);
    for (const [i, code] of old.entries()) expect(await exchange(on(i), code)).toMatchObject(invalidCode);
    for (const [i, code] of codes.slice(3).toReversed().entries())
      expect((await exchange(on(i), code)).status).toBe(200);
    for (const [i, code] of old.entries()) expect(await exchange(on(i), code)).toMatchObject(invalidCode);
  });

  it('are not those that were used: a code waits for its service while twenty others come and go', async () => {
    const slow = await issue(0);
    for (const i of times(2 * MAX_UNUSED, (number) => number))
      expect((await exchange(on(i + 1), await issue(i))).status).toBe(200);
    expect((await exchange(service, slow)).status).toBe(200);
  });

  it('are those of that session alone', async () => {
    const code = await issue(0);
    const grace = await anAccount(service, 'grace');
    for (const _ of times(MAX_UNUSED + 5, () => 0)) await aCode(grace);
    expect((await exchange(service, code)).status).toBe(200);
  });

  it('leave no more rows than that, however many were issued', async () => {
    const earlier = await issued(MANY - MAX_UNUSED);
    const last = await issued(MAX_UNUSED);
    await waitFor(
      'void codes are deleted',
      hangTimeoutMs(),
      async () => (await rowsOf(ada)) <= 4 * MAX_UNUSED,
    );
    for (const code of last) expect((await exchange(service, code)).status).toBe(200);
    const some = earlier.filter((_, place) => place % 50 === 0);
    for (const code of [...some, ...earlier.slice(-MAX_UNUSED)])
      expect(await exchange(service, code)).toMatchObject(invalidCode);
  });
});
