import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { readFeed, writeEventsIn } from '../support/feed.js';
import { holdInnodbRows } from '../support/held-rows.js';
import { type Account, anAccount, anOrgOf, type Org } from '../support/personas.js';
import type { Instance } from '../support/service.js';
import { aServiceCaller, type ServiceCaller } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { startInstances, stopAll, Storage, UNLIMITED } from './support/deployment.js';

const COMMITS = 1000;
const WRITERS = 4;
const HELD_MS = 3000;
const PAGES = 100;

let storage: Storage;
let instances: Instance[];
let billing: ServiceCaller;

beforeAll(async () => {
  storage = await Storage.on('mariadb');
  instances = await startInstances(storage.installation, [UNLIMITED, UNLIMITED]);
  billing = await aServiceCaller(on(0), 'events');
});
afterAll(async () => {
  await stopAll(instances);
  await storage.close();
});

const on = (turn: number): Instance => instances[turn % instances.length]!;
const readersAtEach = (): FeedReader[] =>
  instances.map(({ url }) => new FeedReader(billing.client.authorization, url));

async function rename(owner: Account, org: Org, turn: number): Promise<void> {
  const name = `Analytical Engines ${turn}`;
  const { status, text } = await owner.at(on(turn)).patch(`/api/orgs/${org.id}`, { name });
  expect(status, text).toBe(200);
}

it('a transaction held open over a thousand commits is neither missed nor put before what readers have', async () => {
  const ada = await anAccount(on(0));
  const org = await anOrgOf(ada);
  const owners = await Promise.all(times(WRITERS, (place) => anAccount(on(place))));
  const orgs = await Promise.all(owners.map((owner) => anOrgOf(owner)));
  const readers = readersAtEach();
  for (const reader of readers) reader.begin();

  const held = await holdInnodbRows(storage.installation);
  const begun = performance.now();
  await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
  const [late] = await writeEventsIn(held, [{ orgId: org.id, orgRevision: 2 }]);

  await Promise.all(
    owners.map(async (owner, place) => {
      for (let turn = 0; turn < COMMITS / WRITERS; turn += 1) await rename(owner, orgs[place]!, turn + place);
    }),
  );
  const renamed = ({ heard }: FeedReader): number =>
    heard.filter(({ type }) => type === 'org.renamed').length;
  await waitFor('each reader has every commit', hangTimeoutMs(), () =>
    readers.every((reader) => renamed(reader) === COMMITS),
  );
  const delivered = readers.map(({ ids }) => ids);
  await sleep(Math.max(0, HELD_MS - (performance.now() - begun)));
  // A change of the same organization waits for the transaction.
  const next = rename(ada, org, 0);
  await held.untilOneWaits();
  await held.commit();
  await next;

  const all = [...readers, ...readersAtEach()];
  for (const reader of all) await reader.end();
  const faults = await faultsOfReaders(storage.installation.db, billing.name, all);
  report({ faults: 1, requests: COMMITS + 1, acknowledged: COMMITS + 1, wrong: faults.length, lost: 0 });
  expect(faults).toEqual([]);
  for (const reader of all) expect(reader.ids).toEqual(readers[0]!.ids);
  for (const ids of delivered) {
    expect(ids).not.toContain(late);
    expect(readers[0]!.ids.slice(0, ids.length)).toEqual(ids);
  }
});

it('a page at one instance has what another has acknowledged before it was asked for', async () => {
  const ada = await anAccount(on(0));
  const org = await anOrgOf(ada);
  let { next } = await readFeed(billing.at(on(1)));
  const missing: number[] = [];
  for (let turn = 0; turn < PAGES; turn += 1) {
    await rename(ada, org, turn);
    const found = await readFeed(billing.at(on(turn + 1)), { after: next, limit: 1000 });
    if (!found.events.some(({ orgId }) => orgId === org.id)) missing.push(turn);
    ({ next } = found);
  }
  report({
    faults: 0,
    requests: 2 * PAGES,
    acknowledged: PAGES,
    wrong: missing.length,
    lost: missing.length,
  });
  expect(missing).toEqual([]);
});
