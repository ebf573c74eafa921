import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import type { Actor, OperatorActor } from '../../access/principal.js';
import { isUniqueViolation } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { PENDING_REVOCATIONS_KEY, PendingRevocation } from './session.entity.js';
import type { FamilyRoot } from './sessions.of-user.js';

const MAX_AT_ONCE = 100;

/** Operators end all sessions of a user, never one. */
export interface Revocation {
  actor: Exclude<Actor, OperatorActor>;
  reason: PendingRevocation['reason'];
}

type BegunRow = PendingRevocation & { branchId: string | null };

@Injectable()
export class PendingRevocationsRepository {
  constructor(@InjectRepository(PendingRevocation) private readonly pending: Repository<PendingRevocation>) {}

  async insert(
    tx: Transaction,
    { id: sessionId, userId }: FamilyRoot,
    { actor, reason }: Revocation,
  ): Promise<void> {
    const [actorId, actorSessionId] = actor.kind === 'user' ? [actor.id, actor.sessionId] : [null, null];
    const origin = { requestId: actor.requestId ?? null, ip: actor.address ?? null };
    const row = { sessionId, userId, since: Date.now(), reason, actorId, actorSessionId, ...origin };
    try {
      await tx.of(this.pending).insert(row);
    } catch (error) {
      if (!isUniqueViolation(error, PENDING_REVOCATIONS_KEY)) throw error;
    }
  }

  async delete(sessionId: string): Promise<void> {
    await this.pending.delete({ sessionId });
  }

  async deleteOfSessions(tx: Transaction, sessionIds: readonly string[]): Promise<void> {
    await tx.of(this.pending).delete({ sessionId: In(sessionIds) });
  }

  async findOldest(): Promise<{ root: FamilyRoot; revocation: Revocation }[]> {
    const rows = await this.pending.query<BegunRow[]>(
      `SELECT r.session_id AS sessionId, r.user_id AS userId, r.since, r.reason, r.actor_id AS actorId,
          r.actor_session_id AS actorSessionId, r.request_id AS requestId, r.ip, s.branch_id AS branchId
        FROM pending_revocations r LEFT JOIN sessions s ON s.id = r.session_id
        ORDER BY r.since LIMIT ${MAX_AT_ONCE}`,
    );
    return rows.map((row) => ({
      root: { id: row.sessionId, userId: row.userId, isLogin: row.branchId === null },
      revocation: { actor: actorOf(row), reason: row.reason },
    }));
  }
}

function actorOf({ actorId, actorSessionId, requestId, ip }: PendingRevocation): Revocation['actor'] {
  const origin = requestId !== null && ip !== null ? { requestId, address: ip } : undefined;
  if (actorId === null || actorSessionId === null || !origin) return { kind: 'system', ...origin };
  return { kind: 'user', id: actorId, sessionId: actorSessionId, isDelegated: false, ...origin };
}
