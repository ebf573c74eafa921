import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { invalidCode } from '../support/expected.js';
import { type Account, aCode, anAccount } from '../support/personas.js';
import { type Service, startClusterWithoutLimits } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const MAX_UNUSED = 10;
const MANY = 1000;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('the unused codes of a session', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(on(0), 'ada');
  });

  const on = (i: number): Service => cluster.instances[i % cluster.instances.length]!;
  const issue = (i: number): Promise<string> => aCode(ada.at(on(i)));
  const exchange = (code: string, i = 0) => on(i).anyone.post('/api/auth/code/exchange', { code });
  async function issued(count: number): Promise<string[]> {
    const codes: string[] = [];
    for (let i = 0; i < count; i += 1) codes.push(await issue(i));
    return codes;
  }
  async function rows(): Promise<number> {
    const values = [decodeToken(ada.token).claims['sid'] as string];
    const sql = 'SELECT COUNT(*) AS found FROM authorization_codes WHERE session_id = ?';
    return Number((await cluster.db.query(sql, values))[0]!['found']);
  }

  it('are ten: an older one is void on every instance, and stays so when new ones are used', async () => {
    const codes = await issued(MAX_UNUSED + 3);
    const old = codes.slice(0, 3);
    for (const [i, code] of old.entries()) expect(await exchange(code, i)).toMatchObject(invalidCode);

    for (const [i, code] of codes.slice(3).toReversed().entries()) {
      expect((await exchange(code, i)).status).toBe(200);
    }

    for (const [i, code] of old.entries()) expect(await exchange(code, i)).toMatchObject(invalidCode);
  });

  it('are not those that were used: a code waits for its service while twenty others come and go', async () => {
    const slow = await issue(0);
    for (const i of times(2 * MAX_UNUSED, (number) => number)) {
      expect((await exchange(await issue(i), i + 1)).status).toBe(200);
    }

    expect((await exchange(slow)).status).toBe(200);
  });

  it('are those of that session alone', async () => {
    const code = await issue(0);
    const grace = await anAccount(on(0), 'grace');
    for (const _ of times(MAX_UNUSED + 5, () => 0)) await aCode(grace);

    expect((await exchange(code)).status).toBe(200);
  });

  it('leave no more rows than that, however many were issued', async () => {
    const earlier = await issued(MANY - MAX_UNUSED);
    const last = await issued(MAX_UNUSED);

    await waitFor('void codes are deleted', hangTimeoutMs(), async () => (await rows()) <= 4 * MAX_UNUSED);

    for (const code of last) expect((await exchange(code)).status).toBe(200);
    const some = earlier.filter((_, place) => place % 50 === 0);
    for (const code of [...some, ...earlier.slice(-MAX_UNUSED)]) {
      expect(await exchange(code)).toMatchObject(invalidCode);
    }
  });
});
