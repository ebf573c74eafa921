import { afterAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { type Account, aCode, anAccount } from '../support/personas.js';
import type { Tokens } from '../support/refreshing.js';
import { startServiceWithoutLimits } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const LIMIT = 1000;
const LOOK_EVERY = 32;
/** The registration counts, too. */
const EXCHANGES = LOOK_EVERY - 1;
const EXCESS = 50;

const service = await startServiceWithoutLimits();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('the live sessions of a user', () => {
  const idOf = ({ token }: Account): string => decodeToken(token).claims['sid'] as string;
  const id = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
  async function live(): Promise<{ id: string; login_id: string | null }[]> {
    return (await service.db.query(
      'SELECT id, login_id FROM sessions WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ? ORDER BY id',
      [ada.id, Date.now()],
    )) as { id: string; login_id: string | null }[];
  }
  /** Older than the others, by their ids. */
  async function insert(numbers: number[], login: string | null): Promise<void> {
    const now = Date.now();
    const rows = numbers.map((number) => [
      id(number),
      ada.id,
      now - 60_000,
      now - 60_000,
      now + 3_600_000,
      login,
      login && id(number),
      login && id(number),
    ]);
    await service.db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
        VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
      rows.flat(),
    );
  }

  it('are 1,000 at most: beyond, the oldest that codes opened end, and no login does', async () => {
    await insert(
      times(5, (number) => number),
      null,
    );
    await insert(
      times(LIMIT + EXCESS - EXCHANGES - 5 - 1, (number) => 100 + number),
      idOf(ada),
    );
    const opened: string[] = [];
    for (const _ of times(EXCHANGES, () => 0)) {
      const { body } = await service.anyone.post<Tokens>('/api/auth/code/exchange', {
        code: await aCode(ada),
      });
      opened.push(body.token);
    }

    await waitFor('the oldest have ended', hangTimeoutMs(), async () => (await live()).length === LIMIT);

    const left = await live();
    expect(left.filter(({ login_id: login }) => login === null)).toHaveLength(6);
    const ids = left.map((session) => session.id);
    expect(ids).not.toContain(id(100 + EXCESS - 1));
    expect(ids).toContain(id(100 + EXCESS));
    const rows = () => service.db.query('SELECT id FROM sessions WHERE user_id = ?', [ada.id]);
    await waitFor('they are deleted', hangTimeoutMs(), async () => (await rows()).length === LIMIT);
    for (const token of opened) expect((await ada.as(token).get('/api/me')).status).toBe(200);
    const events = await service.db.query(
      "SELECT actor_type, data FROM events WHERE user_id = ? AND type = 'session.ended'",
      [ada.id],
    );
    expect(events).toEqual(times(EXCESS, () => ({ actor_type: 'system', data: '{"reason":"too_many"}' })));
  });
});
