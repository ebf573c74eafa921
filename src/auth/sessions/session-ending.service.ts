import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../record/events.repository.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { AuthorizationCodesRepository } from '../codes/authorization-codes.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { EndedSessions } from './ended-sessions.js';
import { SessionRevocation } from './session-revocation.js';
import { SessionNotFoundError } from './sessions.errors.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

@Injectable()
export class SessionEndingService {
  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly users: UserChangesRepository,
    private readonly revocation: SessionRevocation,
    private readonly ended: EndedSessions,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  async endOne(actor: UserActor, id: string): Promise<void> {
    const session = await this.sessions.findAlive(actor.id, id);
    if (!session) throw new SessionNotFoundError();
    await this.revocation.revoke(session, { actor, reason: 'revoked' });
  }

  /** @throws InvalidTokenError when the acting session has ended meanwhile */
  async endAll(actor: UserActor, { exceptActing }: { exceptActing: boolean }): Promise<void> {
    const data = { reason: 'revoked', all: true, ...(exceptActing && { except: actor.sessionId }) };
    await this.transactions.run(
      async (transaction) => {
        if (!(await this.users.endSessions(transaction, actor.id))) throw new InvalidTokenError('user_gone');
        if (exceptActing) await this.keepActing(transaction, actor);
        await this.events.record(transaction, { type: 'session.ended', actor, userId: actor.id, data });
      },
      { principal: actor.id, row: actor.id },
    );
    this.ended.note(actor.id);
  }

  /** Takes the acting session into the epoch that the transaction has begun. Its codes are void, as all others are. */
  async keepActing(transaction: Transaction, { id, sessionId }: UserActor): Promise<void> {
    if (!(await this.sessions.keep(transaction, id, sessionId))) throw new InvalidTokenError('session_ended');
    await this.codes.deleteOfSessions(transaction, [sessionId]);
  }
}
