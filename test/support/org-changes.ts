import { Event } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Invitation, Member, Org } from '../../src/orgs/state/org.entity.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { OrgChanges } from '../../src/orgs/state/org-changes.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { IdempotencyKey, IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { Writes } from '../../src/requests/writes.js';
import { UserChanges } from '../../src/users/user-changes.js';
import { UserUpdates } from '../../src/users/users.updates.js';
import type { DataLayer } from './data-source.js';

/** Changes of organizations without a service around them. */
export function orgChanges(
  { dataSource, transactions, env }: Pick<DataLayer, 'dataSource' | 'transactions' | 'env'>,
  members = new MembersRepository(dataSource.getRepository(Member)),
): OrgChanges {
  const keys = new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions);
  return new OrgChanges(
    new OrgsRepository(dataSource.getRepository(Org)),
    members,
    new InvitationsRepository(dataSource.getRepository(Invitation), transactions),
    userChanges({ dataSource, transactions }),
    new EventsRepository(dataSource.getRepository(Event)),
    new Writes(transactions, keys),
    transactions,
    env,
  );
}

export function userChanges({
  dataSource,
  transactions,
}: Pick<DataLayer, 'dataSource' | 'transactions'>): UserChanges {
  const events = new EventsRepository(dataSource.getRepository(Event));
  return new UserChanges(new UserUpdates(), events, transactions);
}
