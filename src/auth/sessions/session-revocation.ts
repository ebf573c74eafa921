import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type Actor, principalOf, type UserActor } from '../../access/principal.js';
import {
  type ChangeOutcome,
  type Transaction,
  Transactions,
} from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { allSessionsEnded, UserChanges } from '../../users/user-changes.js';
import { UserUpdatesRepository } from '../../users/users.updates.js';
import { InvalidTokenError, LEEWAY_SECONDS, type MethodsByWay } from '../tokens/access-token.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { PendingRevocationsRepository, type Revocation } from './pending-revocations.repository.js';
import { SessionDeletion } from './session-deletion.js';
import { type FamilyRoot, type UnrevokedSession, UserSessionsRepository } from './sessions.of-user.js';

const USERS_AT_ONCE = 100;

// Revoking the login or the head ends the family at once, on every node; the pages that follow write the events.
@Injectable()
export class SessionRevocation implements OnApplicationShutdown {
  private readonly logger = new Logger('Sessions');
  /** by session, so that concurrent uses of one code share a transaction */
  private readonly marking = new Map<string, Promise<void>>();
  /** by family, what this process is at */
  private readonly running = new Map<string, Promise<void>>();
  /** families that the last pass found; undefined before the first pass */
  private seen: Set<string> | undefined;
  private stopped = false;

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pending: PendingRevocationsRepository,
    private readonly changes: UserChanges,
    private readonly users: UserUpdatesRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly deletion: SessionDeletion,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.running.values());
  }

  /** Resolves when no session of the family is alive. Writes nothing if the family was revoked before. */
  revoke(id: string, revocation: Revocation): Promise<void> {
    const known = this.marking.get(id);
    if (known) return known;
    const marked = this.markFamily(id, revocation).finally(() => this.marking.delete(id));
    this.marking.set(id, marked);
    return marked;
  }

  // Holds the user's row, so that no event follows the one that says that all sessions ended.
  async revokeRows(
    userId: string,
    ids: readonly string[],
    revocation: Revocation,
    family?: FamilyRoot,
  ): Promise<boolean> {
    const { actor, reason } = revocation;
    const turn = { principal: principalOf(actor), row: userId };
    const isRevoked = await this.transactions.run(turn, async (tx) => {
      const epoch = await this.users.lockEpoch(tx, userId);
      const unrevoked = await this.sessions.lockUnrevoked(tx, ids);
      if (epoch === undefined || unrevoked.length === 0) return false;
      const unrevokedIds = unrevoked.map(({ id }) => id);
      await this.sessions.revoke(tx, unrevokedIds);
      // Tokens name the root, so its event ends those of the family for services, also if the root has expired.
      const alive = unrevoked.filter((session) =>
        family ? session.authEpoch === epoch : wasAlive(session, epoch),
      );
      const type = 'session.ended';
      const endings = alive.map(
        ({ id: sessionId }) => ({ type, actor, userId, sessionId, data: { reason } }) as const,
      );
      await this.events.record(tx, ...endings);
      if (family) await this.pending.insert(tx, family, revocation);
      return true;
    });
    this.deletion.noteEnded(userId);
    return isRevoked;
  }

  async revokeAll(actor: UserActor, { exceptActing }: { exceptActing: boolean }): Promise<void> {
    const end = { reason: 'revoked', except: exceptActing ? actor.sessionId : undefined } as const;
    const userId = actor.id;
    const done = await this.changes.inUser({ actor }, userId, async (tx, { authEpoch }) => {
      await this.users.endSessions(tx, [userId]);
      if (exceptActing) await this.keepActing(tx, actor);
      await this.events.record(tx, allSessionsEnded({ actor, userId }, end, authEpoch + 1));
    });
    if (done.kind === 'gone') throw new InvalidTokenError('user_gone');
    this.deletion.noteEnded(userId);
  }

  /** Moves the acting session to the new epoch of the user, and voids its codes. @throws InvalidTokenError if it has ended */
  async keepActing(tx: Transaction, { id, sessionId }: UserActor, amr?: MethodsByWay): Promise<void> {
    const kept = await this.sessions.keep(tx, id, sessionId, amr);
    if (!kept) throw new InvalidTokenError('session_ended');
    await this.codes.deleteOfSessions(tx, [sessionId]);
  }

  revokeAllOf(userId: string, actor: Actor): Promise<ChangeOutcome<number>> {
    return this.revokeAllOfUsers([userId], actor);
  }

  revokeAllOfUsers(ids: readonly string[], actor: Actor): Promise<ChangeOutcome<number>> {
    return this.changes.inUsers({ actor }, ids, async (tx, users) => {
      await this.users.endSessions(tx, ids);
      const endings = users.map(({ id: userId, authEpoch }) =>
        allSessionsEnded({ actor, userId }, { reason: 'operator' }, authEpoch + 1),
      );
      await this.events.record(tx, ...endings);
      return users.length;
    });
  }

  async revokeAllOfEveryUser(actor: Actor): Promise<number> {
    const now = Date.now();
    let ended = 0;
    for (let after = ''; ;) {
      const ids = await this.sessions.findSignedInAfter(after, now, USERS_AT_ONCE);
      if (ids.length === 0) return ended;
      const outcome = await this.revokeAllOfUsers(ids, actor);
      if (outcome.kind === 'done') ended += outcome.answer;
      after = ids.at(-1)!;
    }
  }

  /** Includes sessions that a restored database does not know: their tokens have later epochs. */
  async revokeAllAfterRestore(actor: Actor): Promise<number> {
    const ended = await this.revokeAllOfEveryUser(actor);
    for (let after = ''; ;) {
      const ids = await this.transactions.run({ principal: principalOf(actor) }, (tx) =>
        this.users.leapEpochs(tx, after, USERS_AT_ONCE),
      );
      if (ids.length === 0) return ended;
      after = ids.at(-1)!;
    }
  }

  // Another process may still be at a row that one pass finds, so two must find it; not its age, which is by the clock
  // of that process. The first pass continues with all rows, and two processes at one family do no harm.
  async resume(stopping?: AbortSignal): Promise<void> {
    const found = (await this.pending.findOldest()).filter(({ root }) => !this.running.has(root.id));
    const left = found.filter(({ root }) => !this.seen || this.seen.has(root.id));
    this.seen = new Set(found.map(({ root }) => root.id));
    await Promise.all(left.map(({ root, revocation }) => this.revokeFamily(root, revocation, stopping)));
  }

  private async markFamily(id: string, revocation: Revocation): Promise<void> {
    const root = await this.sessions.findRoot(id);
    const isMarked = root && (await this.revokeRows(root.userId, [root.id], revocation, root));
    if (!isMarked) return;
    this.revokeFamily(root, revocation).catch((error: unknown) => {
      const msg = 'the revocation of a session was interrupted; it will be resumed';
      this.logger.warn({ msg, err: error });
    });
  }

  private revokeFamily(root: FamilyRoot, revocation: Revocation, stopping?: AbortSignal): Promise<void> {
    const running = this.revokePages(root, revocation, stopping).finally(() => this.running.delete(root.id));
    this.running.set(root.id, running);
    return running;
  }

  // Pages bound each statement. Passes repeat until one finds nothing: a concurrent exchange may commit during a pass.
  private async revokePages(root: FamilyRoot, revocation: Revocation, stopping?: AbortSignal): Promise<void> {
    const { id, userId } = root;
    for (let after = ''; ;) {
      // SQLite answers within one turn of the event loop.
      await yieldToEventLoop();
      if (this.stopped || stopping?.aborted) return;
      const page = await this.sessions.findUnrevokedOf(root, after);
      if (page.length === 0 && after === '') break;
      if (page.length > 0) await this.revokeRows(userId, page, revocation);
      after = page.at(-1) ?? '';
    }
    await this.pending.delete(id);
  }
}

function wasAlive({ authEpoch, expiresAt }: UnrevokedSession, epoch: number): boolean {
  return authEpoch === epoch && expiresAt > Date.now() - LEEWAY_SECONDS * 1000;
}
