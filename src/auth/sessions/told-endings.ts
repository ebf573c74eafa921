import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { EventsRepository } from '../../events/events.repository.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import type { Revocation } from './revocation.js';
import { SessionsRepository, type UnrevokedSession } from './sessions.repository.js';

/** Revokes sessions and tells of each in the same transaction, so that none ends untold or is told twice. */
@Injectable()
export class ToldEndings {
  constructor(
    private readonly users: UserChangesRepository,
    private readonly sessions: SessionsRepository,
    private readonly events: EventsRepository,
  ) {}

  /** @param ids at most a page of sessions of the user */
  async end(
    transaction: Transaction,
    userId: string,
    ids: readonly string[],
    { actor, reason }: Revocation,
  ): Promise<void> {
    // Holding the user's row, no session is told after all of them were, and nothing is recorded of a deleted user.
    const epoch = await this.users.lockEpoch(transaction, userId);
    if (epoch === undefined) return;
    const unrevoked = await this.sessions.lockUnrevoked(transaction, ids);
    if (unrevoked.length === 0) return;
    await this.sessions.revoke(
      transaction,
      unrevoked.map(({ id }) => id),
    );
    const ended = unrevoked.filter((session) => wasAlive(session, epoch));
    await this.events.record(
      transaction,
      ...ended.map(({ id: sessionId }) => ({
        type: 'session.ended' as const,
        actor,
        userId,
        sessionId,
        data: { reason },
      })),
    );
  }
}

/** The others ended at their time, or with all sessions of the user, which was told. */
function wasAlive({ authEpoch, expiresAt }: UnrevokedSession, epoch: number): boolean {
  return authEpoch === epoch && expiresAt > Date.now() - LEEWAY_SECONDS * 1000;
}
