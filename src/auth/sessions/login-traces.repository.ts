import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, In, Index, LessThanOrEqual, PrimaryColumn, type Repository } from 'typeorm';
import { BATCH, type Batch, deleteFound, placeholders } from '../../database/statements.js';
import type { Transaction } from '../../database/transactions/transactions.js';

/** When a user last logged in, and how often a login has failed since. It has no foreign key, which would lock users. */
@Entity('login_traces')
@Index('login_traces_ip_expires_at_idx', ['ipExpiresAt'])
export class LoginTrace {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 }) userId: string;
  @Column({ name: 'last_login_at', type: 'bigint', nullable: true }) lastLoginAt: number | null;

  /** since the last login */
  @Column({ type: 'integer', default: 0 }) failures: number;
  @Column({ name: 'failed_at', type: 'bigint', nullable: true }) failedAt: number | null;
  @Column({ name: 'failed_ip', type: 'varchar', length: 45, nullable: true }) failedIp: string | null;
  @Column({ name: 'ip_expires_at', type: 'bigint', nullable: true }) ipExpiresAt: number | null;
}

export type LoginNote = LoginTrace;

const COLUMNS = 'user_id, last_login_at, failures, failed_at, failed_ip, ip_expires_at';
const ROW = `(${placeholders(6)})`;

// Instances write late and in any order: a failure counts if it is newer than the last login, and a login voids only older
// failures. MySQL evaluates from left to right and sees new values, so each column stands behind those that read it.
function onConflict(isSqlite: boolean): string {
  const given = (column: string): string => (isSqlite ? `excluded.${column}` : `VALUES(${column})`);
  const row = (column: string): string => `login_traces.${column}`;
  const counts = `${given('failed_at')} > COALESCE(${row('last_login_at')}, 0)`;
  const isLatest = `${counts} AND ${given('failed_at')} >= COALESCE(${row('failed_at')}, 0)`;
  const voids = `${given('last_login_at')} >= COALESCE(${row('failed_at')}, 0)`;
  const replace = (column: string): string => `${column} = CASE WHEN ${isLatest} THEN ${given(column)}
    WHEN ${voids} THEN NULL ELSE ${row(column)} END`;
  return `${isSqlite ? 'ON CONFLICT (user_id) DO UPDATE SET' : 'ON DUPLICATE KEY UPDATE'}
    failures = CASE WHEN ${counts} THEN ${row('failures')} + ${given('failures')}
      WHEN ${voids} THEN 0 ELSE ${row('failures')} END,
    ${replace('failed_ip')}, ${replace('ip_expires_at')}, ${replace('failed_at')},
    last_login_at = CASE WHEN ${given('last_login_at')} > COALESCE(${row('last_login_at')}, 0)
      THEN ${given('last_login_at')} ELSE ${row('last_login_at')} END`;
}

@Injectable()
export class LoginTracesRepository {
  constructor(@InjectRepository(LoginTrace) private readonly traces: Repository<LoginTrace>) {}

  find(userId: string): Promise<LoginTrace | null> {
    return this.traces.findOneBy({ userId });
  }

  /** @param notes in the order of user ids, so that instances do not deadlock, and of time */
  async add(tx: Transaction, notes: readonly LoginNote[]): Promise<void> {
    const isSqlite = this.traces.manager.dataSource.options.type === 'better-sqlite3';
    await tx.write(
      `INSERT INTO login_traces (${COLUMNS}) VALUES ${notes.map(() => ROW).join(', ')} ${onConflict(isSqlite)}`,
      notes.flatMap((one) => [
        one.userId,
        one.lastLoginAt,
        one.failures,
        one.failedAt,
        one.failedIp,
        one.ipExpiresAt,
      ]),
    );
    // Read after the write, because a deletion that commits in between holds the row that `delete` has made.
    const ids = [...new Set(notes.map(({ userId }) => userId))];
    const sql = `SELECT id FROM users WHERE id IN (${placeholders(ids.length)})`;
    const present = new Set((await tx.read<{ id: string }>(sql, ids)).map(({ id }) => id));
    const absent = ids.filter((id) => !present.has(id));
    if (absent.length > 0) await tx.of(this.traces).delete({ userId: In(absent) });
  }

  /** @returns the last user id of the page after this one, of which it deletes the traces without a user */
  async deleteOrphans(after: string): Promise<string | undefined> {
    const sql = `SELECT t.user_id AS userId, u.id IS NULL AS orphan FROM login_traces t
      LEFT JOIN users u ON u.id = t.user_id WHERE t.user_id > ? ORDER BY t.user_id LIMIT ${BATCH}`;
    const page = await this.traces.query<{ userId: string; orphan: number }[]>(sql, [after]);
    const orphans = page.filter(({ orphan }) => orphan === 1).map(({ userId }) => userId);
    if (orphans.length > 0) await this.traces.delete({ userId: In(orphans) });
    return page.at(-1)?.userId;
  }

  /** Locks the key, even if there is no row, so that no late note of another instance outlives the user. */
  async delete(tx: Transaction, userId: string): Promise<void> {
    await tx.write('REPLACE INTO login_traces (user_id) VALUES (?)', [userId]);
    await tx.write('DELETE FROM login_traces WHERE user_id = ?', [userId]);
  }

  async deleteOldAddresses(now: number): Promise<Batch> {
    const sql = `SELECT user_id AS userId FROM login_traces
      WHERE ip_expires_at <= ? ORDER BY ip_expires_at LIMIT ${BATCH}`;
    return deleteFound(await this.traces.query<{ userId: string }[]>(sql, [now]), async (found) => {
      const old = { userId: In(found.map(({ userId }) => userId)), ipExpiresAt: LessThanOrEqual(now) };
      await this.traces.update(old, { failedIp: null, ipExpiresAt: null });
    });
  }
}
