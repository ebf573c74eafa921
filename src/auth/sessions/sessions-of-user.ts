import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { type DeletedUser, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { SessionDeletion } from './session-deletion.js';
import { type HeldSession, UserSessionsRepository } from './user-sessions.repository.js';

const PAGE = 500;

@Injectable()
export class SessionsOfUser implements UserRows, OnModuleInit {
  readonly tables = ['sessions', 'authorization_codes', 'pending_revocations'];

  constructor(
    private readonly deletion: SessionDeletion,
    private readonly sessions: UserSessionsRepository,
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
    for (let after = ''; ;) {
      const page = await this.sessions.findPageOf(id, after, PAGE);
      yield* page.map(exported);
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }
}

function exported(session: HeldSession): object {
  const { id, parentId, authTime, createdAt, rotatedAt, expiresAt, revokedAt, ip, userAgent, deviceName } =
    session;
  return {
    id,
    via: parentId === null ? 'password' : 'code',
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
