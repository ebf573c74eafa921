import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { principalOf } from '../../access/principal.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { CleanUpJobs } from '../../clean-up/clean-up-jobs.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { EndedSessions } from './sessions-clean-up.js';
import type { RevocableSession, Revocation } from './session.entity.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import { type FamilyRoot, SessionsRepository, type UnrevokedSession } from './sessions.repository.js';

/** A revocation still pending by then was interrupted. If it is merely slow, a second one does no harm. */
const STALE_REVOCATION_MS = 10_000;

/**
 * Revokes a session with its family: a login with all sessions that its codes opened, a delegated session with its whole
 * branch. Marking the login or the head makes the family dead at once, on every node. The pages that follow write the
 * event of each session.
 */
@Injectable()
export class SessionRevocation implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  /** by session, so that concurrent uses of one code share a transaction */
  private readonly marking = new Map<string, Promise<void>>();
  private readonly running = new Set<Promise<void>>();
  private stopped = false;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly pending: PendingRevocationsRepository,
    private readonly users: UserChangesRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly ended: EndedSessions,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add(async (now) => {
      await this.resume(now - STALE_REVOCATION_MS);
      return { examined: 0, deleted: 0 };
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.settled();
  }

  /** Resolves when no session of the family is alive. Writes nothing if the family was revoked before. */
  revoke(session: RevocableSession, revocation: Revocation): Promise<void> {
    const known = this.marking.get(session.id);
    if (known) return known;
    const marked = this.markFamily(session, revocation).finally(() => this.marking.delete(session.id));
    this.marking.set(session.id, marked);
    return marked;
  }

  private async markFamily(session: RevocableSession, revocation: Revocation): Promise<void> {
    const { userId } = session;
    const root = await this.run(userId, revocation, (transaction, epoch) =>
      this.revokeRoot(transaction, session, epoch, revocation),
    );
    if (!root) return;
    const rest = this.revokeFamily(root, revocation)
      .catch((error: unknown) => {
        this.logger.warn({
          msg: 'the revocation of a session was interrupted; it will be resumed',
          err: error,
        });
      })
      .finally(() => this.running.delete(rest));
    this.running.add(rest);
  }

  /** Revokes delegated sessions row by row, and no others of their branches. */
  async revokeAlone(userId: string, ids: readonly string[], revocation: Revocation): Promise<void> {
    await this.run(userId, revocation, (transaction, epoch) =>
      this.revokeRows(transaction, userId, ids, epoch, revocation),
    );
  }

  async resume(before: number): Promise<void> {
    for (const { root, revocation } of await this.pending.findBefore(before)) {
      await this.revokeFamily(root, revocation);
    }
  }

  /** Resolves when what `revoke` left to be done in this process is done. */
  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  /** While a transaction holds the user's row, no event follows the one that says that all sessions ended. */
  private run<Result>(
    userId: string,
    { actor }: Revocation,
    work: (transaction: Transaction, epoch: number) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.transactions.run(
      async (transaction) => {
        const epoch = await this.users.lockEpoch(transaction, userId);
        return epoch === undefined ? undefined : work(transaction, epoch);
      },
      { principal: principalOf(actor), row: userId },
    );
  }

  private async revokeRoot(
    transaction: Transaction,
    { id, userId }: RevocableSession,
    epoch: number,
    revocation: Revocation,
  ): Promise<FamilyRoot | undefined> {
    const root = await this.sessions.findRoot(transaction, id);
    if (!root) return undefined;
    const isRevoked = await this.revokeRows(transaction, userId, [root.id], epoch, revocation);
    if (!isRevoked) return undefined;
    await this.pending.insert(transaction, root, revocation);
    return root;
  }

  /** Returns whether one was revoked. Events are written of sessions that were alive. */
  private async revokeRows(
    transaction: Transaction,
    userId: string,
    ids: readonly string[],
    epoch: number,
    { actor, reason }: Revocation,
  ): Promise<boolean> {
    const unrevoked = await this.sessions.lockUnrevoked(transaction, ids);
    if (unrevoked.length === 0) return false;
    await this.sessions.revoke(
      transaction,
      unrevoked.map(({ id }) => id),
    );
    const alive = unrevoked.filter((session) => wasAlive(session, epoch));
    await this.events.record(
      transaction,
      ...alive.map(({ id: sessionId }) => ({
        type: 'session.ended' as const,
        actor,
        userId,
        sessionId,
        data: { reason },
      })),
    );
    return true;
  }

  // The thief of a code can open sessions without end, so no statement grows with their number. Passes repeat until one
  // finds nothing: an exchange that had read the login or the head before it was revoked can commit during a pass.
  private async revokeFamily(root: FamilyRoot, revocation: Revocation): Promise<void> {
    const { id, userId } = root;
    let after = '';
    let found = 0;
    for (;;) {
      // SQLite answers within the same turn of the event loop: without a pause nothing else would run.
      await yieldToEventLoop();
      if (this.stopped) return;
      const page = await this.sessions.findUnrevokedOf(root, after);
      const last = page.at(-1);
      if (last === undefined) {
        if (found === 0) break;
        after = '';
        found = 0;
        continue;
      }
      await this.run(userId, revocation, (transaction, epoch) =>
        this.revokeRows(transaction, userId, page, epoch, revocation),
      );
      after = last;
      found += page.length;
    }
    await this.pending.delete(id);
    this.ended.note(userId);
  }
}

/** The others expired, or ended with all sessions of the user, which has an event of its own. */
function wasAlive({ authEpoch, expiresAt }: UnrevokedSession, epoch: number): boolean {
  return authEpoch === epoch && expiresAt > Date.now() - LEEWAY_SECONDS * 1000;
}
