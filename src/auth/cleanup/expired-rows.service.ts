import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';

const PERIOD_MS = 60_000;
const BATCH = 500;

/** Codes go first: a session is kept while a code or a session that was derived from it refers to it. */
export const EXPIRED_CODES =
  'SELECT hash AS id FROM authorization_codes WHERE expires_at < ? ORDER BY expires_at LIMIT ?';
export const EXPIRED_SESSIONS = `SELECT s.id FROM sessions s
  WHERE s.expires_at < ? AND NOT EXISTS (SELECT 1 FROM authorization_codes c WHERE c.session_id = s.id)
    AND NOT EXISTS (SELECT 1 FROM sessions d WHERE d.parent_id = s.id)
  ORDER BY s.expires_at LIMIT ?`;

/** Deletes what has expired, in batches small enough that nothing else waits for them. */
@Injectable()
export class ExpiredRowsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Cleanup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly dataSource: DataSource) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** @returns the number of rows deleted */
  async deleteExpired(now = Date.now()): Promise<number> {
    const sessionsBefore = now - LEEWAY_SECONDS * 1000;
    return (
      (await this.deleteAll(EXPIRED_CODES, now, 'authorization_codes', 'hash')) +
      (await this.deleteAll(EXPIRED_SESSIONS, sessionsBefore, 'sessions', 'id'))
    );
  }

  private async deleteAll(select: string, before: number, table: string, key: string): Promise<number> {
    for (let deleted = 0; ;) {
      const rows = await this.dataSource.query<{ id: string }[]>(select, [before, BATCH]);
      if (rows.length > 0) {
        const places = rows.map(() => '?').join(', ');
        await this.dataSource.query(
          `DELETE FROM ${table} WHERE ${key} IN (${places})`,
          rows.map((row) => row.id),
        );
      }
      deleted += rows.length;
      if (rows.length < BATCH || this.stopped) return deleted;
    }
  }

  /** Each instance waits its own time, so that several do not delete the same rows at once. */
  private schedule(): void {
    const pause = PERIOD_MS * (0.75 + Math.random() / 2);
    this.timer = setTimeout(() => {
      this.running = this.runOnce();
    }, pause);
    this.timer.unref();
  }

  private async runOnce(): Promise<void> {
    try {
      const deleted = await this.deleteExpired();
      if (deleted > 0) this.logger.debug(`${deleted} expired codes and sessions deleted`);
    } catch (error) {
      this.logger.warn({ msg: 'clean-up failed and will be tried again', err: error });
    }
    if (!this.stopped) this.schedule();
  }
}
