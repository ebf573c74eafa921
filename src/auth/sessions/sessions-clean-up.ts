import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Env } from '../../config/env.js';
import { BATCH, type Batch, deleteFound, inBatches } from '../../database/batches.js';
import { CleanUpJobs } from '../../clean-up/clean-up-jobs.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import {
  type EndedSession,
  EndedSessionsRepository,
  type ExpiredSession,
} from './ended-sessions.repository.js';
import { newestFirst, SessionDeletion } from './sessions-of-user.js';

const MAX_USERS = 10_000;
const MAX_AT_ONCE = 10_000;
const FEW = 500;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;
/** The server ends a statement sooner: no exchange that has read a code inserts so long after the code is gone. */
const STATEMENT_END_MS = 7_000;

/** Deletes codes and sessions that have expired. */
@Injectable()
export class ExpiredSessions implements OnModuleInit {
  private last: ExpiredSession | undefined;

  constructor(
    private readonly sessions: EndedSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly deletion: SessionDeletion,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) => {
      const hashes = await this.codes.findExpired(now - LEEWAY_MS);
      return deleteFound(hashes, (found) => this.codes.delete(found));
    });
    this.jobs.add((now) => this.deleteBatch(now - LEEWAY_MS));
  }

  private async deleteBatch(before: number): Promise<Batch> {
    const { expiresAt, id } = this.last ?? { expiresAt: before, id: '' };
    const candidates = await this.sessions.findExpired(expiresAt, id);
    this.last = candidates.length < BATCH ? undefined : candidates.at(-1);
    return { examined: candidates.length, deleted: await this.deletion.deleteUnnamed(candidates) };
  }
}

// Deletes ended sessions before they expire. A session whose code may still be used stays: it keeps the code from working
// twice, and shows its reuse. If a user opens sessions too fast for that, their codes go first, then the sessions.
@Injectable()
export class EndedSessions implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  /** when a session of each user ended last */
  private readonly users = new LRUCache<string, number>({ max: MAX_USERS });
  private due: string[] = [];
  private readonly running = new Map<string, Promise<void>>();
  private readonly shutdown = new AbortController();

  constructor(
    private readonly sessions: EndedSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly deletion: SessionDeletion,
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
    const createdBefore = now - this.env.codeTtl * 1000 - LEEWAY_MS;
    if (this.due.length === 0) this.due = [...this.users.keys()];
    const userId = this.due.at(-1);
    if (userId === undefined) return { examined: 0, deleted: 0 };
    const ended = await this.sessions.findEnded(userId, createdBefore, BATCH);
    const deleted = await this.deletion.deleteUnnamed(newestFirst(ended));
    if (deleted === 0) {
      this.due.pop();
      if ((this.users.get(userId) ?? 0) < createdBefore) this.users.delete(userId);
    }
    return { examined: this.due.length > 0 ? BATCH : 0, deleted };
  }

  /** Stops when few are left, which the clean-up deletes, or when live sessions name all that is left. */
  private async deleteMostOf(userId: string): Promise<void> {
    let ended: EndedSession[];
    let deleted: number;
    do {
      deleted = 0;
      ended = await this.sessions.findEnded(userId, Date.now(), MAX_AT_ONCE);
      for await (const batch of inBatches(ended)) await this.deleteCodesOf(batch);
      await sleep(STATEMENT_END_MS, undefined, { signal: this.shutdown.signal, ref: false });
      for await (const batch of inBatches(newestFirst(ended), BATCH))
        deleted += await this.deletion.deleteUnnamed(batch);
    } while (ended.length > FEW && deleted > 0);
  }

  private async deleteCodesOf(sessions: readonly EndedSession[]): Promise<void> {
    const hashes = sessions.map(({ codeHash }) => codeHash).filter((hash) => hash !== null);
    await this.codes.delete(hashes);
    await this.codes.deleteIssuedBy(sessions.map(({ id }) => id));
  }
}
