import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import type { Transaction } from '../../database/transaction.js';
import { PENDING_REVOCATIONS_KEY, PendingRevocation } from './pending-revocation.entity.js';
import type { RevocableSession, Revocation } from './revocation.js';

const BATCH = 10;

export interface BegunRevocation {
  session: RevocableSession;
  revocation: Revocation;
}

@Injectable()
export class PendingRevocationsRepository {
  constructor(@InjectRepository(PendingRevocation) private readonly pending: Repository<PendingRevocation>) {}

  async insert(
    transaction: Transaction,
    { id: sessionId, userId }: RevocableSession,
    revocation: Revocation,
  ): Promise<void> {
    const row = { sessionId, userId, since: Date.now(), ...columnsOf(revocation) };
    try {
      await transaction.of(this.pending).insert(row);
    } catch (error) {
      if (!isUniqueViolation(error, PENDING_REVOCATIONS_KEY)) throw error;
    }
  }

  async delete(sessionId: string): Promise<void> {
    await this.pending.delete({ sessionId });
  }

  async deleteOfSessions(transaction: Transaction, sessionIds: readonly string[]): Promise<void> {
    await transaction.of(this.pending).delete({ sessionId: In(sessionIds) });
  }

  async findBefore(since: number): Promise<BegunRevocation[]> {
    const rows = await this.pending.find({
      where: { since: LessThan(since) },
      order: { since: 'ASC' },
      take: BATCH,
    });
    return rows.map((row) => ({
      session: { id: row.sessionId, userId: row.userId },
      revocation: { actor: actorOf(row), reason: row.reason },
    }));
  }
}

function columnsOf({ actor, reason }: Revocation): Omit<PendingRevocation, 'sessionId' | 'userId' | 'since'> {
  return {
    reason,
    actorId: actor.kind === 'user' ? actor.id : null,
    actorSessionId: actor.kind === 'user' ? actor.sessionId : null,
    requestId: actor.requestId ?? null,
    ip: actor.address ?? null,
  };
}

function actorOf({ actorId, actorSessionId, requestId, ip }: PendingRevocation): Revocation['actor'] {
  const origin = requestId !== null && ip !== null ? { requestId, address: ip } : undefined;
  if (actorId === null || actorSessionId === null || !origin) return { kind: 'system', ...origin };
  return { kind: 'user', id: actorId, sessionId: actorSessionId, parentId: null, ...origin };
}
