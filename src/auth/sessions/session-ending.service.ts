import { Injectable } from '@nestjs/common';
import type { UserActor } from '../../access/actor.js';
import { Transactions } from '../../database/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { allSessionsEnded } from '../../users/user-events.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { InvalidTokenError } from '../tokens/tokens.errors.js';
import { EndedSessions } from './sessions-clean-up.js';
import { SessionOpening } from './session-opening.service.js';
import { SessionRevocation } from './session-revocation.js';
import { SessionNotFoundError } from './sessions.errors.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

@Injectable()
export class SessionEndingService {
  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly opening: SessionOpening,
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
    const end = { reason: 'revoked', except: exceptActing ? actor.sessionId : undefined } as const;
    await this.transactions.run(
      async (transaction) => {
        const epoch = await this.users.endSessions(transaction, actor.id);
        if (epoch === undefined) throw new InvalidTokenError('user_gone');
        if (exceptActing) await this.opening.keep(transaction, actor);
        const event = allSessionsEnded({ actor, userId: actor.id }, end, epoch);
        await this.events.record(transaction, event);
      },
      { principal: actor.id, row: actor.id },
    );
    this.ended.note(actor.id);
  }
}
