import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEnv } from '../../src/config/load-env.js';
import { newEntityId } from '../../src/identifiers/entity-id.js';
import { CleanUpJobs } from '../../src/clean-up/clean-up-jobs.js';
import { DeletedOrgsRepository } from '../../src/orgs/state/deleted-orgs.repository.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { OrgListRepository } from '../../src/orgs/state/org-list.repository.js';
import { UnnamedDeletions } from '../../src/orgs/unnamed-deletions.js';
import { type DataLayer, openDataLayer } from '../support/data-source.js';

let data: DataLayer;

beforeAll(async () => {
  data = await openDataLayer();
});
afterAll(() => data.close());

it('an organization that an older version deletes is listed as deleted, once the clean-up has run', async () => {
  const orgs = data.dataSource.getRepository(Org);
  const env = parseEnv({});
  const jobs = new CleanUpJobs();
  const unnamed = new UnnamedDeletions(new DeletedOrgsRepository(orgs), env, jobs);
  const deletedAt = Date.now();
  const deletion = { deletedAt, purgeAt: deletedAt + env.orgRestoreWindow * 1000 };
  const names = ['Looms', 'Engines'].map((name) => ({ id: newEntityId(), name }));
  for (const org of names) await orgs.insert({ ...org, revision: 1, createdAt: 1, ...deletion });
  await orgs.insert({ id: newEntityId(), name: 'Kept', revision: 1, createdAt: 1 });
  const listed = () => new OrgListRepository(orgs).findDeleted({ prefix: '', after: undefined }, 10);

  expect(await listed()).toEqual([]);
  expect(await unnamed.nameBatch(deletedAt)).toEqual({ examined: 2, deleted: 0 });
  expect((await listed()).map(({ name }) => name)).toEqual(['Engines', 'Looms']);
  expect(await unnamed.nameBatch(deletedAt)).toEqual({ examined: 0, deleted: 0 });
});
