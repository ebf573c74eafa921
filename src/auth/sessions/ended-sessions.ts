import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Env } from '../../config/env.js';
import { inBatches } from '../../database/in-batches.js';
import { BATCH, type Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { AuthorizationCodesRepository } from '../codes/authorization-codes.repository.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { derivedFirst, SessionRemoval } from './session-removal.js';
import { type EndedSession, UserSessionsRepository } from './user-sessions.repository.js';

const MAX_USERS = 10_000;
const MAX_AT_ONCE = 10_000;
const FEW = 500;
/** The server ends a statement sooner: no exchange that has read a code inserts so long after the code is gone. */
const STATEMENT_END_MS = 7_000;

// Deletes ended sessions before they expire. One whose code may still be used stays: it keeps the code from working
// twice, and tells of its reuse. If a user opens them too fast for that, their codes go first, then the sessions.
@Injectable()
export class EndedSessions implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  /** when a session of each user ended last */
  private readonly users = new LRUCache<string, number>({ max: MAX_USERS });
  private due: string[] = [];
  private readonly running = new Map<string, Promise<void>>();
  private readonly shutdown = new AbortController();

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly removal: SessionRemoval,
    private readonly jobs: CleanUpJobs,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.deleteBatch(now));
  }

  async onApplicationShutdown(): Promise<void> {
    this.shutdown.abort();
    await Promise.all(this.running.values());
  }

  note(userId: string): void {
    this.users.set(userId, Date.now());
  }

  deleteSoon(userId: string): void {
    if (this.running.has(userId)) return;
    const deletion = this.deleteMostOf(userId)
      .catch((error: unknown) => {
        if (this.shutdown.signal.aborted) return;
        this.logger.warn({ msg: 'ended sessions could not be deleted; it will be retried', err: error });
      })
      .finally(() => this.running.delete(userId));
    this.running.set(userId, deletion);
  }

  /** Handles one user per call, and none once all had their turn. */
  private async deleteBatch(now: number): Promise<Batch> {
    const createdBefore = now - (this.env.codeTtl + LEEWAY_SECONDS) * 1000;
    if (this.due.length === 0) this.due = [...this.users.keys()];
    const userId = this.due.at(-1);
    if (userId === undefined) return { examined: 0, deleted: 0 };
    const ended = await this.sessions.findEnded(userId, createdBefore, BATCH);
    const deleted = await this.removal.remove(derivedFirst(ended));
    if (deleted === 0) {
      this.due.pop();
      if ((this.users.get(userId) ?? 0) < createdBefore) this.users.delete(userId);
    }
    return { examined: this.due.length > 0 ? BATCH : 0, deleted };
  }

  /** Stops when few are left, which the clean-up deletes, or when live sessions are derived from all that is left. */
  private async deleteMostOf(userId: string): Promise<void> {
    let ended: EndedSession[];
    let removed: number;
    do {
      removed = 0;
      ended = await this.sessions.findEnded(userId, Date.now(), MAX_AT_ONCE);
      for await (const batch of inBatches(ended)) await this.deleteCodesOf(batch);
      await sleep(STATEMENT_END_MS, undefined, { signal: this.shutdown.signal, ref: false });
      for await (const batch of inBatches(derivedFirst(ended), BATCH))
        removed += await this.removal.remove(batch);
    } while (ended.length > FEW && removed > 0);
  }

  private async deleteCodesOf(sessions: readonly EndedSession[]): Promise<void> {
    const hashes = sessions.map(({ codeHash }) => codeHash).filter((hash) => hash !== null);
    await this.codes.delete(hashes);
    await this.codes.deleteIssuedBy(sessions.map(({ id }) => id));
  }
}
