// As the clean-up of an instance: purges every organization whose time is over, and writes a dot after each batch.
import 'reflect-metadata';
import { SCHEMA } from '../../../dist/app/schema.js';
import { CleanUpJobs } from '../../../dist/auth/cleanup/clean-up-jobs.js';
import { openDatabase } from '../../../dist/cli/open-database.js';
import { loadEnv } from '../../../dist/config/load-env.js';
import { Transactions } from '../../../dist/database/transactions.js';
import { Event } from '../../../dist/events/event.entity.js';
import { EventsRepository } from '../../../dist/events/events.repository.js';
import { DeletedOrgsRepository } from '../../../dist/memberships/deleted-orgs.repository.js';
import { Org } from '../../../dist/memberships/org.entity.js';
import { OrgPurge } from '../../../dist/orgs/org-purge.js';

const dataSource = await openDatabase(loadEnv(), SCHEMA, 'command');
const purge = new OrgPurge(
  new DeletedOrgsRepository(dataSource.getRepository(Org)),
  new EventsRepository(dataSource.getRepository(Event)),
  new Transactions(dataSource),
  new CleanUpJobs(),
);
while ((await purge.purgeBatch(Date.now())).examined > 0) process.stdout.write('.');
await dataSource.destroy();
