import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invalidCode } from '../support/expected.js';
import { isAlive } from '../support/derived-sessions.js';
import { aBoundCode, aCode, anAccount, type Account } from '../support/personas.js';
import { type Service, startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const WARN = 40;
const CHAIN = 3000;
const CHILDREN = 2000;

describe('a code that is used again', () => {
  let service: Service;
  let ada: Account;

  beforeAll(async () => {
    service = await startService();
    ada = await anAccount(service, 'ada');
  });
  afterAll(() => service.stop());

  const exchange = (code: string, codeVerifier?: string) =>
    service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code, codeVerifier });

  async function exchanged(code: string, codeVerifier?: string): Promise<Account> {
    const { status, text, body } = await exchange(code, codeVerifier);
    expect(status, text).toBe(200);
    return ada.as(body.token);
  }

  const sessionOf = ({ token }: Account): string => decodeToken(token).claims['sid'] as string;

  it('revokes the session it opened and all derived from it, not the one that issued it', async () => {
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

  it('revokes neither parent nor sibling sessions', async () => {
    const first = await exchanged(await aCode(ada));
    const code = await aCode(first);
    const [second, beside] = [await exchanged(code), await exchanged(await aCode(first))];
    const third = await exchanged(await aCode(second));

    expect(await exchange(code)).toMatchObject(invalidCode);

    const alive = await Promise.all([ada, first, beside, second, third].map(isAlive));
    expect(alive).toEqual([true, true, true, false, false]);
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

  it.each([
    ['of the same code', 1],
    ['of a code above it', 0],
  ])('completes a revocation that was interrupted, on another use %s', async (_which, used) => {
    const codes: string[] = [];
    const chain: Account[] = [ada];
    for (let link = 0; link < 5; link += 1) {
      codes.push(await aCode(chain.at(-1)!));
      chain.push(await exchanged(codes.at(-1)!));
    }
    // As after a reuse of the second code that was interrupted: its session is revoked, and one far below it.
    for (const ended of [chain[2]!, chain[5]!]) {
      const values = [Date.now(), sessionOf(ended)];
      await service.db.query('UPDATE sessions SET revoked_at = ? WHERE id = ?', values);
    }
    expect(await isAlive(chain[4]!)).toBe(true);

    expect(await exchange(codes[used]!)).toMatchObject(invalidCode);

    const alive = await Promise.all(chain.map(isAlive));
    expect(alive).toEqual(chain.map((_, link) => link <= used));
  });

  it('revokes a chain of thousands, and a session with thousands of children', async () => {
    const code = await aCode(ada);
    const desktop = await exchanged(code);
    const now = Date.now();
    const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
    const parentOf = (number: number): string =>
      number === 0 || number >= CHAIN ? sessionOf(desktop) : id(number - 1);
    for (let from = 0; from < CHAIN + CHILDREN; from += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => from + index).map((number) => [
        id(number),
        ada.id,
        now,
        now,
        now + 3_600_000,
        parentOf(number),
        `hash of ${number}`,
      ]);
      await service.db.query(
        `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, parent_id, code_hash)
          VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?)').join()}`,
        rows.flat(),
      );
    }
    const alive = async (): Promise<number> => {
      const [row] = await service.db.query(
        "SELECT COUNT(*) AS alive FROM sessions WHERE revoked_at IS NULL AND code_hash LIKE 'hash of %'",
      );
      return Number(row!['alive']);
    };
    expect(await alive()).toBe(CHAIN + CHILDREN);

    // A busy machine may answer 503 first; the revocation continues.
    expect([400, 503]).toContain((await exchange(code)).status);

    await expect.poll(alive, { timeout: hangTimeoutMs() }).toBe(0);
    expect(await isAlive(desktop)).toBe(false);
    expect(await isAlive(ada)).toBe(true);
  });
});
