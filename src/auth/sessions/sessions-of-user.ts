import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import type { Event } from '../../events/event.entity.js';
import { EventsRepository } from '../../events/events.repository.js';
import { type DeletedUser, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { SessionDeletion } from './session-deletion.js';
import { type HeldSession, UserSessionsRepository } from './sessions.of-user.js';

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
