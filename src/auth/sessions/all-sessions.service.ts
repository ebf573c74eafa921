import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { EventsRepository } from '../../events/events.repository.js';
import { allSessionsEnded } from '../../users/user-events.js';
import { requireUnprotected } from '../../users/operator-protection.js';
import { UserChangesRepository } from '../../users/user-changes.repository.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

/** Others write between two batches; logins of these users wait for one. */
const USERS_AT_ONCE = 100;

@Injectable()
export class AllSessionsService {
  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly users: UserChangesRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Returns false if there is no such user. @throws OperatorProtectedError */
  async endAllOf(userId: string, actor: Actor): Promise<boolean> {
    return (await this.end([userId], actor)) === 1;
  }

  /** Users who log in meanwhile stay logged in; after an interruption another run ends the rest. */
  async endAll(actor: Actor): Promise<number> {
    const now = Date.now();
    let ended = 0;
    for (let after = ''; ;) {
      const ids = await this.sessions.findSignedInAfter(after, now, USERS_AT_ONCE);
      if (ids.length === 0) return ended;
      ended += await this.end(ids, actor);
      after = ids.at(-1)!;
    }
  }

  /** Also those that a restored database does not know: tokens of them have later epochs than it has. */
  async endAllAfterRestore(actor: Actor): Promise<number> {
    const ended = await this.endAll(actor);
    for (let after = ''; ;) {
      const ids = await this.transactions.run((transaction) =>
        this.users.leapEpochs(transaction, after, USERS_AT_ONCE),
      );
      if (ids.length === 0) return ended;
      after = ids.at(-1)!;
    }
  }

  private end(ids: readonly string[], actor: Actor): Promise<number> {
    return this.transactions.run(async (transaction) => {
      const present = await this.users.endSessionsOf(transaction, ids);
      for (const { operatorSince } of present) requireUnprotected(actor, operatorSince);
      const endings = present.map(({ id: userId, authEpoch }) =>
        allSessionsEnded({ actor, userId }, { reason: 'operator' }, authEpoch),
      );
      await this.events.record(transaction, ...endings);
      return present.length;
    });
  }
}
