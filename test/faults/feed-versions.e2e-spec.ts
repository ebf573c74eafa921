import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { migrateUntil } from '../support/data-source.js';
import { writeEvents, writeEventsIn } from '../support/feed.js';
import { holdInnodbRows } from '../support/held-rows.js';
import { anAccount, anOrgOf, anUnknownId, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { startInstances, stopAll } from './support/instance.js';
import { UNLIMITED } from './support/restartable-service.js';
import { Storage } from './support/storage.js';

const EVENTS = 200;
const PAUSE_MS = 5;
const CHANGES = 100;

let storage: Storage;
let instances: Instance[];
let billing: ServiceClient;

beforeEach(async () => {
  storage = await Storage.on('mariadb');
  await migrateUntil(storage.installation, 'Feed');
  billing = await aServiceClient(storage.installation.db, ['events']);
});
afterEach(async () => {
  await stopAll(instances);
  await storage.close();
});

const start = async (): Promise<Instance[]> =>
  (instances = await startInstances(storage.installation, [UNLIMITED, UNLIMITED]));
const aReader = (): FeedReader => new FeedReader(billing.authorization, ...instances.map(({ url }) => url));

it('an instance that does not know the feed writes on while the schema gets it, and is heard from some event on', async () => {
  const { db } = storage.installation;
  const orgId = anUnknownId();
  const written: string[] = [];
  const ended = new AbortController();
  const writing = (async () => {
    while (!ended.signal.aborted) {
      written.push(...(await writeEvents(db, [{ orgId, orgRevision: written.length + 1 }])));
      await sleep(PAUSE_MS);
    }
  })();
  await waitFor('events are recorded', hangTimeoutMs(), () => written.length >= EVENTS);
  await start();
  const atStart = written.length;
  const reader = aReader();
  reader.begin();
  await waitFor('more events are recorded', hangTimeoutMs(), () => written.length >= atStart + EVENTS);
  ended.abort();
  await writing;
  await reader.end();

  const unheard = written.slice(0, written.length - reader.heard.length);
  const faults = await faultsOfReaders(db, billing.name, [reader], unheard);
  report({
    faults: 1,
    requests: reader.answers,
    acknowledged: written.length,
    wrong: faults.length,
    lost: 0,
  });
  expect(faults).toEqual([]);
  expect(unheard.length).toBeLessThanOrEqual(atStart);
  expect(unheard.length).toBeGreaterThanOrEqual(EVENTS);
});

it('changes of an organization by an instance of either version, in turn, are heard in order', async () => {
  const { db } = storage.installation;
  const [here, there] = await start();
  const owner = await anAccount(here!);
  const org = await anOrgOf(owner);
  const reader = aReader();
  reader.begin();
  for (let turn = 0; turn < CHANGES; turn += 1) {
    if (turn % 2 === 0) {
      await renameAsBefore(org, turn + 2);
      continue;
    }
    const name = `Analytical Engines ${turn}`;
    const { status, text } = await owner.at(there!).patch(`/api/orgs/${org.id}`, { name });
    expect(status, text).toBe(200);
  }
  await reader.end();

  const faults = await faultsOfReaders(db, billing.name, [reader]);
  const heard = reader.heard.filter(({ type }) => type === 'org.renamed').length;
  report({
    faults: CHANGES,
    requests: CHANGES,
    acknowledged: CHANGES,
    wrong: faults.length,
    lost: CHANGES - heard,
  });
  expect(faults).toEqual([]);
  expect(heard).toBe(CHANGES);
});

async function renameAsBefore(org: Org, revision: number): Promise<void> {
  const { installation } = storage;
  const transaction = await holdInnodbRows(installation);
  await transaction.write('UPDATE orgs SET revision = ? WHERE id = ?', [revision, org.id]);
  await writeEventsIn(transaction, [{ orgId: org.id, orgRevision: revision }]);
  await transaction.commit();
}
