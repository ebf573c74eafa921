/**
 * Runs by itself, beside the built service, as the clean-up of an instance: purges every organization whose time is
 * over, and writes a dot after each batch.
 */
import 'reflect-metadata';
import { builtModule } from './built-module.ts';

type Built<Module> = Promise<Module>;
const { openDatabase } = await (builtModule('cli/command/database.js') as Built<
  typeof import('../../../src/cli/command/database.js')
>);
const { loadEnv } = await (builtModule('config/env.js') as Built<
  typeof import('../../../src/config/env.js')
>);
const { Transactions } = await (builtModule('database/transactions/transactions.js') as Built<
  typeof import('../../../src/database/transactions/transactions.js')
>);
const { Event } = await (builtModule('events/event.entity.js') as Built<
  typeof import('../../../src/events/event.entity.js')
>);
const { EventsRepository } = await (builtModule('events/events.repository.js') as Built<
  typeof import('../../../src/events/events.repository.js')
>);
const { Invitation } = await (builtModule('orgs/state/org.entity.js') as Built<
  typeof import('../../../src/orgs/state/org.entity.js')
>);
const { InvitationsRepository } = await (builtModule('orgs/state/invitations.repository.js') as Built<
  typeof import('../../../src/orgs/state/invitations.repository.js')
>);
const { Member } = await (builtModule('orgs/state/org.entity.js') as Built<
  typeof import('../../../src/orgs/state/org.entity.js')
>);
const { MembersRepository } = await (builtModule('orgs/state/members.repository.js') as Built<
  typeof import('../../../src/orgs/state/members.repository.js')
>);
const { OrgChanges } = await (builtModule('orgs/state/org-changes.js') as Built<
  typeof import('../../../src/orgs/state/org-changes.js')
>);
const { Org } = await (builtModule('orgs/state/org.entity.js') as Built<
  typeof import('../../../src/orgs/state/org.entity.js')
>);
const { OrgsRepository } = await (builtModule('orgs/state/orgs.repository.js') as Built<
  typeof import('../../../src/orgs/state/orgs.repository.js')
>);
const { OrgPurge } = await (builtModule('orgs/orgs.service.js') as Built<
  typeof import('../../../src/orgs/orgs.service.js')
>);
const { IdempotencyKey } = await (builtModule('requests/idempotency-keys.repository.js') as Built<
  typeof import('../../../src/requests/idempotency-keys.repository.js')
>);
const { IdempotencyKeysRepository } = await (builtModule('requests/idempotency-keys.repository.js') as Built<
  typeof import('../../../src/requests/idempotency-keys.repository.js')
>);
const { Writes } = await (builtModule('requests/writes.js') as Built<
  typeof import('../../../src/requests/writes.js')
>);

const env = loadEnv();
const dataSource = await openDatabase(env, 'command');
const { UserChanges } = await (builtModule('users/user-changes.js') as Built<
  typeof import('../../../src/users/user-changes.js')
>);
const { UserUpdates } = await (builtModule('users/users.updates.js') as Built<
  typeof import('../../../src/users/users.updates.js')
>);

const transactions = new Transactions(dataSource);
const orgs = new OrgsRepository(dataSource.getRepository(Org));
const members = new MembersRepository(dataSource.getRepository(Member));
const invitations = new InvitationsRepository(dataSource.getRepository(Invitation), transactions);
const events = new EventsRepository(dataSource.getRepository(Event));
const keys = new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions);
const users = new UserChanges(new UserUpdates(), events, transactions);
const writes = new Writes(transactions, keys);
const changes = new OrgChanges(orgs, members, invitations, users, events, writes, transactions, env);
const purge = new OrgPurge(changes, orgs, members, invitations);
while ((await purge.purgeBatch(Date.now())).examined > 0) process.stdout.write('.');
await dataSource.destroy();
