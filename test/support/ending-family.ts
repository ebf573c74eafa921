import { expect } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { atOnce, times } from './at-once.js';
import type { Database } from './database.js';
import { type Account, aCode, anAccount, byCode, exchange } from './personas.js';
import type { Service } from './service.js';
import { sessionIdOf } from './signing-keys.js';

/** A session can have as many unused codes. */
const CODES = 10;
const BRANCHES = 4;

/**
 * A login is logged out while 50 codes, of the login and of sessions below it, are exchanged on all instances.
 *
 * @param whenOpened exchanges that are answered before the login ends
 * @returns what is wrong, in sentences, and how many codes opened a session
 */
export async function endFamilyDuringExchanges(
  { instances, db }: { instances: readonly Service[]; db: Pick<Database, 'query'> },
  whenOpened: number,
): Promise<{ opened: number; wrong: string[] }> {
  const on = (turn: number): Service => instances[turn % instances.length]!;
  const login = await anAccount(on(0), 'ada');
  const before = [login, ...(await Promise.all(times(BRANCHES, (turn) => byCode(on(turn), login))))];
  const codes = (await Promise.all(before.flatMap((from) => times(CODES, () => aCode(from))))).toSorted();

  const opened: Account[] = [];
  const surelyAlive = before.map(sessionIdOf);
  const ended = Promise.withResolvers<void>();
  const end = async (): Promise<void> => {
    surelyAlive.push(...opened.map(sessionIdOf));
    const { status } = await login.at(on(1)).post('/api/auth/logout');
    expect(status).toBe(200);
  };
  await atOnce(
    codes.map((code, turn) => async () => {
      const { status, body } = await exchange(on(turn), code);
      expect([200, 400]).toContain(status);
      if (status !== 200) return;
      opened.push(login.as(body.token));
      if (opened.length === whenOpened) end().then(ended.resolve, ended.reject);
    }),
  );
  await ended.promise;

  const wrong: string[] = [];
  for (const who of [...before, ...opened]) {
    for (const instance of instances) {
      if ((await who.at(instance).get('/api/me')).status !== 401) wrong.push(`${sessionIdOf(who)} is alive`);
    }
  }
  await waitFor('the revocation is complete', hangTimeoutMs(), async () => {
    const sql = 'SELECT session_id FROM pending_revocations WHERE user_id = ?';
    return (await db.query(sql, [login.id])).length === 0;
  });
  const rows = await db.query(
    `SELECT s.id, s.revoked_at,
        (SELECT COUNT(*) FROM events e WHERE e.session_id = s.id AND e.type = 'session.ended') AS events
      FROM sessions s WHERE s.user_id = ?`,
    [login.id],
  );
  for (const row of rows) {
    const [id, events] = [row['id'] as string, Number(row['events'])];
    const expected = row['revoked_at'] === null && !surelyAlive.includes(id) ? 0 : 1;
    if (events !== expected) wrong.push(`${id} has ${events} events`);
  }
  return { opened: opened.length, wrong };
}
