import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Env } from '../../config/env.js';
import { BATCH, type Batch, deleteFound, inBatches, MAX_ROWS_AT_ONCE } from '../../database/statements.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import { type EndedSession, UserSessionsRepository } from './sessions.of-user.js';

const MAX_USERS = 10_000;
/** Few searches, because MySQL reads over rows that were just deleted. */
const MAX_ENDED = 10_000;
const FEW = 500;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;
/** The database ends a statement sooner, so no exchange that has read a code inserts after this time. */
const STATEMENT_END_MS = 7_000;

// Galera does not certify cascades, so codes go first. A session stays while its code could work a second time.
@Injectable()
export class SessionDeletion implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  private lastExpired: EndedSession | undefined;
  private readonly endedAt = new LRUCache<string, number>({ max: MAX_USERS });
  private due: string[] = [];
  private readonly running = new Map<string, Promise<void>>();
  private readonly shutdown = new AbortController();

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pending: PendingRevocationsRepository,
    private readonly env: Env,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.shutdown.abort();
    await Promise.all(this.running.values());
  }

  noteEnded(userId: string): void {
    this.endedAt.set(userId, Date.now());
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

  async deleteExpiredCodes(now: number): Promise<Batch> {
    const hashes = await this.codes.findExpired(now - LEEWAY_MS);
    return deleteFound(hashes, (found) => this.codes.delete(found));
  }

  async deleteExpired(now: number): Promise<Batch> {
    const { expiresAt, id } = this.lastExpired ?? { expiresAt: now - LEEWAY_MS, id: '' };
    const candidates = await this.sessions.findExpired(expiresAt, id);
    this.lastExpired = candidates.length < BATCH ? undefined : candidates.at(-1);
    return { examined: candidates.length, deleted: await this.deleteUnnamed(candidates) };
  }

  async deleteEnded(now: number): Promise<Batch> {
    const createdBefore = now - this.env.codeTtl * 1000 - LEEWAY_MS;
    if (this.due.length === 0) this.due = [...this.endedAt.keys()];
    const userId = this.due.at(-1);
    if (userId === undefined) return { examined: 0, deleted: 0 };
    const ended = await this.sessions.findEnded(userId, createdBefore, BATCH);
    const deleted = await this.deleteUnnamed(newestFirst(ended));
    if (deleted === 0) {
      this.due.pop();
      if ((this.endedAt.get(userId) ?? 0) < createdBefore) this.endedAt.delete(userId);
    }
    return { examined: this.due.length > 0 ? BATCH : 0, deleted };
  }

  async deleteEndedOf(userId: string): Promise<void> {
    let deleted: number;
    do {
      deleted = await this.deleteSlowly(await this.sessions.findEnded(userId, Date.now(), MAX_ENDED));
    } while (deleted > 0);
  }

  /** The transaction must have written the user's row, so that no request adds a session. */
  async deleteAllOf(tx: Transaction, userId: string): Promise<void> {
    for (;;) {
      const ids = await this.sessions.findSomeOf(tx, userId, MAX_ROWS_AT_ONCE);
      if (ids.length === 0) return;
      await this.codes.deleteOfSessions(tx, ids);
      await this.pending.deleteOfSessions(tx, ids);
      await this.sessions.deleteIn(tx, ids);
      if (ids.length < MAX_ROWS_AT_ONCE) return;
      await yieldToEventLoop();
    }
  }

  private async deleteMostOf(userId: string): Promise<void> {
    let ended: EndedSession[];
    let deleted: number;
    do {
      ended = await this.sessions.findEnded(userId, Date.now(), MAX_ENDED);
      for await (const batch of inBatches(ended)) await this.deleteCodesOf(batch);
      await sleep(STATEMENT_END_MS, undefined, { signal: this.shutdown.signal, ref: false });
      deleted = await this.deleteSlowly(ended);
    } while (ended.length > FEW && deleted > 0);
  }

  private async deleteSlowly(ended: readonly EndedSession[]): Promise<number> {
    let deleted = 0;
    for await (const batch of inBatches(newestFirst(ended), BATCH)) {
      const began = performance.now();
      deleted += await this.deleteUnnamed(batch);
      await sleep(performance.now() - began);
    }
    return deleted;
  }

  private async deleteCodesOf(sessions: readonly EndedSession[]): Promise<void> {
    const hashes = sessions.map(({ codeHash }) => codeHash).filter((hash) => hash !== null);
    await this.codes.delete(hashes);
    await this.codes.deleteIssuedBy(sessions.map(({ id }) => id));
  }

  /** Keeps sessions that a code or another session of their family still names. */
  private async deleteUnnamed(candidates: readonly EndedSession[]): Promise<number> {
    if (candidates.length === 0) return 0;
    const kept = new Set(await this.sessions.findNamed(candidates.map(({ id }) => id)));
    for (const { id, loginId, branchId } of candidates) {
      if (kept.has(id) && loginId !== null && branchId !== null) kept.add(loginId).add(branchId);
    }
    const ids = candidates.map(({ id }) => id).filter((id) => !kept.has(id));
    if (ids.length > 0) await this.sessions.delete(ids);
    return ids.length;
  }
}

/** Ids are in the order of time, so delegated sessions come before their heads and logins. */
function newestFirst(sessions: readonly EndedSession[]): EndedSession[] {
  return sessions.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
