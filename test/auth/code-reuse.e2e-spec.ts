import { afterAll, describe, expect, it } from 'vitest';
import { invalidCode } from '../support/expected.js';
import { isAlive } from '../support/derived-sessions.js';
import { aBoundCode, aCode, anAccount, type Account } from '../support/personas.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const WARN = 40;
const BRANCH = 5000;

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('a code that is used again', () => {
  const exchange = (code: string, codeVerifier?: string) =>
    service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code, codeVerifier });

  async function exchanged(code: string, codeVerifier?: string): Promise<Account> {
    const { status, text, body } = await exchange(code, codeVerifier);
    expect(status, text).toBe(200);
    return ada.as(body.token);
  }

  const sessionOf = ({ token }: Account): string => decodeToken(token).claims['sid'] as string;

  it('revokes the session it opened with its branch, not the login that issued it', async () => {
    const stolen = await aCode(ada);
    const thief = await exchanged(stolen);
    const second = await exchanged(await aCode(thief));
    const third = await exchanged(await aCode(second));
    const branch = await exchanged(await aCode(thief));
    const unused = await aCode(third);

    expect(await exchange(stolen)).toMatchObject(invalidCode);

    const alive = await Promise.all([ada, thief, second, third, branch].map(isAlive));
    expect(alive).toEqual([true, false, false, false, false]);
    expect(await exchange(unused)).toMatchObject(invalidCode);
  });

  it('revokes its whole branch from the first session on, and no other branch', async () => {
    const [first, other] = [await exchanged(await aCode(ada)), await exchanged(await aCode(ada))];
    const below = await exchanged(await aCode(other));
    const code = await aCode(first);
    const [second, beside] = [await exchanged(code), await exchanged(await aCode(first))];
    const third = await exchanged(await aCode(second));

    expect(await exchange(code)).toMatchObject(invalidCode);

    const branch = await Promise.all([first, second, beside, third].map(isAlive));
    expect(branch).toEqual([false, false, false, false]);
    expect(await Promise.all([ada, other, below].map(isAlive))).toEqual([true, true, true]);
  });

  it('is logged, with the session that it revoked', async () => {
    const code = await aCode(ada);
    const desktop = await exchanged(code);
    const lineOf = (): string | undefined =>
      service.logs.find((line) => line.includes('code reused') && line.includes(sessionOf(desktop)));
    expect(lineOf()).toBeUndefined();

    await exchange(code);

    await expect.poll(lineOf, { timeout: hangTimeoutMs() }).toBeDefined();
    expect(JSON.parse(lineOf()!)).toMatchObject({
      level: WARN,
      msg: 'authorization code reused',
      sessionId: sessionOf(desktop),
    });
  });

  it('revokes nothing without its verifier, even after its row was deleted', async () => {
    const { code, verifier } = await aBoundCode(ada);
    const desktop = await exchanged(code, verifier);
    await service.db.query('DELETE FROM authorization_codes WHERE session_id = ?', [sessionOf(ada)]);

    expect(await exchange(code)).toMatchObject(invalidCode);
    expect(await exchange(code, 'x'.repeat(43))).toMatchObject(invalidCode);
    expect(await isAlive(desktop)).toBe(true);

    expect(await exchange(code, verifier)).toMatchObject(invalidCode);
    expect(await isAlive(desktop)).toBe(false);
  });

  it('has an event for each session of the branch once, however often the codes are repeated', async () => {
    const codes: string[] = [];
    const chain: Account[] = [ada];
    for (let link = 0; link < 5; link += 1) {
      codes.push(await aCode(chain.at(-1)!));
      chain.push(await exchanged(codes.at(-1)!));
    }
    const branch = chain.slice(1).map(sessionOf);

    for (const code of [...codes, ...codes]) expect(await exchange(code)).toMatchObject(invalidCode);

    expect(await Promise.all(chain.map(isAlive))).toEqual(chain.map((_, link) => link === 0));
    const ended = async (): Promise<unknown[]> => {
      const sql = `SELECT session_id, data FROM events WHERE type = 'session.ended'
        AND session_id IN (${branch.map(() => '?').join()}) ORDER BY session_id`;
      return service.db.query(sql, branch);
    };
    const told = branch.map((id) => ({ session_id: id, data: '{"reason":"code_reused"}' }));
    await expect.poll(ended, { timeout: hangTimeoutMs() }).toEqual(told);
  });

  it('revokes a branch of thousands', async () => {
    const code = await aCode(ada);
    const desktop = await exchanged(code);
    const now = Date.now();
    const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
    for (let from = 0; from < BRANCH; from += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => from + index).map((number) => [
        id(number),
        ada.id,
        now,
        now,
        now + 3_600_000,
        sessionOf(ada),
        sessionOf(desktop),
        `hash of ${number}`,
      ]);
      await service.db.query(
        `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
          VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
        rows.flat(),
      );
    }
    const alive = async (): Promise<number> => {
      const [row] = await service.db.query(
        "SELECT COUNT(*) AS alive FROM sessions WHERE revoked_at IS NULL AND code_hash LIKE 'hash of %'",
      );
      return Number(row!['alive']);
    };
    expect(await alive()).toBe(BRANCH);

    expect(await exchange(code)).toMatchObject(invalidCode);

    await expect.poll(alive, { timeout: hangTimeoutMs() }).toBe(0);
    expect(await isAlive(desktop)).toBe(false);
    expect(await isAlive(ada)).toBe(true);
  });
});
