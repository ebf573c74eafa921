import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Actor,
  type AuthenticationMethod,
  principalOf,
  type UserActor,
} from '../../access/principal.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { allSessionsEnded, UserChanges } from '../../users/user-changes.js';
import { UserUpdates } from '../../users/users.updates.js';
import { LEEWAY_SECONDS } from '../tokens/access-token.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { PendingRevocationsRepository, type Revocation } from './pending-revocations.repository.js';
import { SessionDeletion } from './session-deletion.js';
import type { Session } from './session.entity.js';
import { type FamilyRoot, type UnrevokedSession, UserSessionsRepository } from './sessions.of-user.js';

/** A revocation still pending by then was interrupted. If it is merely slow, a second one does no harm. */
const STALE_REVOCATION_MS = 10_000;

const USERS_AT_ONCE = 100;

export type RevocableSession = Pick<Session, 'id' | 'userId'>;

/**
 * Revokes one session with its family, or all sessions of a user. Marking the login or the head makes the family dead
 * at once, on every node; the pages that follow write the events.
 */
@Injectable()
export class SessionRevocation implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  /** by session, so that concurrent uses of one code share a transaction */
  private readonly marking = new Map<string, Promise<void>>();
  private readonly running = new Set<Promise<void>>();
  private stopped = false;

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pending: PendingRevocationsRepository,
    private readonly changes: UserChanges,
    private readonly users: UserUpdates,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly deletion: SessionDeletion,
  ) {}

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

  /** Revokes delegated sessions row by row, and no others of their branches. */
  async revokeAlone(userId: string, ids: readonly string[], revocation: Revocation): Promise<void> {
    await this.inEpoch(userId, revocation, (transaction, epoch) =>
      this.revokeRows(transaction, userId, ids, epoch, revocation),
    );
    this.deletion.noteEnded(userId);
  }

  /** @throws InvalidTokenError if the acting session has ended meanwhile */
  async revokeAll(actor: UserActor, { exceptActing }: { exceptActing: boolean }): Promise<void> {
    const end = { reason: 'revoked', except: exceptActing ? actor.sessionId : undefined } as const;
    const done = await this.changes.inUser(
      { actor },
      actor.id,
      async (transaction, { id: userId, authEpoch }) => {
        await this.users.endSessions(transaction, [userId]);
        if (exceptActing) await this.keepActing(transaction, actor);
        await this.events.record(transaction, allSessionsEnded({ actor, userId }, end, authEpoch + 1));
        return true;
      },
    );
    if (!done) throw new InvalidTokenError('user_gone');
    this.deletion.noteEnded(actor.id);
  }

  /**
   * Moves the acting session to the new epoch of the user, and voids its codes.
   * @throws InvalidTokenError if it has ended
   */
  async keepActing(
    transaction: Transaction,
    { id, sessionId }: UserActor,
    amr?: readonly AuthenticationMethod[],
  ): Promise<void> {
    const kept = await this.sessions.keep(transaction, id, sessionId, amr);
    if (!kept) throw new InvalidTokenError('session_ended');
    await this.codes.deleteOfSessions(transaction, [sessionId]);
  }

  /** Returns false if there is no such user. @throws operator_protected */
  async revokeAllOf(userId: string, actor: Actor): Promise<boolean> {
    return (await this.revokeAllOfUsers([userId], actor)) === 1;
  }

  async revokeAllOfEveryUser(actor: Actor): Promise<number> {
    const now = Date.now();
    let ended = 0;
    for (let after = ''; ;) {
      const ids = await this.sessions.findSignedInAfter(after, now, USERS_AT_ONCE);
      if (ids.length === 0) return ended;
      ended += await this.revokeAllOfUsers(ids, actor);
      after = ids.at(-1)!;
    }
  }

  /** Also sessions that a restored database does not know: their tokens have later epochs than it has. */
  async revokeAllAfterRestore(actor: Actor): Promise<number> {
    const ended = await this.revokeAllOfEveryUser(actor);
    for (let after = ''; ;) {
      const ids = await this.transactions.run({ principal: principalOf(actor) }, (transaction) =>
        this.users.leapEpochs(transaction, after, USERS_AT_ONCE),
      );
      if (ids.length === 0) return ended;
      after = ids.at(-1)!;
    }
  }

  async resume(now: number): Promise<void> {
    for (const { root, revocation } of await this.pending.findBefore(now - STALE_REVOCATION_MS)) {
      await this.revokeFamily(root, revocation);
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  private async markFamily(session: RevocableSession, revocation: Revocation): Promise<void> {
    const { id, userId } = session;
    const root = await this.inEpoch(userId, revocation, async (transaction, epoch) => {
      const found = await this.sessions.findRoot(transaction, id);
      if (!found) return undefined;
      const isRevoked = await this.revokeRows(transaction, userId, [found.id], epoch, revocation);
      if (!isRevoked) return undefined;
      await this.pending.insert(transaction, found, revocation);
      return found;
    });
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

  // A thief of a code can open sessions without end, so no statement grows with their number. Passes repeat until one
  // finds nothing, because an exchange that began before the mark can commit during a pass.
  private async revokeFamily(root: FamilyRoot, revocation: Revocation): Promise<void> {
    const { id, userId } = root;
    let after = '';
    let found = 0;
    for (;;) {
      // SQLite answers within one turn of the event loop.
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
      await this.inEpoch(userId, revocation, (transaction, epoch) =>
        this.revokeRows(transaction, userId, page, epoch, revocation),
      );
      after = last;
      found += page.length;
    }
    await this.pending.delete(id);
    this.deletion.noteEnded(userId);
  }

  /** While a transaction holds the user's row, no event follows the one that says that all sessions ended. */
  private inEpoch<Result>(
    userId: string,
    { actor }: Revocation,
    work: (transaction: Transaction, epoch: number) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.transactions.run({ principal: principalOf(actor), row: userId }, async (transaction) => {
      const epoch = await this.users.lockEpoch(transaction, userId);
      return epoch === undefined ? undefined : work(transaction, epoch);
    });
  }

  private async revokeRows(
    transaction: Transaction,
    userId: string,
    ids: readonly string[],
    epoch: number,
    { actor, reason }: Revocation,
  ): Promise<boolean> {
    const unrevoked = await this.sessions.lockUnrevoked(transaction, ids);
    if (unrevoked.length === 0) return false;
    const unrevokedIds = unrevoked.map(({ id }) => id);
    await this.sessions.revoke(transaction, unrevokedIds);
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

  private revokeAllOfUsers(ids: readonly string[], actor: Actor): Promise<number> {
    return this.changes.inUsers({ actor }, ids, async (transaction, users) => {
      await this.users.endSessions(transaction, ids);
      const endings = users.map(({ id: userId, authEpoch }) =>
        allSessionsEnded({ actor, userId }, { reason: 'operator' }, authEpoch + 1),
      );
      await this.events.record(transaction, ...endings);
      return users.length;
    });
  }
}

function wasAlive({ authEpoch, expiresAt }: UnrevokedSession, epoch: number): boolean {
  return authEpoch === epoch && expiresAt > Date.now() - LEEWAY_SECONDS * 1000;
}
