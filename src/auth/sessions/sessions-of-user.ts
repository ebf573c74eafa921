import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, inBatches, MAX_ROWS_AT_ONCE } from '../../database/batches.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { EndedSessionsRepository, type RemovableSession } from './ended-sessions.repository.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import type { Event } from '../../events/event.entity.js';
import { EventsRepository } from '../../events/events.repository.js';
import { type DeletedUser, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { type HeldSession, UserSessionsRepository } from './user-sessions.repository.js';

/** Keep looks few: in each, MySQL passes over what was just deleted. */
const MAX_ENDED = 10_000;

/** Deletes what refers to sessions as well, instead of leaving it to cascades, which Galera does not certify. */
@Injectable()
export class SessionDeletion {
  constructor(
    private readonly sessions: EndedSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pending: PendingRevocationsRepository,
  ) {}

  /**
   * Keeps sessions that a code, or another session of their family, still names. Returns how many it deleted.
   *
   * @param candidates at most a batch
   */
  async deleteUnnamed(candidates: readonly RemovableSession[]): Promise<number> {
    if (candidates.length === 0) return 0;
    const kept = new Set(await this.sessions.findNamed(candidates.map(({ id }) => id)));
    for (const { id, loginId, branchId } of candidates) {
      if (kept.has(id) && loginId !== null && branchId !== null) kept.add(loginId).add(branchId);
    }
    const ids = candidates.map(({ id }) => id).filter((id) => !kept.has(id));
    if (ids.length > 0) await this.sessions.delete(ids);
    return ids.length;
  }

  /** Rests after each batch for as long as it took, to let others run. Keeps a session whose code can still be used. */
  async deleteEndedOf(userId: string): Promise<void> {
    for (;;) {
      const ended = await this.sessions.findEnded(userId, Date.now(), MAX_ENDED);
      let deleted = 0;
      for await (const batch of inBatches(newestFirst(ended), BATCH)) {
        const began = performance.now();
        deleted += await this.deleteUnnamed(batch);
        await sleep(performance.now() - began);
      }
      if (deleted === 0) return;
    }
  }

  /** The transaction must have written the user's row, so that no session can be added. */
  async deleteAllOf(transaction: Transaction, userId: string): Promise<void> {
    for (;;) {
      const ids = await this.sessions.findSomeOf(transaction, userId, MAX_ROWS_AT_ONCE);
      if (ids.length === 0) return;
      await this.codes.deleteOfSessions(transaction, ids);
      await this.pending.deleteOfSessions(transaction, ids);
      await this.sessions.deleteIn(transaction, ids);
      if (ids.length < MAX_ROWS_AT_ONCE) return;
      await yieldToEventLoop();
    }
  }
}

/** Ids are in the order of time, so delegated sessions come before their heads and logins. */
export function newestFirst<S extends RemovableSession>(sessions: readonly S[]): S[] {
  return sessions.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

const PAGE = 500;

@Injectable()
export class SessionsOfUser implements UserRows, OnModuleInit {
  readonly tables = ['sessions', 'authorization_codes', 'pending_revocations'];

  constructor(
    private readonly deletion: SessionDeletion,
    private readonly sessions: UserSessionsRepository,
    private readonly events: EventsRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.contendedRows.register('sessions', this);
    this.parts.exported.register('sessions', {
      tables: ['sessions'],
      of: (user) => this.listOf(user),
    });
  }

  prepareDeletion(userId: string): Promise<void> {
    return this.deletion.deleteEndedOf(userId);
  }

  delete(transaction: Transaction, { id }: DeletedUser): Promise<void> {
    return this.deletion.deleteAllOf(transaction, id);
  }

  private async *listOf({ id }: UserProfile): AsyncGenerator<object> {
    const ends = (await this.events.findEndsOfAll(id)).map(endOfAll);
    for (let after = ''; ;) {
      const page = await this.sessions.findPageOf(id, after, PAGE);
      yield* page.map((session) => exported(session, endedAt(session, ends)));
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }
}

/** When all sessions of an epoch below this one ended (epoch milliseconds). */
interface EndOfAll {
  epoch: number;
  at: number;
}

function endOfAll({ at, data }: Event): EndOfAll {
  // Only the oldest events have no epoch.
  const { epoch = 0 } = JSON.parse(data) as { epoch?: number };
  return { epoch, at };
}

/** If the event has been deleted by now, the last use of the session that is known. */
function endedAt(session: HeldSession, ends: readonly EndOfAll[]): number | null {
  const { revokedAt, isOfEndedEpoch, authEpoch, rotatedAt, createdAt } = session;
  if (revokedAt !== null || !isOfEndedEpoch) return revokedAt;
  return ends.find(({ epoch }) => epoch > authEpoch)?.at ?? rotatedAt ?? createdAt;
}

function exported(session: HeldSession, revokedAt: number | null): object {
  const { id, loginId, authTime, createdAt, rotatedAt, expiresAt, ip, userAgent, deviceName } = session;
  return {
    id,
    via: loginId === null ? 'password' : 'code',
    loggedInAt: new Date(authTime).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
    refreshedAt: timeOrNull(rotatedAt),
    expiresAt: new Date(expiresAt).toISOString(),
    revokedAt: timeOrNull(revokedAt),
    ip,
    userAgent,
    deviceName,
  };
}

function timeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
