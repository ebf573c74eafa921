import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Database } from './database.js';
import { type Account } from './personas.js';
import { sessionIdOf } from './signing-keys.js';

export interface SessionRow {
  id: string;
  expiresAt: number;
  /** of a session that a code opened */
  family?: { loginId: string; branchId: string };
}

const AT_ONCE = 1000;

/** Ids that sort by their number. */
export function sessionId(number: number): string {
  return `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;
}

/** Sessions of one user, who is made when he is not there. */
export async function insertSessions(dataSource: DataSource, sessions: SessionRow[]): Promise<void> {
  const user = sessionId(0);
  const [known] = await dataSource.query<unknown[]>('SELECT id FROM users WHERE id = ?', [user]);
  if (!known) {
    await dataSource.query('INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)', [
      user,
      'ada@example.com',
      'none',
      0,
    ]);
  }
  for (let from = 0; from < sessions.length; from += AT_ONCE) {
    const rows = sessions
      .slice(from, from + AT_ONCE)
      .map(({ id, expiresAt, family }) => [
        id,
        user,
        0,
        0,
        expiresAt,
        family?.loginId ?? null,
        family?.branchId ?? null,
        family ? id : null,
      ]);
    await dataSource.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
        VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
      rows.flat(),
    );
  }
}

export async function insertCodes(
  dataSource: DataSource,
  codes: { hash: string; sessionId: string; expiresAt: number }[],
): Promise<void> {
  await dataSource.query(
    `INSERT INTO authorization_codes (hash, session_id, created_at, expires_at)
      VALUES ${codes.map(() => '(?, ?, ?, ?)').join()}`,
    codes.flatMap(({ hash, sessionId: session, expiresAt }) => [hash, session, 0, expiresAt]),
  );
}

/**
 * Live sessions that codes of this login opened, in one branch or each in its own. By their ids they are older than any
 * other session.
 */
export async function addDerivedSessions(
  db: Pick<Database, 'query'>,
  login: Account,
  count: number,
  branchId?: string,
): Promise<string[]> {
  const group = randomBytes(2).toString('hex');
  const ids = Array.from({ length: count }, (_, i) => sessionId(i).replace('b0f0', group));
  const now = Date.now();
  for (let from = 0; from < count; from += AT_ONCE / 2) {
    const rows = ids
      .slice(from, from + AT_ONCE / 2)
      .map((id) => [id, login.id, now, now, now + 3_600_000, sessionIdOf(login), branchId ?? id, id]);
    await db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, login_id, branch_id, code_hash)
        VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
      rows.flat(),
    );
  }
  return ids;
}
