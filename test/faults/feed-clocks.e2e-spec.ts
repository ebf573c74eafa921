import { randomUUIDv7 } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { timeOfEntityId } from '../../src/identifiers/entity-id.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { aheadBy } from '../support/clock.js';
import { untilNumbered, writeEvents, type WrittenEvent } from '../support/feed.js';
import { anOrgWithTwoOwners, anUnknownId } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aServiceClient } from '../support/services.js';
import { faultsOfReaders } from './support/feed-faults.js';
import { FeedReader } from './support/feed-reader.js';
import { report } from './support/figures.js';
import { ENGINES, startInstances, stopAll, Storage, UNLIMITED } from './support/deployment.js';
import { Random, seedOfRun } from './support/random.js';

const TEN_MINUTES_MS = 600_000;
const CHANGES = 200;
const BACKLOG = 5000;
const SUBJECTS = 20;
const MAX_EVENTS_OF_CHANGE = 3;

let storage: Storage;
let instances: Instance[];

afterEach(async () => {
  await stopAll(instances);
  await storage.close();
});

describe('two instances whose clocks are twenty minutes apart', () => {
  it('give the changes of an organization in order to readers at both', async () => {
    storage = await Storage.on('mariadb');
    instances = await startInstances(
      storage.installation,
      [-TEN_MINUTES_MS, TEN_MINUTES_MS].map((ms) => Object.assign({ NODE_OPTIONS: aheadBy(ms) }, UNLIMITED)),
    );
    const [behind, ahead] = instances;
    const { name, authorization } = await aServiceClient(storage.installation.db, ['events']);
    const { org, owner, coOwner } = await anOrgWithTwoOwners(behind!);
    const readers = instances.map(({ url }) => new FeedReader(authorization, url));
    for (const reader of readers) reader.begin();

    const actors: string[] = [];
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const by = turn % 2 === 0 ? owner : coOwner.at(ahead!);
      const { status, text } = await by.patch(`/api/orgs/${org.id}`, { name: `Analytical Engines ${turn}` });
      expect(status, text).toBe(200);
      actors.push(by.id);
    }
    for (const reader of readers) await reader.end();

    const faults = await faultsOfReaders(storage.installation.db, name, readers);
    report({ faults: CHANGES, requests: CHANGES, acknowledged: CHANGES, wrong: faults.length, lost: 0 });
    expect(faults).toEqual([]);
    expect(readers[0]!.ids).toEqual(readers[1]!.ids);
    const renamed = readers[0]!.heard.filter(({ type }) => type === 'org.renamed');
    expect(renamed.map(({ actor }) => (actor as { id: string }).id)).toEqual(actors);
    // Or the clocks were one, and the test would hold by them.
    const [first, second] = renamed.map(({ id }) => timeOfEntityId(String(id)));
    expect(second! - first!).toBeGreaterThan(TEN_MINUTES_MS);
  });
});

describe.each(ENGINES)('a backlog of five thousand events, of clocks that differ, on %s', (engine) => {
  it('is numbered whole, and in the order of revisions', async () => {
    const random = new Random(seedOfRun(`a backlog on ${engine}`));
    storage = await Storage.on(engine);
    instances = [];
    const { db } = storage.installation;
    const migrating = await startOwnService({ installation: storage.installation });
    await migrating.stop();
    const { name, authorization } = await aServiceClient(db, ['events']);
    await writeEvents(db, aBacklog(random));

    instances = await startInstances(
      storage.installation,
      times(storage.isServer ? 2 : 1, () => UNLIMITED),
    );
    const readers = instances.map(({ url }) => new FeedReader(authorization, url));
    for (const reader of readers) reader.begin();
    await untilNumbered(db);
    for (const reader of readers) await reader.end();

    const faults = await faultsOfReaders(db, name, readers);
    report({ faults: 1, requests: readers[0]!.answers, wrong: faults.length, lost: 0 });
    expect(faults).toEqual([]);
    for (const { ids } of readers) expect(ids).toEqual(readers[0]!.ids);
    expect(readers[0]!.ids).toHaveLength(BACKLOG);
    // The first place has no event.
    expect(await db.query('SELECT MIN(seq) AS oldest, MAX(seq) AS newest FROM feed')).toEqual([
      { oldest: 1, newest: BACKLOG + 1 },
    ]);
    await waitFor('no event is marked any more', hangTimeoutMs(), async () => {
      const marked = await db.query('SELECT id FROM events WHERE pending = 1 LIMIT 1');
      return marked.length === 0;
    });
  });
});

/** Changes of organizations and accounts, each with the next revision and with ids by the clock of some instance. */
function aBacklog(random: Random): WrittenEvent[] {
  const subjects = times(SUBJECTS, (place) => ({ id: anUnknownId(), isOrg: place % 2 === 0, revision: 0 }));
  const events: WrittenEvent[] = [];
  for (let now = Date.now(); events.length < BACKLOG; now += 1) {
    const subject = random.pick(subjects);
    subject.revision += 1;
    const about = subject.isOrg
      ? { type: 'org.renamed', orgId: subject.id, orgRevision: subject.revision }
      : { type: 'account.disabled', userId: subject.id, userRevision: subject.revision };
    const clock = now + random.between(-TEN_MINUTES_MS, TEN_MINUTES_MS);
    const size = Math.min(random.between(1, MAX_EVENTS_OF_CHANGE), BACKLOG - events.length);
    events.push(...times(size, () => ({ ...about, id: anIdOf(clock) })));
  }
  return events;
}

function anIdOf(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${randomUUIDv7().slice(13)}`;
}
