/**
 * Runs by itself, beside the built service, as the clean-up of an instance: purges every organization whose time is
 * over, and writes a dot after each batch.
 */
import 'reflect-metadata';
import { builtModule } from './built-module.ts';

const { CleanUpJobs } = (await builtModule(
  'clean-up/clean-up-jobs.js',
)) as typeof import('../../../src/clean-up/clean-up-jobs.js');
const { openDatabase } = (await builtModule(
  'cli/command/database.js',
)) as typeof import('../../../src/cli/command/database.js');
const { loadEnv } = (await builtModule(
  'config/load-env.js',
)) as typeof import('../../../src/config/load-env.js');
const { Transactions } = (await builtModule(
  'database/transactions.js',
)) as typeof import('../../../src/database/transactions/transactions.js');
const { Event } = (await builtModule(
  'events/event.entity.js',
)) as typeof import('../../../src/events/event.entity.js');
const { EventsRepository } = (await builtModule(
  'events/events.repository.js',
)) as typeof import('../../../src/events/events.repository.js');
const { DeletedOrgsRepository } = (await builtModule(
  'orgs/deleted-orgs.repository.js',
)) as typeof import('../../../src/orgs/state/deleted-orgs.repository.js');
const { Org } = (await builtModule(
  'orgs/org.entity.js',
)) as typeof import('../../../src/orgs/state/org.entity.js');
const { OrgPurge } = (await builtModule(
  'orgs/org-purge.js',
)) as typeof import('../../../src/orgs/org-purge.js');

const dataSource = await openDatabase(loadEnv(), 'command');
const purge = new OrgPurge(
  new DeletedOrgsRepository(dataSource.getRepository(Org)),
  new EventsRepository(dataSource.getRepository(Event)),
  new Transactions(dataSource),
  new CleanUpJobs(),
);
while ((await purge.purgeBatch(Date.now())).examined > 0) process.stdout.write('.');
await dataSource.destroy();
