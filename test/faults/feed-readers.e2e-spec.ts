import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { timeOfEntityId } from '../../src/identifiers/entity-id.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { aheadBy } from '../support/clock.js';
import { cursorExpired, invalidRefreshToken, invalidToken } from '../support/expected.js';
import { readFeed, untilNumbered, writeEvents, writeEventsIn, type WrittenEvent } from '../support/feed.js';
import { holdInnodbRows } from '../support/held-rows.js';
import {
  type Account,
  anAccount,
  anOrgOf,
  anOrgWithTwoOwners,
  anUnknownId,
  type Org,
} from '../support/personas.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { idAt } from '../support/rows.js';
import type { Instance } from '../support/service.js';
import { aServiceCaller, aServiceClient } from '../support/services.js';
import { backUp } from '../support/backup.js';
import {
  closeAfterAll,
  closeAfterTest,
  countOf,
  ENGINES,
  startInstance,
  Storage,
  UNLIMITED,
} from './support/deployment.js';
import { faultsAtTheEnd, FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { GaleraService } from './support/galera-service.js';
import { Random, seedOfRun } from './support/random.js';

const TEN_MINUTES_MS = 600_000;

async function rename(owner: Account, org: Org, turn = 0): Promise<void> {
  const { status, text } = await owner.patch(`/api/orgs/${org.id}`, { name: `Analytical Engines ${turn}` });
  expect(status, text).toBe(200);
}

const renamedIn = ({ heard }: FeedReader) => heard.filter(({ type }) => type === 'org.renamed');

it('two instances whose clocks are twenty minutes apart give the changes of an organization in order to readers at both', async () => {
  const changes = 200;
  const { installation } = await closeAfterTest(Storage.on('mariadb'));
  const startAhead = (ms: number): Promise<Instance> =>
    closeAfterTest(startInstance(installation, { NODE_OPTIONS: aheadBy(ms), ...UNLIMITED }));
  const [behind, ahead] = [await startAhead(-TEN_MINUTES_MS), await startAhead(TEN_MINUTES_MS)];
  const client = await aServiceClient(installation.db, ['events']);
  const { org, owner, coOwner } = await anOrgWithTwoOwners(behind);
  const readers = [new FeedReader(client, behind), new FeedReader(client, ahead)] as const;

  const actors: string[] = [];
  for (let turn = 0; turn < changes; turn += 1) {
    const by = turn % 2 === 0 ? owner : coOwner.at(ahead);
    await rename(by, org, turn);
    actors.push(by.id);
  }

  const faults = await faultsAtTheEnd(installation.db, readers);
  report({ faults: changes, requests: changes, acknowledged: changes, wrong: faults.length, lost: 0 });
  expect(faults).toEqual([]);
  expect(readers[0].ids).toEqual(readers[1].ids);
  const renamed = renamedIn(readers[0]);
  expect(renamed.map(({ actor }) => (actor as { id: string }).id)).toEqual(actors);
  // Or the clocks were one, and the test would hold by them.
  const [first, second] = renamed.map(({ id }) => timeOfEntityId(String(id)));
  expect(second! - first!).toBeGreaterThan(TEN_MINUTES_MS);
});

describe.each(ENGINES)('on %s', (engine) => {
  it('a backlog of five thousand events, of clocks that differ, is numbered whole, and in the order of revisions', async () => {
    const backlog = 5000;
    const random = new Random(seedOfRun(`a backlog on ${engine}`));
    const { installation, isServer } = await closeAfterTest(Storage.on(engine));
    const { db } = installation;
    await (await startInstance(installation)).stop();
    const client = await aServiceClient(db, ['events']);
    await writeEvents(db, aBacklog(random, backlog));

    const instances = times(isServer ? 2 : 1, () => closeAfterTest(startInstance(installation, UNLIMITED)));
    const readers = (await Promise.all(instances)).map((instance) => new FeedReader(client, instance));
    await untilNumbered(db);

    const faults = await faultsAtTheEnd(db, readers);
    report({ faults: 1, requests: readers[0]!.answers, wrong: faults.length, lost: 0 });
    expect(faults).toEqual([]);
    for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
    expect(readers[0]!.ids).toHaveLength(backlog);
    // The first place has no event.
    const ends = await db.query('SELECT MIN(seq) AS oldest, MAX(seq) AS newest FROM feed');
    expect(ends).toEqual([{ oldest: 1, newest: backlog + 1 }]);
    const isNoneMarked = async () => (await countOf(db, 'events WHERE pending = 1')) === 0;
    await waitFor('no event is marked any more', hangTimeoutMs(), isNoneMarked);
  });

  it('a restored backup ends every login, refuses every cursor of before, and a reader that begins anew misses nothing', async () => {
    const changes = 20;
    const { installation } = await closeAfterTest(Storage.on(engine));
    let service = await startInstance(installation, UNLIMITED);
    await closeAfterTest({ close: () => service.stop() });
    const caller = await aServiceCaller(service, 'events');
    const reader = new FeedReader(caller.client, service);
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    const renameOften = async (by: Account): Promise<void> => {
      for (let turn = 0; turn < changes; turn += 1) await rename(by, org, turn);
    };
    const before = await aRefreshableLogin(service, owner);
    await renameOften(owner);
    await untilNumbered(installation.db);

    const restore = await backUp(installation);

    const unknown = await anAccount(service);
    const loggedOut = await aRefreshableLogin(service, owner);
    expect((await owner.as(loggedOut.token).post('/api/auth/logout')).status).toBe(200);
    await renameOften(owner);
    expect((await owner.delete('/api/me/sessions?all=true')).status).toBe(200);
    const after = await aRefreshableLogin(service, owner);
    await renameOften(owner.as(after.token));
    await reader.end();
    await service.stop();

    await restore();
    const command = ['after-restore', '--reason', 'restored a backup'];
    const [restarted] = await accountsJson<{ events: number }>(installation, command);
    expect(restarted!.events).toBeGreaterThan(changes);
    const known = (await installation.db.query('SELECT id FROM events')).map(({ id }) => String(id));
    service = await startInstance(installation, UNLIMITED);

    const wrong: string[] = [...reader.wrong];
    const here = caller.at(service);
    for (const cursor of reader.ids) {
      const { status, body } = await here.get<{ code?: string }>(`/api/events?after=${cursor}`);
      if (status !== cursorExpired.status) wrong.push(`${cursor}: ${status} ${body.code}`);
    }
    const logins = [before, loggedOut, after];
    const tokens = [owner, unknown, ...logins.map(({ token }) => owner.as(token))];
    for (const one of tokens) expect(await one.at(service).get('/api/me')).toMatchObject(invalidToken);
    for (const { refreshToken } of logins) {
      expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    }

    expect((await readFeed(here)).events).toEqual([]);
    const anew = new FeedReader(caller.client, service);
    const login = await aRefreshableLogin(service, owner);
    await renameOften(owner.at(service).as(login.token));
    wrong.push(...(await faultsAtTheEnd(installation.db, [anew], known)));
    const requests = reader.ids.length + tokens.length + 3;
    report({ faults: 1, requests, acknowledged: anew.heard.length, wrong: wrong.length, lost: 0 });
    expect(wrong).toEqual([]);
    expect(anew.heard.length).toBeGreaterThanOrEqual(changes);
  });
});

/** Changes of organizations and accounts, each with the next revision and with ids by the clock of some instance. */
function aBacklog(random: Random, size: number): WrittenEvent[] {
  const subjects = times(20, (place) => ({ id: anUnknownId(), isOrg: place % 2 === 0, revision: 0 }));
  const events: WrittenEvent[] = [];
  for (let now = Date.now(); events.length < size; now += 1) {
    const subject = random.pick(subjects);
    subject.revision += 1;
    const about = subject.isOrg
      ? { type: 'org.renamed', orgId: subject.id, orgRevision: subject.revision }
      : { type: 'account.disabled', userId: subject.id, userRevision: subject.revision };
    const clock = now + random.between(-TEN_MINUTES_MS, TEN_MINUTES_MS);
    const count = Math.min(random.between(1, 3), size - events.length);
    events.push(...times(count, () => ({ ...about, id: idAt(clock) })));
  }
  return events;
}

describe('two instances on one MariaDB', async () => {
  const { installation } = await closeAfterAll(Storage.on('mariadb'));
  const instances = [
    await closeAfterAll(startInstance(installation, UNLIMITED)),
    await closeAfterAll(startInstance(installation, UNLIMITED)),
  ];
  const on = (turn: number): Instance => instances[turn % 2]!;
  const billing = await aServiceCaller(on(0), 'events');
  const readersAtEach = () => instances.map((instance) => new FeedReader(billing.client, instance));

  it('give every reader a transaction held open over a thousand commits, neither missed nor put before what readers have', async () => {
    const [commits, writers] = [1000, 4];
    const ada = await anAccount(on(0));
    const org = await anOrgOf(ada);
    const owners = await Promise.all(times(writers, (place) => anAccount(on(place))));
    const orgs = await Promise.all(owners.map((owner) => anOrgOf(owner)));
    const readers = readersAtEach();

    const held = await holdInnodbRows(installation);
    const begun = performance.now();
    await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
    const [late] = await writeEventsIn(held, [{ orgId: org.id, orgRevision: 2 }]);
    const renameAll = async (owner: Account, place: number): Promise<void> => {
      for (let turn = 0; turn < commits / writers; turn += 1)
        await rename(owner.at(on(turn + place)), orgs[place]!, turn);
    };
    await Promise.all(owners.map(renameAll));
    await waitFor('each reader has every commit', hangTimeoutMs(), () =>
      readers.every((reader) => renamedIn(reader).length === commits),
    );
    const delivered = readers.map(({ ids }) => ids);
    await sleep(Math.max(0, 3000 - (performance.now() - begun)));
    // A change of the same organization waits for the transaction.
    const next = rename(ada, org);
    await held.untilOneWaits();
    await held.commit();
    await next;

    const all = [...readers, ...readersAtEach()];
    const faults = await faultsAtTheEnd(installation.db, all);
    report({ faults: 1, requests: commits + 1, acknowledged: commits + 1, wrong: faults.length, lost: 0 });
    expect(faults).toEqual([]);
    for (const reader of all) expect(reader.ids).toEqual(readers[0]!.ids);
    for (const ids of delivered) {
      expect(ids).not.toContain(late);
      expect(readers[0]!.ids.slice(0, ids.length)).toEqual(ids);
    }
  });

  it('each have on a page what the other has acknowledged before it was asked for', async () => {
    const pages = 100;
    const ada = await anAccount(on(0));
    const org = await anOrgOf(ada);
    let { next } = await readFeed(billing.at(on(1)));
    const missing: number[] = [];
    for (let turn = 0; turn < pages; turn += 1) {
      await rename(ada.at(on(turn)), org, turn);
      const found = await readFeed(billing.at(on(turn + 1)), { after: next, limit: 1000 });
      if (!found.events.some(({ orgId }) => orgId === org.id)) missing.push(turn);
      ({ next } = found);
    }
    const lost = missing.length;
    report({ faults: 0, requests: 2 * pages, acknowledged: pages, wrong: lost, lost });
    expect(missing).toEqual([]);
  });

  it('delete accounts at the first request while their events are numbered, and nothing is missing from the feed', () =>
    expectDeletions(installation, instances, async () => undefined));
});

it('two Galera nodes delete accounts at the first request while their events are numbered, and nothing is missing from the feed', async () => {
  const galera = await closeAfterTest(GaleraService.start({ nodes: 2, env: UNLIMITED }));
  await expectDeletions(galera.installation, galera.instances, () => galera.settle());
});

async function expectDeletions(
  { db }: Storage['installation'],
  instances: readonly Instance[],
  settle: () => Promise<void>,
): Promise<void> {
  const [batches, accountsEach, events] = [4, 6, 300];
  /** Longer than it takes until marks are cleared. */
  const spreadMs = 1800;
  const on = (turn: number): Instance => instances[turn % instances.length]!;
  const client = await aServiceClient(db, ['events']);
  await settle();
  const reader = new FeedReader(client, ...instances);
  const statuses: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const accounts = await Promise.all(times(accountsEach, (turn) => anAccount(on(turn))));
    await settle();
    for (const { id } of accounts) {
      const orgId = anUnknownId();
      const about = { type: 'member.role_changed', orgId, userId: id };
      await writeEvents(
        db,
        times(events, (place) => ({ ...about, orgRevision: place + 1 })),
      );
    }
    const deletions = accounts.map(async (account, turn) => {
      await sleep((turn * spreadMs) / accountsEach);
      return account.at(on(turn + 1)).delete('/api/me', { password: account.password });
    });
    statuses.push(...(await Promise.all(deletions)).map(({ status }) => status));
  }

  await reader.end();
  await settle();

  const refused = statuses.filter((status) => status !== 200);
  const faults = await faultsAtTheEnd(db, [reader]);
  const wrong = refused.length + faults.length;
  const { length: acknowledged } = reader.heard;
  report({ faults: batches, requests: statuses.length, acknowledged, wrong, lost: 0 });
  expect(refused).toEqual([]);
  expect(faults).toEqual([]);
  expect(await countOf(db, "events WHERE ip IS NOT NULL AND type = 'member.role_changed'")).toBe(0);
}
